/** Tapes: the same 28 actions for everybody, whoever they are. */
import { InputError } from '../errors.js';
import { didYouMean } from '../suggest.js';
import { ACTION_NAMES, NUM_STEPS } from '../world/fields.js';
import { BLIND_TAPES } from './blind-tapes.js';

const { tapes } = BLIND_TAPES;
const KEPT = Object.keys(tapes) as (keyof typeof tapes)[];

/**
 * The person-blind baseline, codes of the best known tape for everybody: u8 [28], newly allocated.
 * @param grader 'v1' or 'v2'. @throws InputError `unknown_name`.
 */
export function blindTape(grader: string): Uint8Array {
  const kept = KEPT.find((name) => name === grader);
  if (kept !== undefined) {
    return Uint8Array.from(tapes[kept].days.flat(), (name) => ACTION_NAMES.indexOf(name));
  }
  throw new InputError(
    'unknown_name',
    `Expected a grader that a blind tape is kept for, one of ${KEPT.join(', ')}, got ${JSON.stringify(grader)}.` +
      didYouMean(grader, KEPT, ' Call searchTape for another.'),
  );
}

/** Whose blind tape is played under a grader: its own, or v2's where none is kept. */
export const tapeUnder = (grader: string): string => KEPT.find((name) => name === grader) ?? 'v2';

/** u8 [numEnvs, 28]: one tape, 28 codes, in every slot. */
export function repeatTape(codes: ArrayLike<number>, numEnvs: number): Uint8Array {
  const tape = new Uint8Array(numEnvs * NUM_STEPS);
  tape.set(codes);
  for (let done = NUM_STEPS; done < tape.length; done *= 2) tape.copyWithin(done, 0, done);
  return tape;
}
