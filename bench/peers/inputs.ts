/** The inputs of the peers (players.ts): batches of any size, and golden episodes with their expected outputs. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sampleProfile } from '../../dist/engine/reference/profile.js';
import * as fields from '../../dist/world/fields.js';
import { resolveGrader } from '../../dist/world/resolve-names.js';
import { episodes } from '../../test/support/golden.js';
import { randomActions, seedsOf, WORLD } from '../episodes.js';

const { ACTION_NAMES, EVENT_NAMES, NUM_COMPONENTS, NUM_SLOTS, NUM_STEPS, PROFILE_SIZE } = fields;

/** A batch of episodes without beliefs. */
export interface Input {
  /** u32 [episodes]. */
  readonly seeds: Uint32Array;
  /** f32 [episodes, 16]: traits, then weights. */
  readonly profiles: Float32Array;
  /** f32 [episodes, 8]. */
  readonly graders: Float32Array;
  /**
   * u8 [sets, 28, episodes]. A set has the actions of a batch. Each batch that is played takes the next set. If all took the
   * same set, the processor would learn to predict the branches of a player that steps one episode at a time.
   */
  readonly actions: Uint8Array;
}

const gradersOf = (names: readonly string[]): Float32Array =>
  Float32Array.from(names.flatMap((name) => Array.from(resolveGrader(WORLD, name))));

/** The maximum number of different profiles. Chosen by hand: drawing a million would take longer than playing them. */
const PROFILES = 4096;
/**
 * The maximum number of action sequences in all sets together. A batch of more episodes gets a single set. Chosen by hand: more
 * sequences take more memory.
 */
const ACTION_ROWS = 2 ** 17;

/** Returns a batch with sampled profiles, which repeat after PROFILES, and grader v2. */
export function inputOf(size: number): Input {
  const profiles = new Float32Array(size * PROFILE_SIZE);
  const drawn = Math.min(size, PROFILES);
  seedsOf(drawn).forEach((seed, i) => {
    sampleProfile(WORLD.params, seed, profiles.subarray(i * PROFILE_SIZE, (i + 1) * PROFILE_SIZE));
  });
  for (let i = drawn; i < size; i += drawn) profiles.copyWithin(i * PROFILE_SIZE, 0, drawn * PROFILE_SIZE);
  const grader = gradersOf(['v2']);
  const graders = Float32Array.from({ length: size * NUM_COMPONENTS }, (_, k) => grader[k % NUM_COMPONENTS]);
  const sets = Math.max(1, Math.floor(ACTION_ROWS / size));
  return { seeds: seedsOf(size), profiles, graders, actions: randomActions(sets * NUM_STEPS * size) };
}

/** The golden episodes that peers can play: those without imagination and without beliefs. */
const GOLDEN = episodes.filter(
  ({ imagination, steps }) => !imagination && steps.every(({ belief }) => belief === null),
);
const STEPS = Array.from({ length: NUM_STEPS }, (_, t) => t);

/** The batch of golden episodes. */
export const goldenInput = (): Input => ({
  seeds: Uint32Array.from(GOLDEN, ({ seed }) => seed),
  profiles: Float32Array.from(
    GOLDEN.flatMap(({ traits, weights }) => [...Object.values(traits), ...Object.values(weights)]),
  ),
  graders: gradersOf(GOLDEN.map(({ grader }) => grader)),
  actions: Uint8Array.from(
    STEPS.flatMap((t) => GOLDEN.map(({ steps }) => ACTION_NAMES.indexOf(steps[t].action))),
  ),
});

/**
 * Returns the outputs of the golden episodes, f32: the observations after each step [28, episodes, 22], the 22 numbers of
 * docs/world.md, "What an agent sees"; then the scores [episodes].
 */
export const goldenOutputs = (): Float32Array =>
  Float32Array.from([
    ...STEPS.flatMap((t) =>
      GOLDEN.flatMap(({ steps }) => {
        const { meters, event, action, reward, delta, anomaly } = steps[t];
        const taken = t + 1;
        const time = [taken, Math.floor(taken / NUM_SLOTS), taken % NUM_SLOTS, NUM_STEPS - taken];
        const last = [event === null ? -1 : EVENT_NAMES.indexOf(event), ACTION_NAMES.indexOf(action), reward];
        return [...time, ...meters, ...last, ...delta, ...anomaly];
      }),
    ),
    ...GOLDEN.map(({ final }) => final.final_score),
  ]);

/** Writes an input to a temporary folder, one file for each array. Removes the folder when the work with it is done. */
export async function inFolder<T>(input: Input, work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'rhythm-peers-'));
  try {
    for (const [name, array] of Object.entries(input) as [string, Uint8Array][]) {
      writeFileSync(join(folder, name), array);
    }
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
