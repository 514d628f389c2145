/** Calls of the engine's worker from the page. */
import { signal, useSignal } from '@preact/signals';
import type { Remote } from 'comlink';
import { useCallback, useLayoutEffect, useRef } from 'preact/hooks';
import {
  type Failure,
  type Outcome,
  type Progress,
  type Report,
  toFailure,
  workerClient,
} from '../workers/calls.js';
import type { ComputedBy, Crowd } from './requests.js';
import type { EngineApi } from './worker.js';

/** What computed the last crowd; null before the first. */
export const computedBy = signal<ComputedBy | null>(null);
/** The reason why no graphics device plays crowds; null if one does, or if none was looked for. */
export const whyNoGpu = signal<string | null>(null);

/** Calls the engine's worker. */
export const callEngine = workerClient<EngineApi>(
  'The engine’s worker',
  () => new Worker(new URL('./worker.ts', import.meta.url), { type: 'module', name: 'engine' }),
);

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

interface TaskState<T> {
  /** Null unless a call is in progress. */
  readonly progress: Progress | null;
  /** The last result, or what the call in progress has found so far. */
  readonly value: T | null;
  /** The failure of the last call; null if it has not failed. */
  readonly failure: Failure | null;
}

/**
 * Runs a long call of the engine, and gives a view the call's state: in progress, done, or failed. `start` begins a call, and is the
 * same function in every render. From then on, results of earlier calls are ignored.
 */
export function useTask<T>() {
  const state = useSignal<TaskState<T>>({ progress: null, value: null, failure: null });
  const latest = useRef(0);
  const start = useCallback(
    async (work: (report: Report<T>) => Promise<T>): Promise<void> => {
      latest.current += 1;
      const id = latest.current;
      const show = (next: Partial<TaskState<T>>) => {
        if (id === latest.current) state.value = { ...state.value, ...next };
      };
      show({ progress: { done: 0, total: 1 }, failure: null });
      try {
        // The last report may arrive after the result.
        const report: Report<T> = (progress, value) =>
          state.peek().progress !== null && show(value === null ? { progress } : { progress, value });
        const value = await work(report);
        show({ progress: null, value });
      } catch (error) {
        show({ progress: null, failure: toFailure(error) });
      }
    },
    [state],
  );
  const stop = useCallback(() => {
    // If the worker cannot be called, nothing is running.
    callEngine((engine) => engine.stop()).catch(() => {});
  }, []);
  // Ignores and stops the call when the view is left.
  useLayoutEffect(
    () => () => {
      latest.current += 1;
      if (state.peek().progress !== null) stop();
    },
    [state, stop],
  );
  return { state, start, stop };
}
