/** Worker threads: each has its own environments, because the addon has no global state, and ends cleanly. */
import { Worker } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';
import { createVecEnv } from '../../../src/engine/node.js';
import type { VecEnvOptions } from '../../../src/engine/vec-env/vec-env-options.js';
import { runChild } from '../../support/child.js';
import { ENGINES, type Engine, NATIVE } from '../../support/engines.js';

const SOURCE = new URL('../../../dist/engine/node.js', import.meta.url).href;

/**
 * Steps past the ends of episodes, and does not close the environment or its fork. @returns the current seeds and two
 * scores.
 */
function stepPastEnds(open: typeof createVecEnv, options: VecEnvOptions, seed: number): number[] {
  const env = open({ ...options, autoreset: 'same-step', observation: { history: true } });
  env.reset({ seed });
  env.run('random', { stops: Array.from({ length: options.numEnvs }, (_, i) => i % 28) });
  for (let t = 0; t < 40; t++) env.step(new Uint8Array(options.numEnvs).fill(t % 10));
  return [...env.seeds, ...env.fork([0, 1]).run('heuristic').finalScores];
}

/** The code of a worker. It plays with several environments open at once, and leaves some open. */
const CODE = `
  const stepPastEnds = ${stepPastEnds};
  Promise.all([import('node:worker_threads'), import('${SOURCE}')]).then(([{ parentPort, workerData }, { createVecEnv }]) => {
    const { backend, kernel, seed } = workerData;
    const threads = backend === 'wasm' ? undefined : 2;
    const open = (numEnvs) => createVecEnv({ numEnvs, backend, kernel, threads });
    const environments = [open(40), open(300), open(3)];
    for (const env of environments) env.reset({ seed });
    const scores = environments.map((env) => Array.from(env.run('random').finalScores.slice(0, 3)));
    environments[0].close();
    const stepped = stepPastEnds(createVecEnv, { numEnvs: 40, backend, kernel, threads }, seed);
    parentPort.postMessage({ scores, stepped });
  });
`;

function play({ backend, kernel }: Engine, seed: number): Promise<{ message: unknown; status: number }> {
  const worker = new Worker(CODE, { eval: true, workerData: { backend, kernel, seed } });
  return new Promise((resolve, reject) => {
    let message: unknown;
    worker.once('message', (value) => {
      message = value;
    });
    worker.once('error', reject);
    worker.once('exit', (status) => resolve({ message, status }));
  });
}

function expectedMessage({ backend, kernel }: Engine, seed: number): unknown {
  using env = createVecEnv({ numEnvs: 3, backend, kernel });
  env.reset({ seed });
  const scores = Array.from(env.run('random').finalScores);
  const stepped = stepPastEnds(createVecEnv, { numEnvs: 40, backend, kernel }, seed);
  return { scores: [scores, scores, scores], stepped };
}

// The reference and the fastest kernel.
describe.each(ENGINES.slice(0, 2))('$name', (engine) => {
  it('concurrent workers get the scores of the main thread', async () => {
    const seeds = [1, 2];
    const played = await Promise.all(seeds.map((seed) => play(engine, seed)));
    played.forEach((outcome, k) => {
      expect(outcome).toEqual({ message: expectedMessage(engine, seeds[k]), status: 0 });
    });
  });
});

// The addon alone has threads and memory that could outlive a worker.
it.skipIf(NATIVE.length === 0)(
  'a process ends cleanly with open environments in its main thread and in a worker',
  () => {
    const [{ backend, kernel }] = NATIVE;
    const {
      status,
      output: message,
      stderr,
    } = runChild(`
      import { Worker } from 'node:worker_threads';
      import { createVecEnv } from './dist/engine/node.js';
      const env = createVecEnv({ numEnvs: 300, backend: ${JSON.stringify(backend)}, kernel: ${JSON.stringify(kernel)}, threads: 4 });
      env.reset({ seed: 1 });
      env.run('heuristic');
      const workerData = { backend: ${JSON.stringify(backend)}, kernel: ${JSON.stringify(kernel)}, seed: 1 };
      const worker = new Worker(${JSON.stringify(CODE)}, { eval: true, workerData });
      worker.once('message', async () => {
        await worker.terminate();
        print('left open');
        process.exit(0);
      });
    `);
    expect({ status, message, stderr }).toEqual({ status: 0, message: 'left open', stderr: '' });
  },
);
