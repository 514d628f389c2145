/** The engine's worker. It runs crowds (many people) and plays the visitor's sequence, so that the page responds. */
import { expose } from 'comlink';
import type { StudentFile } from '../person/episode.js';
import { beginJob, outcomeOf, type Report, stopJob, workerClient } from '../workers/calls.js';
import type { ChunkApi } from './chunk-worker.js';
import { forgetGpu, openOnGpu, searchGpu, whyNoGpu } from './gpu.js';
import type { Crowd, CrowdRequest, SequenceScores } from './requests.js';
import { type ChunkLane, runCrowd } from './run-crowd.js';

/** The most workers. Chosen by hand: each keeps about 20 MB. */
const MAX_WORKERS = 8;

let clients: readonly ReturnType<typeof workerClient<ChunkApi>>[] | null = null;

/** Returns a lane for each worker: one per core that the browser reports. */
function openPool(request: CrowdRequest, students: readonly StudentFile[]): ChunkLane[] {
  clients ??= Array.from({ length: Math.min(MAX_WORKERS, navigator.hardwareConcurrency || 1) }, () =>
    workerClient<ChunkApi>(
      'A worker of the crowd',
      () => new Worker(new URL('./chunk-worker.ts', import.meta.url), { type: 'module', name: 'crowd' }),
    ),
  );
  return clients.map((call) => {
    const begun = call((worker) => worker.begin(request, students));
    // `play` reports the failure.
    begun.catch(() => {});
    return { play: (chunk) => begun.then(() => call((worker) => worker.play(chunk))) };
  });
}

/** Runs a crowd on the graphics device if one was found, else in workers. Then looks for a device, for the next crowds. */
async function crowd(request: CrowdRequest, students: readonly StudentFile[], report: Report<Crowd>) {
  const signal = beginJob();
  const hasStudent = students.length > 0;
  await using gpu = hasStudent ? null : openOnGpu(request);
  const openWorkers = (): ChunkLane[] => openPool(request, students);
  const players = { gpu, hasStudent, onGpuFailure: forgetGpu, openWorkers };
  const result = await runCrowd(request, players, report, signal);
  if (!hasStudent && result.complete) searchGpu(result);
  return result;
}

/** The calls of the page. */
const api = {
  stop: () => outcomeOf(stopJob),
  /** Computes a crowd. @param students the requested students that were trained on the page. */
  crowd: (request: CrowdRequest, students: readonly StudentFile[], report: Report<Crowd>) =>
    outcomeOf(() => crowd(request, students, report), report),
  /** Returns the reason why no graphics device plays crowds; null if one does, or before the first crowd. */
  whyNoGpu: () => outcomeOf(whyNoGpu),
  /** Scores an action sequence of 28 digits. */
  sequence: (actions: string, report: Report<SequenceScores>) =>
    outcomeOf(async () => {
      const signal = beginJob();
      // Loaded here, because a crowd starts sooner without it.
      const [{ runSequence }, { loadWasm }] = await Promise.all([
        import('./run-sequence.js'),
        import('../workers/wasm.js'),
      ]);
      await loadWasm();
      return runSequence(actions, report, signal);
    }, report),
};

export type EngineApi = typeof api;

expose(api);
