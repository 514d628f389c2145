/** Calls of the engine's worker from the page, and the state of the crowd that it runs. */
import { signal } from '@preact/signals';
import { proxy } from 'comlink';
import type { StudentFile } from '../person/episode.js';
import { type Failure, type Progress, type Report, toFailure, workerClient } from '../workers/calls.js';
import type { ComputedBy, Crowd, CrowdRequest } from './requests.js';
import type { EngineApi } from './worker.js';

/** Calls the engine's worker. */
export const callEngine = workerClient<EngineApi>(
  'The engine’s worker',
  () => new Worker(new URL('./worker.ts', import.meta.url), { type: 'module', name: 'engine' }),
);

/** Stops what the engine's worker runs. If the worker cannot be called, nothing is running. */
export const stopEngine = (): void => void callEngine((engine) => engine.stop()).catch(() => {});

/** What computed the last crowd; null before the first. */
export const computedBy = signal<ComputedBy | null>(null);
/** The reason why no graphics device plays crowds; null if one does, or if none was looked for. */
export const whyNoGpu = signal<string | null>(null);

interface CrowdRun {
  /** Null unless a run is in progress. */
  readonly progress: Progress | null;
  /** The last crowd, or what the run in progress has found so far. */
  readonly crowd: Crowd | null;
  /** The failure of the last run; null if it has not failed. */
  readonly failure: Failure | null;
}

const NO_RUN: CrowdRun = { progress: null, crowd: null, failure: null };
export const crowdRun = signal(NO_RUN);

/** The number of calls of `runCrowd` and `leaveCrowd` so far. Results of earlier runs are ignored. */
let runs = 0;

/** Runs a crowd. @param students the requested students that were trained on the page. */
export async function runCrowd(request: CrowdRequest, students: readonly StudentFile[]): Promise<void> {
  runs += 1;
  const run = runs;
  const show = (next: Partial<CrowdRun>): void => {
    if (run === runs) crowdRun.value = { ...crowdRun.value, ...next };
  };
  show({ progress: { done: 0, total: 1 }, failure: null });
  // The last report may arrive after the result.
  const report: Report<Crowd> = (progress, crowd) =>
    crowdRun.value.progress !== null && show(crowd === null ? { progress } : { progress, crowd });
  try {
    const crowd = await callEngine((engine) => engine.crowd(request, students, proxy(report)));
    computedBy.value = crowd.computedBy;
    show({ progress: null, crowd });
  } catch (error) {
    show({ progress: null, failure: toFailure(error) });
    return;
  }
  // Without the worker, the next call reports it.
  const reason = await callEngine((engine) => engine.whyNoGpu()).catch(() => undefined);
  if (reason !== undefined) whyNoGpu.value = reason;
}

/** Stops the run and forgets its results, when the view is left. */
export function leaveCrowd(): void {
  runs += 1;
  if (crowdRun.value.progress !== null) stopEngine();
  crowdRun.value = NO_RUN;
}
