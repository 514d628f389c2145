/** checkStates accepts every reachable state. checkCompatible accepts only environments like the snapshot's. */
import { describe, expect, it } from 'vitest';
import { checkCompatible } from '../../../src/engine/snapshot/compatible.js';
import type { Snapshot } from '../../../src/engine/snapshot/format.js';
import { checkStates } from '../../../src/engine/snapshot/legal-states.js';
import { toGraders, toProfiles } from '../../../src/engine/validate/profiles.js';
import { NUM_COMPONENTS, NUM_STEPS, STATE } from '../../../src/world/fields.js';
import { RHYTHM } from '../../../src/world/numbers.js';
import { createWorld, type World } from '../../../src/world/world.js';
import { ENGINES } from '../../support/engines.js';
import { openBatch, WORLD } from '../../support/open-batch.js';
import { forAll, Random } from '../../support/random.js';
import { expectRefusal } from '../../support/refusals.js';
import { advancedBatch, snapshotOf, validReset } from '../../support/snapshots.js';
import { changedWorld } from '../../support/worlds.js';

describe.each(ENGINES)('checkStates accepts states of $name', (engine) => {
  it.each(['the published world', 'changed worlds'])('at every step, in %s', (which) => {
    forAll(25, (random) => {
      const world = which === 'changed worlds' ? createWorld(changedWorld(random)) : WORLD;
      const n = random.pick([1, 17, 40]);
      const { batch, outputs } = openBatch(engine, n, { world });
      batch.reset(validReset(random, n, world));
      checkStates(batch.save(), n, world);
      for (let t = 0; t < NUM_STEPS; t++) {
        expect(batch.submit(random.step(outputs.terminated))).toBeNull();
        checkStates(batch.save(), n, world);
      }
      batch.close();
    });
  });

  it.each(['sampled', 'discrete', 'workaholic_stoic'])(
    'after runs of %s profiles to any step',
    (profiles) => {
      const n = 20;
      const { modes, floats } = toProfiles(WORLD, profiles, n);
      const graders = toGraders(WORLD, 'v1', n);
      for (const kind of ['heuristic', 'random'] as const) {
        const { batch } = openBatch(engine, n);
        batch.reset({ mask: null, seeds: new Random(kind).seeds(n), modes, profiles: floats, graders });
        for (let stop = 0; stop <= NUM_STEPS; stop++) {
          const stops = new Uint8Array(n).fill(stop);
          batch.run({ policy: { kind, policySeeds: null }, beliefs: null, stops, trajectory: null });
          checkStates(batch.save(), n, WORLD);
        }
        batch.close();
      }
    },
  );
});

/** Returns the states of eight environments after a reset. */
function statesAfterReset(
  world: World,
  modes: Uint8Array,
  graders: Float32Array,
  profiles: Float32Array | null = null,
) {
  const { batch } = openBatch(ENGINES[0], 8, { world });
  batch.reset({ mask: null, seeds: new Random('begun').seeds(8), modes, profiles, graders });
  return batch.save();
}

describe('checkStates accepts', () => {
  const v2 = toGraders(WORLD, 'v2', 8);
  const sampled = toProfiles(WORLD, 'sampled', 8).modes;

  it("traits below 2^-40, the smallest magnitude of a world's numbers, if the traits' range is narrow", () => {
    const spec = structuredClone(RHYTHM);
    for (const trait of spec.traits) Object.assign(trait, { low: 0, high: 2 ** -40 });
    const world = createWorld(spec);
    const words = statesAfterReset(world, sampled, v2);
    const traits = new Float32Array(words.buffer).subarray(STATE.profile, STATE.profile + 11);
    expect(Math.max(...traits)).toBeLessThan(2 ** -40);
    expect(Math.max(...traits)).toBeGreaterThan(0);
    checkStates(words, 8, world);
  });

  it('profiles with the largest and the smallest magnitudes, and with -0', () => {
    const floats = Float32Array.from(
      { length: 8 * 16 },
      (_, k) => [2 ** 20, -(2 ** 20), 2 ** -40, -0][k % 4],
    );
    const { modes, floats: clean } = toProfiles(WORLD, floats, 8);
    checkStates(statesAfterReset(WORLD, modes, v2, clean), 8, WORLD);
  });

  it('weights that summed to 1 before they were rounded to float32', () => {
    const graders = toGraders(WORLD, [700_000.3, -699_999.35, 0.03, 0.02, -0, 0], 8);
    expect(
      Math.abs(graders.subarray(0, NUM_COMPONENTS).reduce((sum, weight) => sum + weight, 0) - 1),
    ).toBeGreaterThan(1e-3);
    checkStates(statesAfterReset(WORLD, sampled, graders), 8, WORLD);
  });
});

describe('checkCompatible', () => {
  const random = new Random('fit');
  const snapshot: Snapshot = {
    ...snapshotOf(random, advancedBatch(random, ENGINES[0], 3).batch.save(), 3),
    autoreset: 'same-step',
    imagination: false,
  };
  const { seedRange } = snapshot;
  const target = { world: WORLD, numEnvs: 3, autoreset: 'same-step', imagination: false, seedRange } as const;

  it("accepts an environment like the snapshot's", () => checkCompatible(snapshot, target));

  it('refuses any other environment', () => {
    const other = createWorld({ ...structuredClone(RHYTHM), beliefGain: 1 });
    const refuse = (change: object, ...mentions: string[]) =>
      expectRefusal(() => checkCompatible(snapshot, { ...target, ...change }), 'bad_snapshot', ...mentions);
    refuse(
      { world: other },
      other.digest,
      `got one of ${WORLD.digest}. Create an environment with the snapshot's world.`,
    );
    refuse({ numEnvs: 4 }, "a snapshot with numEnvs 4 (this environment's), got 3.", '{ numEnvs: 3 }');
    refuse({ imagination: true }, 'imagination true', 'got false', '{ imagination: false }');
    refuse(
      { autoreset: 'disabled' },
      'autoreset "disabled"',
      'got "same-step"',
      '{ autoreset: "same-step" }',
    );
    refuse({ seedRange: [0, 9] }, 'seedRange [0,9]', `{ seedRange: [${seedRange}] }`);
  });
});
