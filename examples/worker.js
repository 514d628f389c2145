/**
 * `node examples/worker.js`: two worker threads play the two halves of 2,000 seeds, each in an environment of its own, and
 * send copies of their scores.
 */
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { createVecEnv } from 'rhythm-vec';

const EACH = 1000;

/** Plays the seeds from `first` on in a worker. */
function playInWorker(first) {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL(import.meta.url), { workerData: { first } });
    worker.once('message', resolve);
    worker.once('error', reject);
  });
}

if (isMainThread) {
  const halves = await Promise.all([playInWorker(0), playInWorker(EACH)]);
  const scores = halves.flatMap((half) => [...half]);
  const mean = scores.reduce((sum, score) => sum + score, 0) / scores.length;
  console.log(`${scores.length} episodes, mean final score ${mean.toFixed(4)}`);
} else {
  const env = createVecEnv({ numEnvs: EACH, threads: 1 });
  env.reset({ seed: workerData.first });
  // A copy: a view would send the memory of all outputs along.
  parentPort.postMessage(env.run('heuristic').finalScores.slice());
  env.close();
}
