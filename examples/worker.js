/**
 * `node examples/worker.js`: two worker threads play 1,000 seeds each, in their own environments, and send copies of their
 * scores.
 */
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { createVecEnv } from 'rhythm-vec';

const SEEDS_PER_WORKER = 1000;

/** Plays the seeds from `first` on in a worker. Resolves to their scores. */
function playInWorker(first) {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL(import.meta.url), { workerData: { first } });
    worker.once('message', resolve);
    worker.once('error', reject);
  });
}

if (isMainThread) {
  const halves = await Promise.all([playInWorker(0), playInWorker(SEEDS_PER_WORKER)]);
  const scores = halves.flatMap((half) => [...half]);
  const mean = scores.reduce((sum, score) => sum + score, 0) / scores.length;
  console.log(`${scores.length} episodes, mean final score ${mean.toFixed(4)}`);
} else {
  const env = createVecEnv({ numEnvs: SEEDS_PER_WORKER, threads: 1 });
  env.reset({ seed: workerData.first });
  // Sends a copy, because a view would send the memory of all outputs.
  parentPort.postMessage(env.run('heuristic').finalScores.slice());
  env.close();
}
