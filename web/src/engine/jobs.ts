/** In the worker: one long question at a time. A new one ends the one before it, whose answer nobody waits for. */
let current: AbortController | null = null;

/** Begins one. @returns what tells it to stop. */
export function beginJob(): AbortSignal {
  stopJob();
  current = new AbortController();
  return current.signal;
}

/** Ends the one under way, if there is one. */
export function stopJob(): void {
  current?.abort(new DOMException('Stopped.', 'AbortError'));
}

/** How far one has come. */
export interface Progress {
  readonly done: number;
  readonly total: number;
}

export type Report = (progress: Progress) => void;
