/**
 * Gets the scores of the action sequence that the user paints (painting.ts). The worker may report the scores of some people
 * before those of all. A sequence is sent once the first scores of the previous one are shown. Of the sequences painted until
 * then, only the last is sent.
 */
import { signal } from '@preact/signals';
import { proxy } from 'comlink';
import { callEngine } from '../../engine/client.js';
import type { Progress } from '../../engine/jobs.js';
import { type Failure, toFailure } from '../../engine/outcome.js';
import type { SequenceScores } from '../../engine/sequence/sequence-scores.js';

/** The last scores, which may be those of an earlier sequence; null before the first scores. */
export const scores = signal<SequenceScores | null>(null);
export const failure = signal<Failure | null>(null);

/** The sequence to send next; null for none. */
let next: string | null = null;
/** Whether a call is in progress whose first scores are not shown yet. */
let isWaiting = false;
/** Rises with each call and each stop. Scores of calls with an earlier number are dropped. */
let calls = 0;

/** Scores a sequence of 28 digits in place of the previous sequence. */
export function scoreSequence(actions: string): void {
  next = actions;
  if (!isWaiting) void send();
}

/** Ends the current call, when the view is left. The scores are kept. */
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
  /** Runs work, unless there was a later call or a stop. Then sends the next sequence, if there is one. */
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
