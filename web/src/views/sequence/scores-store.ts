/**
 * Gets the scores of the painted sequence. While one paints, every sequence that is sent shows at least its first people, and
 * of those that were painted meanwhile only the last is sent: the pace is that of the work.
 */
import { signal } from '@preact/signals';
import { proxy } from 'comlink';
import { callEngine } from '../../engine/client.js';
import type { Progress } from '../../engine/jobs.js';
import { type Failure, toFailure } from '../../engine/outcome.js';
import type { SequenceScores } from '../../engine/sequence/sequence-scores.js';

/** The last scores, which may be those of a sequence before; null before the first. */
export const scores = signal<SequenceScores | null>(null);
export const failure = signal<Failure | null>(null);

/** The sequence to send next; null for none. */
let next: string | null = null;
/** Whether the call on its way has shown nothing yet. */
let isWaiting = false;
/** The number of calls so far. What earlier calls return is dropped. */
let calls = 0;

/** Scores a sequence of 28 digits, in place of the one on its way. */
export function scoreSequence(actions: string): void {
  next = actions;
  if (!isWaiting) void send();
}

/** Ends the call on its way, when the view is left. The scores are kept. */
export function stopScoring(): void {
  calls += 1;
  [next, isWaiting] = [null, false];
  // If the worker cannot be called, nothing is running.
  callEngine((engine) => engine.stop()).catch(() => {});
}

async function send(): Promise<void> {
  const actions = next!;
  calls += 1;
  const call = calls;
  [next, isWaiting, failure.value] = [null, true, null];
  /** Runs work if the call is the last. After it, the next sequence may be sent. */
  const ifLast = (work: () => void): void => {
    if (call !== calls) return;
    work();
    isWaiting = false;
    if (next !== null) void send();
  };
  let isComplete = false;
  // The last report may arrive after the result.
  const report = (_: Progress, soFar: SequenceScores | null): void =>
    ifLast(() => {
      if (!isComplete) scores.value = soFar;
    });
  try {
    const complete = await callEngine((engine) => engine.sequence(actions, proxy(report)));
    ifLast(() => {
      [isComplete, scores.value] = [true, complete];
    });
  } catch (error) {
    ifLast(() => {
      failure.value = toFailure(error);
    });
  }
}
