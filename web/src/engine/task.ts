/** A long question to the engine as a view sees it: under way, answered, or failed. */
import { type Signal, useSignal } from '@preact/signals';
import { useCallback, useLayoutEffect, useRef } from 'preact/hooks';
import { ask } from './client.js';
import type { Progress, Report } from './jobs.js';
import { type Failure, toFailure } from './outcome.js';

export interface TaskState<T> {
  /** Null unless it is under way. */
  readonly progress: Progress | null;
  /** The last answer; it stays while the next question is under way. */
  readonly value: T | null;
  /** Why the last question has no answer. */
  readonly failure: Failure | null;
}

export interface Task<T> {
  readonly state: Signal<TaskState<T>>;
  /** Asks; an answer to an earlier question is ignored from then on. The same function in every render. */
  readonly start: (work: (report: Report) => Promise<T>) => void;
  readonly stop: () => void;
}

export function useTask<T>(): Task<T> {
  const state = useSignal<TaskState<T>>({ progress: null, value: null, failure: null });
  const latest = useRef(0);
  const start = useCallback(
    async (work: (report: Report) => Promise<T>) => {
      latest.current += 1;
      const mine = latest.current;
      const show = (next: Partial<TaskState<T>>) => {
        if (mine === latest.current) state.value = { ...state.value, ...next };
      };
      show({ progress: { done: 0, total: 1 }, failure: null });
      try {
        // The last of them may come behind the answer, which has another way.
        const report: Report = (progress) => state.peek().progress !== null && show({ progress });
        const value = await work(report);
        show({ progress: null, value });
      } catch (error) {
        show({ progress: null, failure: toFailure(error) });
      }
    },
    [state],
  );
  const stop = useCallback(() => {
    // Whoever cannot be asked is not at work either.
    ask((engine) => engine.stop()).catch(() => {});
  }, []);
  // Whoever leaves the view waits for nothing in it any more.
  useLayoutEffect(
    () => () => {
      latest.current += 1;
      if (state.peek().progress !== null) stop();
    },
    [state, stop],
  );
  return { state, start, stop };
}
