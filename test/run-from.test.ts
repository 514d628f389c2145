/** Runs that begin from another environment's slots: an assignment and a run, in one pass. */
import { describe, expect, it } from 'vitest';
import type { ErrorCode } from '../src/errors.js';
import type { VecEnv } from '../src/vec-env.js';
import { NUM_ACTIONS, NUM_STEPS, OBSERVATION_SIZE } from '../src/world/fields.js';
import { expectEqual } from './support/bits.js';
import { ENGINES, openOn } from './support/engines.js';
import { detached } from './support/fuzz.js';
import { forAll, type Random } from './support/random.js';
import { expectRefusal } from './support/refusals.js';
import { anyIndices, anyOptions, seen, wander } from './support/stories.js';
import { expectUnchanged } from './support/unchanged.js';

const tapeFor = (random: Random, { numEnvs }: VecEnv): Uint8Array =>
  random.bytes(numEnvs * NUM_STEPS, 0, NUM_ACTIONS - 1);

/** Often many slots in a row from the same one, as in groups of rollouts. */
function anyOrigin(random: Random, source: VecEnv, target: VecEnv): Uint32Array {
  const indices = anyIndices(random, source.numEnvs, target.numEnvs);
  const group = random.pick([1, 16]);
  return indices.map((_, i) => indices[i - (i % group)]);
}

describe.each(ENGINES)('$name', (engine) => {
  const open = (random: Random) =>
    openOn(engine, { numEnvs: random.pick([1, 16, 17, 40]), ...anyOptions(random), autoreset: 'same-step' });

  it('equals assign, then run', () => {
    forAll(60, (random) => {
      const source = open(random);
      const options = { numEnvs: random.pick([1, 16, 33]), ...anyOptions(random) };
      const [one, other] = [openOn(engine, options), openOn(engine, options)];
      const before = wander(random, source);
      const states = seen(source, before);
      const indices = anyOrigin(random, source, one);
      const stops = random.chance(0.5) ? random.bytes(one.numEnvs, 0, NUM_STEPS) : undefined;
      const choice = random.pick(['random', 'heuristic', tapeFor(random, one)] as const);
      const trajectory = random.chance(0.5);
      const onProgress = random.chance(0.3) ? () => {} : undefined;
      // Nothing is left of what they did before, or of nothing.
      for (const env of [one, other]) if (random.chance(0.5)) env.reset({ seed: 3 });
      one.assign(source, indices);
      const expected = one.run(choice, { stops, trajectory });
      const got = other.run(choice, { stops, trajectory, onProgress, from: { source, indices } });
      expectEqual(seen(one, expected), seen(other, got));
      expect(got.trajectory).toEqual(expected.trajectory);
      expectEqual(states, seen(source, before), 'the source:');
    });
  });

  it('shows nothing of episodes that autoreset has replaced in the source', () => {
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

  it('refuses itself, a source without episodes, slots that are none and tapes that are none, and changes nothing', () => {
    const [source, target, fresh] = [3, 4, 3].map((numEnvs) => openOn(engine, { numEnvs }));
    source.reset({ seed: 1 });
    const shown = target.reset({ seed: 2 });
    const indices = [0, 1, 2, 0];
    const refused = (from: object, code: ErrorCode, choice: 'random' | Uint8Array = 'random'): void => {
      expectUnchanged(target, shown, () => {
        expectRefusal(() => target.run(choice, { from: from as never }), code);
      });
    };
    refused({ source: target, indices }, 'not_alike');
    refused({ source: fresh, indices }, 'not_reset');
    refused({ source: {}, indices }, 'wrong_type');
    refused({ source, indices: [0, 1, 2, 3] }, 'out_of_range');
    refused({ source, indices: [0] }, 'wrong_length');
    const tape = new Uint8Array(4 * NUM_STEPS);
    tape[3 * NUM_STEPS + 20] = 10;
    refused({ source, indices }, 'illegal_action', tape);
    source.run('random', { stops: [21, 0, 0] });
    // The step with that code is one that the origin has taken.
    expect(target.run(tape, { from: { source, indices } }).terminated).toEqual(new Uint8Array(4).fill(1));
  });

  it('a target that was never reset goes on afterwards, or is as before if it was refused or stopped', () => {
    const numEnvs = 2 * 16_384;
    const [source, target] = [2, numEnvs].map((n) => openOn(engine, { numEnvs: n }));
    source.reset({ seed: 5 });
    const from = { source, indices: new Uint32Array(numEnvs) };
    const step = () => target.step(new Uint8Array(numEnvs));
    expectRefusal(() => target.run('random'), 'not_reset');
    const wrongTape = new Uint8Array(numEnvs * NUM_STEPS).fill(10);
    expectRefusal(() => target.run(wrongTape, { from }), 'illegal_action');
    expectRefusal(step, 'not_reset');
    const abort = new AbortController();
    const options = { from, stops: new Uint8Array(numEnvs).fill(3) };
    const stop = { signal: abort.signal, onProgress: () => abort.abort(new Error('enough')) };
    expect(() => target.run('random', { ...options, ...stop })).toThrow('enough');
    expectRefusal(step, 'not_reset');
    target.run('random', options);
    expect(new Set(step().observations.filter((_, at) => at % OBSERVATION_SIZE === 0))).toEqual(new Set([4]));
    expect(new Set(target.seeds)).toEqual(new Set([5]));
    expect(target.counters.steps).toBe(16_384 * 3 + numEnvs * 4);
  });

  it('its source is busy in onProgress, and views that are transferred there end the run', () => {
    const numEnvs = 2 * 16_384;
    const [source, target] = [2, numEnvs].map((n) => openOn(engine, { numEnvs: n }));
    const shown = source.reset({ seed: 5 });
    target.reset({ seed: 100 });
    const from = { source, indices: new Uint32Array(numEnvs) };
    for (const call of [() => source.close(), () => source.reset({ seed: 1 }), () => source.run('random')]) {
      const run = () => target.run('random', { from, onProgress: call });
      expectRefusal(run, 'busy');
    }
    expect([target.seeds[16_383], target.seeds[16_384]]).toEqual([5, 100 + 16_384]);
    const onProgress = () => void detached(shown.rewards);
    expectRefusal(() => target.run('random', { from, onProgress }), 'outputs_detached');
    expect(target.counters.steps).toBe(4 * 16_384 * NUM_STEPS);
  });
});
