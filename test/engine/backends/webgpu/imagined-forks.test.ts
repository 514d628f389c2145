/** Imagined forks on a device: results equal those of the reference, bit for bit. */
import { expect, it } from 'vitest';
import { createAsyncVecEnv, createVecEnv } from '../../../../src/engine/node.js';
import { AUTORESET_MODES } from '../../../../src/engine/validate/autoreset-modes.js';
import { NUM_STEPS } from '../../../../src/world/fields.js';
import { asyncEnvColumns } from '../../../support/async-envs.js';
import { expectEqual } from '../../../support/bits.js';
import { envIndices, LAYOUTS, randomIndices, randomReset } from '../../../support/call-sequences.js';
import { describeGpu } from '../../../support/gpu-suite.js';
import { drawsOf, Random } from '../../../support/random.js';
import { envColumns } from '../../../support/unchanged.js';

const [N, COPIES] = [20, 35];

describeGpu('webgpu', () => {
  it.each(Array.from({ length: drawsOf(8) }, (_, seed) => seed))(
    'sequence %i has the results of the reference',
    async (seed) => {
      const random = new Random(`imagined ${seed}`);
      const shape = {
        numEnvs: N,
        autoreset: random.pick(AUTORESET_MODES),
        layout: random.pick(LAYOUTS),
        observation: { history: random.chance(0.5) },
      };
      const reference = createVecEnv({ ...shape, backend: 'reference' });
      await using device = await createAsyncVecEnv({ ...shape, backend: 'webgpu' });
      const { start: _, ...reset } = randomReset(random, N);
      const stops = random.bytes(N, 0, NUM_STEPS - 1);
      for (const env of [reference, device]) {
        await env.reset(reset);
        await env.run('random', { stops });
      }
      const imagination = {
        profiles: random.pick(['prior' as const, random.profiles(COPIES)]),
        seed: random.seeds(COPIES),
      };
      const indices = randomIndices(random, N, COPIES);
      const fork = reference.fork(indices, { imagination });
      await using other = await device.fork(indices, { imagination });
      expect(other.usesHiddenState).toBe(false);
      expectEqual(
        envColumns(fork, fork.assign(fork, envIndices(COPIES))),
        await asyncEnvColumns(other, await other.read()),
      );
      for (let t = 0; t < 4; t++) {
        // The mask leaves out ended episodes, because the autoreset mode `disabled` refuses to step them.
        const mask = Uint8Array.from(indices, (index) => Number(stops[index] + t < NUM_STEPS));
        const actions = random.bytes(COPIES, 0, 9);
        const [a, b] = [fork.step(actions, { mask }), await other.step(actions, { mask })];
        expectEqual(envColumns(fork, a), await asyncEnvColumns(other, b), `step ${t}:`);
      }
      const [a, b] = [fork.run('heuristic'), await other.run('heuristic')];
      expectEqual(envColumns(fork, a), await asyncEnvColumns(other, b));
    },
  );
});
