/** Every state that play leads to is legal, on every engine and in any world. */
import { describe, expect, it } from 'vitest';
import { checkStates } from '../src/snapshot/legal.js';
import { toGraders, toProfiles } from '../src/validate/persons.js';
import { NUM_STEPS, STATE } from '../src/world/fields.js';
import { RHYTHM } from '../src/world/spec.js';
import { createWorld, type World } from '../src/world/world.js';
import { ENGINES } from './support/engines.js';
import { forAll, Random } from './support/random.js';
import { openBatch, WORLD } from './support/seam.js';
import { cleanReset } from './support/snapshots.js';
import { changedWorld } from './support/worlds.js';

describe.each(ENGINES)('states of $name are legal', (engine) => {
  it.each(['the published world', 'changed worlds'])('at every step, in %s', (which) => {
    forAll(25, (random) => {
      const world = which === 'changed worlds' ? createWorld(changedWorld(random)) : WORLD;
      const n = random.pick([1, 17, 40]);
      const { batch, outputs } = openBatch(engine, n, { world });
      batch.reset(cleanReset(random, n, world));
      checkStates(batch.save(), n, world);
      for (let t = 0; t < NUM_STEPS; t++) {
        expect(batch.submit(random.step(outputs.terminated))).toBeNull();
        checkStates(batch.save(), n, world);
      }
      batch.close();
    });
  });

  it.each(['sampled', 'discrete', 'workaholic_stoic'])('after whole runs of %s persons', (profiles) => {
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
  });
});

/** The states that a reset of eight slots begins with. */
function begun(world: World, modes: Uint8Array, graders: Float32Array, profiles: Float32Array | null = null) {
  const { batch } = openBatch(ENGINES[0], 8, { world });
  batch.reset({ mask: null, seeds: new Random('begun').seeds(8), modes, profiles, graders });
  return batch.save();
}

describe('legal, though at the edge:', () => {
  const v2 = toGraders(WORLD, 'v2', 8);
  const sampled = toProfiles(WORLD, 'sampled', 8).modes;

  it('traits smaller than any number of the world, where their range is that small', () => {
    const spec = structuredClone(RHYTHM);
    for (const trait of spec.traits) Object.assign(trait, { low: 0, high: 2 ** -40 });
    const world = createWorld(spec);
    const words = begun(world, sampled, v2);
    const traits = new Float32Array(words.buffer).subarray(STATE.profile, STATE.profile + 11);
    expect(Math.max(...traits)).toBeLessThan(2 ** -40);
    expect(Math.max(...traits)).toBeGreaterThan(0);
    checkStates(words, 8, world);
  });

  it('persons at the bounds of the domain, zeros of either sign among them', () => {
    const floats = Float32Array.from(
      { length: 8 * 16 },
      (_, k) => [2 ** 20, -(2 ** 20), 2 ** -40, -0][k % 4],
    );
    const { modes, floats: clean } = toProfiles(WORLD, floats, 8);
    checkStates(begun(WORLD, modes, v2, clean), 8, WORLD);
  });

  it('weights that summed to 1 before they were float32s', () => {
    const graders = toGraders(WORLD, [700_000.3, -699_999.35, 0.03, 0.02, -0, 0], 8);
    expect(Math.abs(graders.subarray(0, 6).reduce((sum, weight) => sum + weight, 0) - 1)).toBeGreaterThan(
      1e-3,
    );
    checkStates(begun(WORLD, sampled, graders), 8, WORLD);
  });
});
