/** Runs that are watched: progress by slices, and what is left when one is stopped between them. */
import { describe, expect, it } from 'vitest';
import type { VecEnv } from '../src/vec-env.js';
import { NUM_ACTIONS, NUM_STEPS } from '../src/world/fields.js';
import { copies, expectEqual, rowsOf, shown } from './support/bits.js';
import { ENGINES, type Engine, openOn } from './support/engines.js';
import { expectRefusal } from './support/refusals.js';
import { expectUnchanged, visible } from './support/unchanged.js';

/** Two slices, the second one ragged. */
const SLICE = 16_384;
const numEnvs = SLICE + 3;
const observation = { fields: ['step', 'meters'], scale: true } as const;

function open(engine: Engine): VecEnv {
  const env = openOn(engine, { numEnvs, observation, autoreset: 'same-step' });
  env.reset({ seed: 100 });
  return env;
}
/** Two steps each: many slots cost little. */
const stops = new Uint8Array(numEnvs).fill(2);

/** The best kernel stands for all: what slices is above the seam. */
const SOME = [ENGINES[0], ...ENGINES.slice(1, 2)];

describe.each(SOME)('$name', (engine) => {
  it('a watched run is the run, and tells how far it is', () => {
    using plain = open(engine);
    using watched = open(engine);
    const calls: number[][] = [];
    const onProgress = (...numbers: number[]) => calls.push(numbers);
    const expected = plain.run('random', { stops, trajectory: true });
    const { signal } = new AbortController();
    const got = watched.run('random', { stops, trajectory: true, onProgress, signal });
    expect(calls).toEqual([
      [SLICE, numEnvs],
      [numEnvs, numEnvs],
    ]);
    expectEqual(visible(plain, expected), visible(watched, got));
    expectEqual(copies(expected.trajectory!), copies(got.trajectory!));
  });

  it('slots of slices that were done have moved, the others have not, and all of that is shown', () => {
    using plain = open(engine);
    using stopped = open(engine);
    const abort = new AbortController();
    const views = stopped.reset({ seed: 100 });
    const before = shown(views);
    const onProgress = () => abort.abort(new Error('enough'));
    expect(() => stopped.run('random', { stops, onProgress, signal: abort.signal })).toThrow('enough');
    const all = Array.from(stops.keys());
    const [moved, stayed] = [all.slice(0, SLICE), all.slice(SLICE)];
    expectEqual(
      rowsOf(shown(plain.run('random', { stops })), numEnvs, moved),
      rowsOf(shown(views), numEnvs, moved),
    );
    expectEqual(rowsOf(before, numEnvs, stayed), rowsOf(shown(views), numEnvs, stayed));
    expect(stopped.counters).toEqual({ steps: 2 * SLICE, episodes: 0 });
    expectEqual(
      visible(plain, plain.run('random', { stops })),
      visible(stopped, stopped.run('random', { stops })),
    );
  });

  it('a signal that was aborted before, and a tape with a wrong action anywhere, change nothing', () => {
    using env = open(engine);
    const result = env.run('heuristic', { stops });
    const tape = new Uint8Array(numEnvs * NUM_STEPS);
    tape[tape.length - 1] = NUM_ACTIONS;
    expectUnchanged(env, result, () => {
      expect(() => env.run('random', { signal: AbortSignal.abort(new Error('never')) })).toThrow('never');
      expectRefusal(() => env.run(tape, { onProgress: () => {} }), 'illegal_action', `slot ${numEnvs - 1}`);
    });
  });

  it('from within onProgress nothing can be called, and the run goes on', () => {
    using plain = openOn(engine, { numEnvs: 3 });
    using watched = openOn(engine, { numEnvs: 3 });
    for (const env of [plain, watched]) env.reset({ seed: 7 });
    const onProgress = () => {
      expectRefusal(() => watched.close(), 'busy', 'onProgress');
      expectRefusal(() => watched.step([0, 0, 0]), 'busy', 'signal');
    };
    expectEqual(visible(plain, plain.run('random')), visible(watched, watched.run('random', { onProgress })));
  });

  it('what onProgress throws ends the run, and the environment goes on', () => {
    using env = openOn(engine, { numEnvs: 2 });
    env.reset({ seed: 1 });
    const onProgress = () => {
      throw new Error('mine');
    };
    expect(() => env.run('random', { stops: [5, 28], onProgress })).toThrow('mine');
    expect(env.counters).toEqual({ steps: 5 + NUM_STEPS, episodes: 1 });
    env.step([0, 255], { mask: [true, false] });
  });
});
