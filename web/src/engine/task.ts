/** Runs a long call of the engine, and gives a view the call's state: in progress, done, or failed. */
import { type Signal, useSignal } from '@preact/signals';
import { useCallback, useLayoutEffect, useRef } from 'preact/hooks';
import { callEngine } from './client.js';
import type { Progress, Report } from './jobs.js';
import { type Failure, toFailure } from './outcome.js';

export interface TaskState<T> {
  /** Null unless a call is in progress. */
  readonly progress: Progress | null;
  /** The last result, or what the call in progress has found so far. */
  readonly value: T | null;
  /** The failure of the last call; null if it has not failed. */
  readonly failure: Failure | null;
}

export interface Task<T> {
  readonly state: Signal<TaskState<T>>;
  /** Starts a call. From then on, results of earlier calls are ignored. `start` is the same function in every render. */
  readonly start: (work: (report: Report<T>) => Promise<T>) => void;
  readonly stop: () => void;
}

export function useTask<T>(): Task<T> {
  const state = useSignal<TaskState<T>>({ progress: null, value: null, failure: null });
  const latest = useRef(0);
  const start = useCallback(
    async (work: (report: Report<T>) => Promise<T>) => {
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
