/** Open-loop policies: the same 28 actions in every episode. */
import { InputError } from '../../shared/errors.js';
import { didYouMean } from '../../shared/names.js';
import { ACTION_NAMES, NUM_STEPS } from '../../world/fields.js';
import { OPEN_LOOP_SEQUENCES } from './generated/open-loop-sequences.js';

const { sequences } = OPEN_LOOP_SEQUENCES;
const GRADERS = Object.keys(sequences) as (keyof typeof sequences)[];

/**
 * Returns the best known action sequence for all profiles under a grader: u8 [28], newly allocated.
 * @param grader a name of GRADER_NAMES. @throws InputError `unknown_name`.
 */
export function openLoopActions(grader: string): Uint8Array {
  const known = GRADERS.find((name) => name === grader);
  if (known !== undefined) {
    return Uint8Array.from(sequences[known].days.flat(), (name) => ACTION_NAMES.indexOf(name));
  }
  throw new InputError(
    'unknown_name',
    `Expected a grader with an open-loop sequence, one of ${GRADERS.join(', ')}, got ${JSON.stringify(grader)}.` +
      didYouMean(grader, GRADERS, ' Call searchActionSequence for other graders.'),
  );
}

/**
 * Returns the grader whose stored policies (the open-loop sequence, the reactive policy) are played under a grader: the grader
 * itself, or v2 if none are stored for it.
 */
export const sequenceGraderUnder = (grader: string): string =>
  GRADERS.find((name) => name === grader) ?? 'v2';

/** Returns u8 [numEnvs, 28]: one action sequence of 28 codes, repeated for every environment. */
export function repeatActions(codes: ArrayLike<number>, numEnvs: number): Uint8Array {
  const sequence = new Uint8Array(numEnvs * NUM_STEPS);
  sequence.set(codes);
  for (let length = NUM_STEPS; length < sequence.length; length *= 2) sequence.copyWithin(length, 0, length);
  return sequence;
}
