/** Tapes: the same 28 actions for everybody, whoever they are. */
import { ACTION_NAMES, NUM_STEPS } from '../world/fields.js';

/** Tapes by the name of the grader that they were found for: 28 names of ACTION_NAMES each. One is for v2. */
export interface GraderTapes {
  readonly v2: readonly string[];
  readonly [grader: string]: readonly string[];
}

/** Whose tape is played under a grader: its own, or v2's where there is none. */
export const tapeUnder = (tapes: GraderTapes, grader: string): string =>
  Object.hasOwn(tapes, grader) ? grader : 'v2';

/** u8 [numEnvs, 28]: one tape in every slot. */
export function tapeForAll(actions: readonly string[], numEnvs: number): Uint8Array {
  const tape = new Uint8Array(numEnvs * NUM_STEPS);
  tape.set(actions.map((name) => ACTION_NAMES.indexOf(name)));
  for (let done = NUM_STEPS; done < tape.length; done *= 2) tape.copyWithin(done, 0, done);
  return tape;
}
