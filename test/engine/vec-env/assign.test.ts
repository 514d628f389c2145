/**
 * `assign`, and `run` from another environment's episodes: copies from an environment with the same backend and any other
 * options. Refused calls of `assign`, `fork` and `run` change neither the source nor the target.
 */
import { describe, expect, it } from 'vitest';
import type { VecEnv } from '../../../src/engine/node.js';
import { AUTORESET_MODES } from '../../../src/engine/vec-env/autoreset.js';
import { LAYOUTS, type StepResult, type VecEnvOptions } from '../../../src/engine/vec-env/vec-env-options.js';
import type { ErrorCode } from '../../../src/shared/errors.js';
import { NUM_ACTIONS, NUM_STEPS } from '../../../src/world/fields.js';
import { RHYTHM } from '../../../src/world/numbers.js';
import { expectEqual, rowsOf } from '../../support/bits.js';
import {
  advanceRandomly,
  currentOutputs,
  envIndices,
  episodeColumns,
  expectSameResults,
  randomIndices,
  randomOptions,
  withoutFinal,
} from '../../support/call-sequences.js';
import { NATIVE, openOn, reportAbsentEngines, TWO_ENGINES } from '../../support/engines.js';
import { forAll, type Random } from '../../support/random.js';
import { expectRefusal } from '../../support/refusals.js';
import { expectUnchanged } from '../../support/unchanged.js';

/** Numbers of environments around 16, a tile: kernels store the states of a tile together. */
const SIZES = [1, 16, 17, 40];

/** Assigns, and expects equal episodes in the target, an unchanged source and no final outputs. */
function expectAssigned(
  [source, result]: readonly [VecEnv, StepResult],
  target: VecEnv,
  indices: Uint32Array,
): StepResult {
  const before = episodeColumns(source, result);
  const assigned = target.assign(source, indices);
  if (source !== target) expectEqual(before, episodeColumns(source, result), 'the source:');
  expectEqual(
    withoutFinal(rowsOf(before, source.numEnvs, indices)),
    withoutFinal(episodeColumns(target, assigned)),
    'the target:',
  );
  expect([...assigned.finalMask].some(Boolean)).toBe(false);
  expect(assigned.finalObservations?.some(Boolean) ?? false).toBe(false);
  return assigned;
}

reportAbsentEngines();

