/** `openAnyVecEnvOn` and `openAnyBatch`: which backends they open synchronously, and which asynchronously. */
import { expect, it } from 'vitest';
import { openAnyBatch } from '../../../src/engine/backends/any-batch.js';
import { openAnyVecEnv, VecEnv } from '../../../src/engine/node.js';
import { openAnyVecEnvOn } from '../../../src/engine/vec-env/any-vec-env.js';
import { AsyncVecEnv } from '../../../src/engine/vec-env/async-vec-env.js';
import { WORLD } from '../../support/open-batch.js';
import { STAND_IN_PLATFORM } from '../../support/stand-in-batch.js';

it.each([undefined, 'auto', 'reference'])('backend %s opens a VecEnv', async (backend) => {
  const env = openAnyVecEnvOn(STAND_IN_PLATFORM, { numEnvs: 2, backend });
  expect(env).toBeInstanceOf(VecEnv);
  await (await env).close();
});

it('an asynchronous backend opens an AsyncVecEnv, which plays the same episodes', async () => {
  await using env = await openAnyVecEnvOn(STAND_IN_PLATFORM, { numEnvs: 2, backend: 'stand-in' });
  expect(env).toBeInstanceOf(AsyncVecEnv);
  using same = openAnyVecEnvOn(STAND_IN_PLATFORM, { numEnvs: 2 }) as VecEnv;
  await env.reset({ seed: 3 });
  same.reset({ seed: 3 });
  expect(await env.run('heuristic')).toEqual(same.run('heuristic'));
});

it('openAnyBatch opens a synchronous batch on a synchronous backend, else an asynchronous batch', async () => {
  const shape = {
    ...{ numEnvs: 1, world: WORLD, imagination: false, threads: 1 },
    layout: { columnMajor: false, finalObservations: false },
  };
  const opened = openAnyBatch(STAND_IN_PLATFORM, { backend: 'reference' }, shape);
  expect(opened).toMatchObject({ batch: { backend: 'reference' } });
  const { batch, outputs } = await openAnyBatch(STAND_IN_PLATFORM, { backend: 'stand-in' }, shape);
  expect(batch.backend).toBe('stand-in');
  expect(outputs.rewards).toHaveLength(1);
  batch.close();
});

it('an unknown backend is refused with the names of all backends', () => {
  expect(() => openAnyVecEnv({ numEnvs: 1, backend: 'webpgu' })).toThrow(/native, webgpu, reference.*webpgu/);
});
