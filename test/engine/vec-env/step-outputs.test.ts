/** Outputs of a run with `stops`, of a step with a mask, and of copies. */
import { describe, expect, it } from 'vitest';
import type { RunBeliefs } from '../../../src/engine/backends/backend.js';
import { toGraders } from '../../../src/engine/validate/profiles.js';
import { MODE } from '../../../src/world/fields.js';
import { ASYNC_ENGINES, type AsyncEngine, reportAbsentEngines } from '../../support/async-engines.js';
import { expectEqual, rowsOf, withClearedFinalMask } from '../../support/bits.js';
import { ENGINES, openOn } from '../../support/engines.js';
import { type OpenedAsyncBatch, openAsyncBatch } from '../../support/open-async-batch.js';
import { WORLD } from '../../support/open-batch.js';

reportAbsentEngines();

const numEnvs = 37;
const stops = Array.from({ length: numEnvs }, (_, i) => (i * 5) % 29);
const seeds = Uint32Array.from({ length: numEnvs }, (_, i) => i);

/** Opens a batch and runs each environment to its step of `stops`. */
async function openAtStops(
  engine: AsyncEngine,
  mode: number,
  grader: string,
  beliefs: RunBeliefs | null,
): Promise<OpenedAsyncBatch> {
  const opened = await openAsyncBatch(engine, numEnvs);
  const modes = new Uint8Array(numEnvs).fill(mode);
  const graders = toGraders(WORLD, grader, numEnvs);
  opened.batch.reset({ mask: null, seeds, modes, profiles: null, graders });
  await opened.batch.run({
    policy: { kind: 'heuristic' },
    beliefs,
    stops: Uint8Array.from(stops),
    trajectory: null,
  });
  return opened;
}

describe.each(ENGINES)('$name', (engine) => {
  it('a run with `stops` has the observations and rewards of single steps', () => {
    using env = openOn(engine, { numEnvs });
    env.reset({ seed: 5 });
    const { trajectory } = env.run('heuristic', { stops, trajectory: true });
    const { observations, rewards } = env.reset({ seed: 5 });
    env.run('heuristic', { stops });
    stops.forEach((stop, i) => {
      using one = openOn(engine, { numEnvs: 1 });
      let last = one.reset({ seed: 5 + i });
      for (let t = 0; t < stop; t++) last = one.step([trajectory!.actions[i * 28 + t]]);
      expect(observations.slice(i * 22, (i + 1) * 22)).toEqual(last.observations.slice());
      expect(rewards[i]).toBe(last.rewards[0]);
    });
  });

  it('a step in which an episode ends leaves the history of an environment outside its mask unchanged', () => {
    using env = openOn(engine, { numEnvs: 2, autoreset: 'same-step', observation: { history: true } });
    const { observations } = env.reset({ seed: 5 });
    env.step([3, 3]);
    const width = observations.length / 2;
    const before = observations.slice(width);
    for (let t = 1; t < 28; t++) env.step([3, 3], { mask: [1, 0] });
    expect(env.counters.episodes).toBe(1);
    expect(observations.slice(width)).toEqual(before);
  });
});

describe.each(ASYNC_ENGINES)('$name', (engine) => {
  it('a copy into a batch with imagination has the outputs of its source', async () => {
    const belief = Float32Array.of(0.5, 0.25, 1);
    const real = await openAtStops(engine, MODE.sampled, 'v2', { kind: 'constant', belief });
    const imagined = await openAsyncBatch(engine, numEnvs, { imagination: true });
    const reversed = seeds.slice().reverse();
    imagined.batch.gather(real.batch, reversed);
    expectEqual(
      withClearedFinalMask(rowsOf(await real.columns(), numEnvs, reversed)),
      await imagined.columns(),
    );
  });

  it('a batch can gather from itself', async () => {
    const { batch, columns } = await openAtStops(engine, MODE.discrete, 'v1', null);
    const before = await columns();
    const rotated = seeds.map((i) => (i + 1) % numEnvs);
    batch.gather(batch, rotated);
    expectEqual(withClearedFinalMask(rowsOf(before, numEnvs, rotated)), await columns());
  });
});