describe.each(TWO_ENGINES)('$name', (engine) => {
  const open = (random: Random, options: Partial<VecEnvOptions> = {}) =>
    openOn(engine, { numEnvs: random.pick(SIZES), ...randomOptions(random), ...options });
  /** Opens an environment on this engine, or on any kernel if this engine is one. */
  const openSource = (random: Random, options: Partial<VecEnvOptions> = {}) => {
    const from = engine.backend === 'native' && random.chance(0.5) ? random.pick(NATIVE) : engine;
    return openOn(from, { numEnvs: random.pick(SIZES), ...randomOptions(random), ...options });
  };

  it('assign copies from any environment to any other, even before the first reset of the target', () => {
    forAll(25, (random) => {
      const source = openSource(random, { autoreset: random.pick(AUTORESET_MODES) });
      const target = open(random, { autoreset: random.pick(AUTORESET_MODES) });
      const result = advanceRandomly(random, source);
      if (random.chance(0.5)) advanceRandomly(random, target);
      expectAssigned([source, result], target, randomIndices(random, source.numEnvs, target.numEnvs));
    });
  });

  it('copies continue like their originals', () => {
    forAll(15, (random) => {
      const [source, target] = [openSource(random), open(random)];
      const result = advanceRandomly(random, source);
      if (random.chance(0.5)) advanceRandomly(random, target);
      const indices = randomIndices(random, source.numEnvs, target.numEnvs);
      const assigned = expectAssigned([source, result], target, indices);
      expectSameResults(random, [source, result], [target, assigned], NUM_STEPS, indices);
    });
  });

  it.each(AUTORESET_MODES)('assign copies within one environment, autoreset %s', (autoreset) => {
    forAll(10, (random) => {
      const env = open(random, { autoreset });
      const control = openOn(engine, { numEnvs: env.numEnvs, autoreset });
      const result = advanceRandomly(random, env);
      const indices = randomIndices(random, env.numEnvs, env.numEnvs);
      const expected = control.assign(env, indices);
      const assigned = expectAssigned([env, result], env, indices);
      expectSameResults(random, [control, expected], [env, assigned], 60);
    });
  });

  it('assign can exchange two histories of different lengths', () => {
    using env = openOn(engine, { numEnvs: 2, observation: { history: true } });
    env.reset({ seed: 1 });
    const { observations } = env.run('random', { stops: [3, 5] });
    const half = observations.length / 2;
    const exchanged = [...observations.slice(half), ...observations.slice(0, half)];
    expect([...env.assign(env, [1, 0]).observations]).toEqual(exchanged);
  });

  it('copies follow the autoreset mode of the target', () => {
    forAll(10, (random) => {
      const [from, to] = [random.pick(AUTORESET_MODES), random.pick(['same-step', 'next-step'] as const)];
      const numEnvs = random.pick(SIZES);
      const source = openOn(engine, { numEnvs, autoreset: from });
      const target = open(random, { numEnvs, autoreset: to });
      const result = advanceRandomly(random, source);
      advanceRandomly(random, target);
      const assigned = expectAssigned([source, result], target, envIndices(numEnvs));
      // Compares with an environment that always had this mode.
      const fork = source.fork(envIndices(numEnvs), { autoreset: to });
      expectSameResults(random, [fork, currentOutputs(fork)], [target, assigned], 60);
    });
  });

  it('assign keeps the counters of the target, and copies episode numbers', () => {
    const [source, target] = [1, 2].map((numEnvs) => openOn(engine, { numEnvs, autoreset: 'same-step' }));
    source.reset({ seed: 5 });
    for (let t = 0; t < 2 * NUM_STEPS + 3; t++) source.step([t % 10]);
    target.reset({ seed: 6 });
    target.step([1, 2]);
    target.assign(source, [0, 0]);
    expect(target.counters).toEqual({ steps: 2, episodes: 0 });
    expect([...target.episodeNumbers]).toEqual([2, 2]);
    target.run('random');
    expect(target.counters).toEqual({ steps: 2 + 2 * (NUM_STEPS - 3), episodes: 2 });
    expect(source.counters).toEqual({ steps: 2 * NUM_STEPS + 3, episodes: 2 });
  });

  it('run({ from }) gives the results of assign followed by run', () => {
    forAll(60, (random) => {
      const source = open(random, { autoreset: 'same-step' });
      const options = { numEnvs: random.pick([1, 16, 33]), ...randomOptions(random) };
      const [one, other] = [openOn(engine, options), openOn(engine, options)];
      const before = advanceRandomly(random, source);
      const states = episodeColumns(source, before);
      const indices = randomIndices(random, source.numEnvs, one.numEnvs);
      const stops = random.chance(0.5) ? random.bytes(one.numEnvs, 0, NUM_STEPS) : undefined;
      const sequence = random.bytes(one.numEnvs * NUM_STEPS, 0, NUM_ACTIONS - 1);
      const choice = random.pick(['random', 'heuristic', sequence] as const);
      const trajectory = random.pick([false, true, ['meters'] as const, ['actions', 'rewards'] as const]);
      const layout = random.pick(LAYOUTS);
      const onProgress = random.chance(0.3) ? () => {} : undefined;
      // Earlier episodes of the target do not change the results.
      for (const env of [one, other]) if (random.chance(0.5)) env.reset({ seed: 3 });
      one.assign(source, indices);
      const expected = one.run(choice, { stops, trajectory, layout });
      const got = other.run(choice, { stops, trajectory, layout, onProgress, from: { source, indices } });
      expectEqual(episodeColumns(one, expected), episodeColumns(other, got));
      expect(got.trajectory).toEqual(expected.trajectory);
      expectEqual(states, episodeColumns(source, before), 'the source:');
    });
  });
});

