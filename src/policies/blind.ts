/** The person-blind baseline: one tape for everybody, the best that a search found. */
import { InputError } from '../errors.js';
import { didYouMean } from '../suggest.js';
import { ACTION_NAMES } from '../world/fields.js';
import { BLIND_TAPES } from './blind-tapes.js';

/**
 * Codes of the best known tape for everybody: u8 [28], newly allocated.
 * @param grader 'v1' or 'v2'. @throws InputError `unknown_name`.
 */
export function blindTape(grader: string): Uint8Array {
  const { tapes } = BLIND_TAPES;
  const known = Object.keys(tapes);
  if (known.includes(grader)) {
    const { days } = tapes[grader as keyof typeof tapes];
    return Uint8Array.from(days.flat(), (name) => ACTION_NAMES.indexOf(name));
  }
  throw new InputError(
    'unknown_name',
    `Expected a grader that a blind tape is kept for, one of ${known.join(', ')}, got ${JSON.stringify(grader)}.` +
      didYouMean(grader, known, ' Call searchTape for another.'),
  );
}
