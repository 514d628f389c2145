/** Open-loop policies: the same 28 actions in every episode. */
import { InputError } from '../../shared/errors.js';
import { didYouMean } from '../../shared/suggest.js';
import { ACTION_NAMES, NUM_STEPS } from '../../world/fields.js';
import { OPEN_LOOP_SEQUENCES } from './open-loop-sequences.js';

const { sequences } = OPEN_LOOP_SEQUENCES;
const KEPT = Object.keys(sequences) as (keyof typeof sequences)[];

/**
 * Returns the actions of the open-loop baseline, the best known sequence for all profiles: u8 [28], newly allocated.
 * @param grader 'v1' or 'v2'. @throws InputError `unknown_name`.
 */
export function openLoopActions(grader: string): Uint8Array {
  const kept = KEPT.find((name) => name === grader);
  if (kept !== undefined) {
    return Uint8Array.from(sequences[kept].days.flat(), (name) => ACTION_NAMES.indexOf(name));
  }
  throw new InputError(
    'unknown_name',
    `Expected a grader with an open-loop sequence, one of ${KEPT.join(', ')}, got ${JSON.stringify(grader)}.` +
      didYouMean(grader, KEPT, ' Call searchActionSequence for other graders.'),
  );
}

/** Returns the grader whose open-loop sequence is played under a grader: itself, or v2 if it has none. */
export const sequenceGraderUnder = (grader: string): string => KEPT.find((name) => name === grader) ?? 'v2';

/** Returns u8 [numEnvs, 28]: one action sequence of 28 codes, repeated for every environment. */
export function repeatActions(codes: ArrayLike<number>, numEnvs: number): Uint8Array {
  const sequence = new Uint8Array(numEnvs * NUM_STEPS);
  sequence.set(codes);
  for (let done = NUM_STEPS; done < sequence.length; done *= 2) sequence.copyWithin(done, 0, done);
  return sequence;
}
