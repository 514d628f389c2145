/** Validates the scores that statistical functions take: those of one task, or of several. */
import { InputError } from '../../shared/errors.js';
import { checkFinite, describe, isList, wrongType } from '../../shared/values.js';

/**
 * Scores of one task, or a list of scores per task. A task is a group in which scores are compared, such as a condition
 * or a profile. It has one score per episode, or one per training run (see `runMeans`). Tasks may have different
 * numbers of scores.
 */
export type TaskScores = ArrayLike<number> | readonly ArrayLike<number>[];

/** Returns scores as float64. @throws InputError `wrong_type`, `out_of_range`, or `wrong_length` for an empty list. */
export function toScores(what: string, scores: unknown): Float64Array {
  if (!isList(scores))
    throw wrongType(what, 'a list of numbers', scores, 'Pass one number per episode or run.');
  if (scores.length === 0) throw noScores(what);
  return Float64Array.from({ length: scores.length }, (_, i) => checkFinite(`${what}[${i}]`, scores[i]));
}

/** Returns scores as float64, by task. @throws as `toScores`. */
export function toTasks(what: string, scores: TaskScores): Float64Array[] {
  if (!isList(scores))
    throw wrongType(what, 'a list', scores, 'Pass numbers, or a list of numbers per task.');
  const lists: ArrayLike<unknown> = scores;
  if (lists.length > 0 && !isList(lists[0])) return [toScores(what, scores)];
  if (lists.length === 0) throw noScores(what);
  return Array.from(lists, (task, t) => toScores(`${what}[${t}]`, task));
}

/** Validates a confidence, such as 0.95. @throws InputError `wrong_type` or `out_of_range`. */
export function toConfidence(confidence: number): number {
  if (checkFinite('confidence', confidence) > 0 && confidence < 1) return confidence;
  throw new InputError(
    'out_of_range',
    `Expected confidence to be more than 0 and less than 1, got ${describe(confidence)}. Pass 0.95 for 95 %.`,
  );
}

const noScores = (what: string): InputError =>
  new InputError('wrong_length', `Expected at least one score in ${what}, got none. Pass a score.`);
