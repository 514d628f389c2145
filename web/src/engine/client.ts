/** Calls the engine's worker from the page. */
import { signal } from '@preact/signals';
import type { Remote } from 'comlink';
import { WorkerClient } from '../workers/worker-client.js';
import type { ComputedBy, Crowd } from './crowd/crowd-request.js';
import type { Outcome } from './outcome.js';
import type { EngineApi } from './worker.js';

/** What computed the last crowd; null before the first. */
export const computedBy = signal<ComputedBy | null>(null);
/** The reason why no graphics device plays crowds; null if one does, or if none was looked for. */
export const whyNoGpu = signal<string | null>(null);

const client = new WorkerClient<EngineApi>(
  'The engine’s worker',
  () => new Worker(new URL('./worker.ts', import.meta.url), { type: 'module', name: 'engine' }),
);

/**
 * Calls the engine's worker: `callEngine((engine) => engine.sequence(...))`.
 * @throws CallFailed.
 */
export const callEngine = <T>(call: (engine: Remote<EngineApi>) => Promise<Outcome<T>>): Promise<T> =>
  client.call(call);

/** Runs a crowd, and says in `computedBy` and `whyNoGpu` what computed it. @throws CallFailed. */
export async function runCrowd(call: (engine: Remote<EngineApi>) => Promise<Outcome<Crowd>>): Promise<Crowd> {
  const crowd = await callEngine(call);
  computedBy.value = crowd.computedBy;
  // Without the worker, the next call reports it.
  callEngine((engine) => engine.whyNoGpu()).then(
    (reason) => {
      whyNoGpu.value = reason;
    },
    () => {},
  );
  return crowd;
}
