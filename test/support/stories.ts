/** Environments that play on at random, and all that can be seen of them. */
import { decodeSnapshot } from '../../src/snapshot/decode.js';
import type { SlotStarts, StartStates } from '../../src/validate/starts.js';
import type { ResetOptions, StepOptions, StepResult, VecEnvOptions } from '../../src/vec-env/options.js';
import type { VecEnv } from '../../src/vec-env.js';
import { NUM_STEPS, OBSERVATION, OBSERVATION_SIZE, PROFILE_NAMES } from '../../src/world/fields.js';
import { type Columns, expectEqual, rowsOf } from './bits.js';
import type { Random } from './random.js';
import { visible } from './unchanged.js';

export const LAYOUTS = ['row-major', 'column-major'] as const;
const PERSONS = ['sampled', 'discrete', ...PROFILE_NAMES];

/** What a step takes. */
export interface Move {
  readonly actions: Uint8Array;
  readonly options: StepOptions;
}

/** The slots 0 to n - 1. */
export const slots = (n: number): Uint32Array => Uint32Array.from({ length: n }, (_, i) => i);

/** Steps that each slot's episode has taken, as plain observations show it. */
export function stepsTaken({ observations, columnStride, rewards }: StepResult): number[] {
  const [first, apart] =
    columnStride === 0 ? [OBSERVATION.step, OBSERVATION_SIZE] : [OBSERVATION.step * columnStride, 1];
  return Array.from(rewards, (_, i) => observations[first + i * apart]);
}

/** Who has taken the last step and not begun anew. */
export const over = (result: StepResult): Uint8Array =>
  Uint8Array.from(stepsTaken(result), (steps) => Number(steps === NUM_STEPS));

export interface SlotReset extends ResetOptions {
  readonly seed: Uint32Array;
  readonly profiles: Float32Array | readonly string[];
  readonly graders: Float32Array;
}

/** As a caller gives it. */
const startOf = ({ early, late, returns, crashes, ...rest }: SlotStarts): StartStates => ({
  ...rest,
  ...(early && { early }),
  ...(late && { late }),
  ...(returns && { returns }),
  ...(crashes && { crashes }),
});

/** Any seeds (of a range), persons and graders, by slot; now and then later in the week. */
export function anyReset(
  random: Random,
  numEnvs: number,
  [low, size]: readonly [number, number] = [0, 2 ** 32],
): SlotReset {
  const { seeds, profiles, graders, start } = random.anyReset(numEnvs);
  const names = Array.from({ length: numEnvs }, () => random.pick(PERSONS));
  return {
    seed: seeds.map((seed) => low + (seed % size)),
    profiles: random.chance(0.3) ? profiles! : names,
    graders: graders!,
    ...(start && { start: startOf(start) }),
  };
}

/** The same for slots that were copied, with the week. */
export function resetOf({ seed, profiles, graders }: SlotReset, indices: ArrayLike<number>): SlotReset {
  const columns = { seed, graders, ...(profiles instanceof Float32Array ? { profiles } : {}) };
  const rows = rowsOf(columns, seed.length, indices) as unknown as SlotReset;
  if (profiles instanceof Float32Array) return rows;
  return { ...rows, profiles: Array.from(indices, (index) => profiles[index]) };
}

/** A step that the environment allows. @param finished u8 [numEnvs]: who must be left out unless autoreset sees to it. */
export function anyMove(random: Random, { numEnvs, metadata }: VecEnv, finished: Uint8Array): Move {
  const resets = metadata.autoresetMode === 'next-step';
  const { actions, beliefs, stepMask } = random.step(resets ? new Uint8Array(numEnvs) : finished, false);
  return { actions, options: { beliefs: beliefs ?? undefined, mask: stepMask ?? undefined } };
}

/** The same for slots that were copied: slot i does what slot indices[i] did. */
function moveOf({ actions, options: { beliefs, mask } }: Move, indices: ArrayLike<number>): Move {
  const columns: Columns = {
    actions,
    ...(beliefs === undefined ? {} : { beliefs: beliefs as Float32Array }),
    ...(mask === undefined ? {} : { mask: mask as Uint8Array }),
  };
  const { actions: taken, ...options } = rowsOf(columns, actions.length, indices);
  return { actions: taken as Uint8Array, options };
}

/** The slots go to stops of their own, then take some steps together, in which some may end and begin anew. */
export function wander(
  random: Random,
  env: VecEnv,
  reset: ResetOptions = anyReset(random, env.numEnvs),
): StepResult {
  env.reset(reset);
  let result: StepResult = env.run(random.pick(['random', 'heuristic']), {
    stops: random.stops(env.numEnvs),
  });
  for (let t = random.integer(0, 5); t > 0; t--) {
    const { actions, options } = anyMove(random, env, over(result));
    result = env.step(actions, options);
  }
  return result;
}

/** Options that change no result. */
export const anyOptions = (random: Random): Partial<VecEnvOptions> => ({
  layout: random.pick(LAYOUTS),
  threads: random.pick([1, 2]),
  copy: random.chance(0.2),
});

/** Slots to copy, of `from`: in another order, in groups of 16, all the same, or any. */
export function anyIndices(random: Random, from: number, to: number): Uint32Array {
  const any = Uint32Array.from({ length: to }, () => random.integer(0, from - 1));
  const kind = random.pick(['permutation', 'groups', 'one', 'mixed']);
  if (kind === 'permutation' && from === to) return random.permutation(from);
  if (kind === 'groups') return any.map((_, i) => any[i - (i % 16)]);
  if (kind === 'one') return any.fill(any[0]);
  // Groups that begin anywhere, and slots between them.
  return any.map((_, i) => any[i % 40 < 23 ? i - (i % 40) : i]);
}

/** All that can be seen of an environment's slots, with the words of their states unless `words` is false. */
export function seen(env: VecEnv, result: StepResult, words = true): Columns {
  // What slots are; the counters are the environment's, whatever its slots were copied from.
  const { counters: _, ...ofSlots } = visible(env, result);
  return { ...ofSlots, ...(words ? { words: wordsOf(env) } : {}) };
}

/** u32 [numEnvs, STATE_WORDS]. */
export const wordsOf = (env: VecEnv): Uint32Array => decodeSnapshot(env.snapshot()).words;

/** All but what is true of one call alone: which episodes it ended, and how. A copy has the rest of its original. */
export const copied = ({ finalMask: _, finalObservations: __, ...rest }: Columns): Columns => rest;

/** What an environment shows now, without a call that changes it. */
export const look = (env: VecEnv): StepResult => env.assign(env, slots(env.numEnvs));

/** Plays both on with the same moves, slot i of the second as slot indices[i] of the first, and expects the same. */
export function expectAlike(
  random: Random,
  [one, first]: readonly [VecEnv, StepResult],
  [other, second]: readonly [VecEnv, StepResult],
  steps: number,
  indices: ArrayLike<number> = slots(one.numEnvs),
): void {
  let [a, b] = [first, second];
  for (let t = 0; t < steps; t++) {
    const move = anyMove(random, one, over(a));
    const same = moveOf(move, indices);
    a = one.step(move.actions, move.options);
    b = other.step(same.actions, same.options);
    expectEqual(rowsOf(seen(one, a), one.numEnvs, indices), seen(other, b), `step ${t}:`);
  }
}