const N = 4;
// biome-ignore lint/suspicious/noExplicitAny: cases pass values of wrong types.
type Any = any;

/** Invalid lists of indices for four environments. */
const INDICES: [name: string, indices: Any, code: ErrorCode, mention?: string][] = [
  ['numEnvs', [0, 1, 4, 2], 'out_of_range', 'indices[2]'],
  ['numEnvs, u32', Uint32Array.of(0, 1, 2, 4), 'out_of_range', 'indices[3]'],
  ['2^32, which is 0 as u32', [0, 2 ** 32, 0, 0], 'out_of_range', 'indices[1]'],
  ['-1', [0, 0, 0, -1], 'out_of_range', 'indices[3]'],
  ['-1, i32', Int32Array.of(-1, 0, 0, 0), 'out_of_range', 'indices[0]'],
  ['0.5', [0, 0.5, 0, 0], 'out_of_range'],
  ['NaN', [Number.NaN, 0, 0, 0], 'out_of_range'],
  ['infinity', Float64Array.of(0, 0, 0, Number.POSITIVE_INFINITY), 'out_of_range'],
  ['text', ['0', 0, 0, 0], 'out_of_range'],
  ['null', [0, null, 0, 0], 'out_of_range'],
  ['true', [0, true, 0, 0], 'out_of_range'],
  ['BigInts', BigUint64Array.of(0n, 1n, 2n, 3n), 'out_of_range'],
  ['holes', new Array(N), 'out_of_range'],
  ['undefined', undefined, 'wrong_type'],
  ['null instead of an array', null, 'wrong_type'],
  ['text instead of an array', '0123', 'wrong_type'],
  ['an object with a length', { length: N, 0: 0, 1: 1, 2: 2, 3: 3 }, 'wrong_type'],
  ['a DataView', new DataView(new ArrayBuffer(N)), 'wrong_type'],
];

/** Invalid options of a fork. */
const OPTIONS: [name: string, options: Any, code: ErrorCode][] = [
  ['another size', { numEnvs: 3 }, 'unknown_option'],
  ['another seed range', { seedRange: [0, 5] }, 'unknown_option'],
  ['a misspelt mode', { autoreset: 'same_step' }, 'unknown_name'],
  ['imagination as a number', { imagination: 1 }, 'wrong_type'],
  ['threads: 0', { threads: 0 }, 'out_of_range'],
  ['null for autoreset', { autoreset: null }, 'wrong_type'],
  ['null', null, 'wrong_type'],
  ['a list', [], 'wrong_type'],
];

