/** The long job that a worker runs, at most one at a time. A new job stops the previous one. */
let current: AbortController | null = null;

/** Begins a job. @returns the signal that stops it. */
export function beginJob(): AbortSignal {
  stopJob();
  current = new AbortController();
  return current.signal;
}

/** Stops the current job, if there is one. */
export function stopJob(): void {
  current?.abort(new DOMException('Stopped.', 'AbortError'));
}

/** The progress of a job. */
export interface Progress {
  readonly done: number;
  readonly total: number;
}

/** Reports the progress of a job, and sometimes what it has found so far. */
export type Report<T> = (progress: Progress, soFar: T | null) => void;
