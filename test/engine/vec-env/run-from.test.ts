/** Runs from another environment's episodes: an assignment and a run in one call. */
import { describe, expect, it } from 'vitest';
import type { VecEnv } from '../../../src/engine/node.js';
import { LAYOUTS } from '../../../src/engine/vec-env/vec-env-options.js';
import type { ErrorCode } from '../../../src/shared/errors.js';
import { NUM_ACTIONS, NUM_STEPS, OBSERVATION_SIZE } from '../../../src/world/fields.js';
import { expectEqual } from '../../support/bits.js';
import {
  advanceRandomly,
  episodeColumns,
  randomIndices,
  randomOptions,
} from '../../support/call-sequences.js';
import { ENGINES, FASTEST, openOn } from '../../support/engines.js';
import { detached } from '../../support/fuzz.js';
import { forAll, type Random } from '../../support/random.js';
import { expectRefusal } from '../../support/refusals.js';
import { expectUnchanged } from '../../support/unchanged.js';

/** Draws an action sequence for each environment. */
const randomSequence = (random: Random, { numEnvs }: VecEnv): Uint8Array =>
  random.bytes(numEnvs * NUM_STEPS, 0, NUM_ACTIONS - 1);

/** Draws indices, often 16 equal ones in succession, as for groups of rollouts. */
function randomOrigins(random: Random, source: VecEnv, target: VecEnv): Uint32Array {
  const indices = randomIndices(random, source.numEnvs, target.numEnvs);
  const groupSize = random.pick([1, 16]);
  return indices.map((_, i) => indices[i - (i % groupSize)]);
}

describe.each(ENGINES)('$name', (engine) => {
  const open = (random: Random) =>
    openOn(engine, {
      numEnvs: random.pick([1, 16, 17, 40]),
      ...randomOptions(random),
      autoreset: 'same-step',
    });

  it('run({ from }) gives the results of assign followed by run', () => {
    forAll(60, (random) => {
      const source = open(random);
      const options = { numEnvs: random.pick([1, 16, 33]), ...randomOptions(random) };
      const [one, other] = [openOn(engine, options), openOn(engine, options)];
      const before = advanceRandomly(random, source);
      const states = episodeColumns(source, before);
      const indices = randomOrigins(random, source, one);
      const stops = random.chance(0.5) ? random.bytes(one.numEnvs, 0, NUM_STEPS) : undefined;
      const choice = random.pick(['random', 'heuristic', randomSequence(random, one)] as const);
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

  it('run({ from }) does not copy results of episodes that autoreset replaced in the source', () => {
    const source = openOn(engine, { numEnvs: 2, autoreset: 'same-step' });
    source.reset({ seed: 1 });
    source.run('heuristic', { stops: [27, 27] });
    expect(source.step([0, 0]).finalMask).toEqual(Uint8Array.of(1, 1));
    const target = openOn(engine, { numEnvs: 3 });
    const from = { source, indices: [0, 1, 1] };
    const { terminated, episodeLengths, finalScores } = target.run('random', { stops: [0, 3, 28], from });
    expect([terminated, episodeLengths]).toEqual([Uint8Array.of(0, 0, 1), Int32Array.of(0, 0, 28)]);
    expect([finalScores[0], finalScores[1], finalScores[2] > 0]).toEqual([0, 0, true]);
  });

  it('a run refuses invalid arguments, and a source that is the target itself or was never reset', () => {
    const [source, target, fresh] = [3, 4, 3].map((numEnvs) => openOn(engine, { numEnvs }));
    source.reset({ seed: 1 });
    const result = target.reset({ seed: 2 });
    const indices = [0, 1, 2, 0];
    const expectRefused = (from: object, code: ErrorCode, choice: 'random' | Uint8Array = 'random'): void => {
      expectUnchanged(target, result, () => {
        expectRefusal(() => target.run(choice, { from: from as never }), code);
      });
    };
    expectRefused({ source: target, indices }, 'not_alike');
    expectRefused({ source: fresh, indices }, 'not_reset');
    expectRefused({ source: {}, indices }, 'wrong_type');
    expectRefused({ source, indices: [0, 1, 2, 3] }, 'out_of_range');
    expectRefused({ source, indices: [0] }, 'wrong_length');
    const sequence = new Uint8Array(4 * NUM_STEPS);
    sequence[3 * NUM_STEPS + 20] = 10;
    expectRefused({ source, indices }, 'illegal_action', sequence);
    source.run('random', { stops: [21, 0, 0] });
    // The copied episode is past the step with that action.
    expect(target.run(sequence, { from: { source, indices } }).terminated).toEqual(new Uint8Array(4).fill(1));
  });
});

// With `onProgress` or `signal`, a run plays 16,384 environments at a time, a slice.
describe.each(FASTEST)('$name, in slices', (engine) => {
  it('a target that was never reset can step after the run; a refused or aborted run leaves it not reset', () => {
    const numEnvs = 2 * 16_384;
    const [source, target] = [2, numEnvs].map((n) => openOn(engine, { numEnvs: n }));
    source.reset({ seed: 5 });
    const from = { source, indices: new Uint32Array(numEnvs) };
    const step = () => target.step(new Uint8Array(numEnvs));
    expectRefusal(() => target.run('random'), 'not_reset');
    const wrongSequence = new Uint8Array(numEnvs * NUM_STEPS).fill(10);
    expectRefusal(() => target.run(wrongSequence, { from }), 'illegal_action');
    expectRefusal(step, 'not_reset');
    const abort = new AbortController();
    const options = { from, stops: new Uint8Array(numEnvs).fill(3) };
    const abortOptions = { signal: abort.signal, onProgress: () => abort.abort(new Error('enough')) };
    expect(() => target.run('random', { ...options, ...abortOptions })).toThrow('enough');
    expectRefusal(step, 'not_reset');
    target.run('random', options);
    // The first number of an observation is the step.
    expect(new Set(step().observations.filter((_, at) => at % OBSERVATION_SIZE === 0))).toEqual(new Set([4]));
    expect(new Set(target.seeds)).toEqual(new Set([5]));
    // The first slice of the aborted run; three steps of the run and one after it.
    expect(target.counters.steps).toBe(16_384 * 3 + numEnvs * 4);
  });

  it('the source is busy in onProgress, and transferring one of its views there ends the run', () => {
    const numEnvs = 2 * 16_384;
    const [source, target] = [2, numEnvs].map((n) => openOn(engine, { numEnvs: n }));
    const result = source.reset({ seed: 5 });
    target.reset({ seed: 100 });
    const from = { source, indices: new Uint32Array(numEnvs) };
    for (const call of [() => source.close(), () => source.reset({ seed: 1 }), () => source.run('random')]) {
      const run = () => target.run('random', { from, onProgress: call });
      expectRefusal(run, 'busy');
    }
    expect([target.seeds[16_383], target.seeds[16_384]]).toEqual([5, 100 + 16_384]);
    const onProgress = () => void detached(result.rewards);
    expectRefusal(() => target.run('random', { from, onProgress }), 'outputs_detached');
    // Each of the four runs played its first slice.
    expect(target.counters.steps).toBe(4 * 16_384 * NUM_STEPS);
  });
});