describe.each(TWO_ENGINES)('$name refuses', (engine) => {
  // Two environments of the same size, with episodes at different steps. Both are compared after every refusal.
  const [source, target] = [0, 1].map((i) => {
    const env = openOn(engine, { numEnvs: N, autoreset: 'same-step' });
    env.reset({ seed: i * 10 });
    env.run('random', { stops: [3, 27, 9, 28] });
    return env;
  });
  const [sourceOutputs, targetOutputs] = [currentOutputs(source), currentOutputs(target)];
  const ALL = [0, 1, 2, 3];

  function refuse(call: () => unknown, code: ErrorCode, ...mentions: string[]): void {
    expectUnchanged(source, sourceOutputs, () =>
      expectUnchanged(target, targetOutputs, () => expectRefusal(call, code, ...mentions)),
    );
  }

  it.each(INDICES)('indices: %s', (_, indices, code, mention = 'indices') => {
    refuse(() => target.assign(source, indices), code, mention);
    refuse(() => source.fork(indices), code, mention);
    refuse(() => target.run('random', { from: { source, indices } }), code, mention);
  });

  it('too few or too many indices, and an empty list of a fork', () => {
    for (const indices of [[0, 1, 2], new Uint32Array(N + 1)]) {
      refuse(() => target.assign(source, indices), 'wrong_length', `${N} indices`);
      refuse(() => target.run('random', { from: { source, indices } }), 'wrong_length');
    }
    refuse(() => source.fork([]), 'wrong_length', 'at least one');
  });

  it.each(OPTIONS)('options of a fork: %s', (_, options, code) => {
    refuse(() => source.fork([0], options), code);
  });

  it('a source that is no environment, of another world, not reset, closed, or of a run the target itself', () => {
    for (const value of [null, undefined, {}, 'env', source.world] as Any[]) {
      refuse(() => target.assign(value, ALL), 'wrong_type', 'source');
      refuse(() => target.run('random', { from: { source: value, indices: ALL } }), 'wrong_type');
    }
    const world = { ...structuredClone(RHYTHM), name: 'tired' };
    world.initialMeters[0] = 0.5;
    const [tired, fresh] = [openOn(engine, { numEnvs: N, world }), openOn(engine, { numEnvs: N })];
    tired.reset({ seed: 1 });
    refuse(
      () => target.assign(tired, ALL),
      'not_alike',
      target.world.digest,
      `tired (${tired.world.digest})`,
    );
    refuse(() => target.run('random', { from: { source: target, indices: ALL } }), 'not_alike');
    for (const code of ['not_reset', 'closed'] as const) {
      refuse(() => target.assign(fresh, ALL), code);
      refuse(() => target.run('random', { from: { source: fresh, indices: ALL } }), code);
      refuse(() => fresh.fork([0]), code);
      fresh.close();
    }
  });

  it('an illegal action of a run, from the step of the copied episode on', () => {
    const sequence = new Uint8Array(N * NUM_STEPS);
    // The copied episode is at step 27.
    sequence[3 * NUM_STEPS + 27] = 10;
    const from = { source, indices: [0, 1, 2, 1] };
    refuse(() => target.run(sequence, { from }), 'illegal_action', 'environment 3, step 27');
    sequence[3 * NUM_STEPS + 27] = 0;
    sequence[3 * NUM_STEPS + 26] = 10;
    const other = openOn(engine, { numEnvs: N });
    expect(other.run(sequence, { from }).terminated).toEqual(new Uint8Array(N).fill(1));
  });

  it('calls of a target that was never reset, which still needs a reset', () => {
    const other = openOn(engine, { numEnvs: N });
    refuse(() => other.assign(source, [0, 1, 2, 9]), 'out_of_range');
    expectRefusal(() => other.step(new Uint8Array(N)), 'not_reset');
  });

  it('a target with history: unreplayable episodes of a source without history', () => {
    const imagined = source.fork([0, 1, 2, 0], { imagination: true });
    const withHistory = openOn(engine, { numEnvs: N, observation: { history: true } });
    withHistory.reset({ seed: 3 });
    const result = withHistory.step([1, 2, 3, 4]);
    expectUnchanged(withHistory, result, () =>
      refuse(() => withHistory.assign(imagined, ALL), 'foreign_past', 'environment 0'),
    );
    imagined.reset({ seed: 3, mask: [false, true, true, true] });
    withHistory.assign(imagined, [1, 2, 3, 1]);
    expectRefusal(() => withHistory.assign(imagined, [1, 2, 0, 3]), 'foreign_past', 'environment 0');
  });

  it('a source of another backend, with snapshot() as the remedy; a source with an equal world is accepted', () => {
    const [backend, world] = [engine.backend === 'native' ? 'reference' : 'native', structuredClone(RHYTHM)];
    const sameWorld = openOn(engine, { numEnvs: N, world: { ...world, name: 'the same' } });
    sameWorld.reset({ seed: 1 });
    expect([...openOn(engine, { numEnvs: N }).assign(sameWorld, ALL).terminated]).toEqual([0, 0, 0, 0]);
    if (NATIVE.length === 0) return;
    const other = openOn({ name: backend, backend }, { numEnvs: N });
    other.reset({ seed: 1 });
    refuse(() => target.assign(other, ALL), 'not_alike', 'snapshot()');
  });
});
