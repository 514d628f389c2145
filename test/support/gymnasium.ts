/** Runs call sequences on Gymnasium's vector environment, in a Python process. */
import * as python from './python.js';

/** A step, or a reset of all or masked environments with a seed; environment i adds i to the seed. */
export type Call =
  | { readonly reset: number; readonly mask: readonly boolean[] | null }
  | { readonly step: readonly number[] };

export interface CallSequence {
  /** The autoreset mode in Gymnasium's spelling. */
  readonly mode: string;
  readonly calls: readonly Call[];
}

/** The results of a call: one value for each environment, or null if the call returns none. */
export interface Row {
  /** [step, last action] of each environment. */
  readonly observations: readonly (readonly number[])[];
  readonly rewards: readonly number[] | null;
  readonly terminated: readonly boolean[] | null;
  readonly truncated: readonly boolean[] | null;
  readonly finalObservations: readonly (readonly number[] | null)[];
  /** The seeds that the call set; null for no reset. */
  readonly seeds: readonly (number | null)[];
}
/** A refused call, which ends its sequence. */
export interface Refused {
  /** The name of the Python exception. */
  readonly refused: string;
}

const SCRIPT = 'gymnasium/sync_vec_env.py';

interface Trace {
  readonly version: string;
  readonly sequences: readonly { readonly mode: string; readonly rows: readonly (Row | Refused)[] }[];
}

const trace = (numEnvs: number, length: number, sequences: readonly CallSequence[]): Trace =>
  python.askPython(SCRIPT, { numEnvs, length, sequences });

/** Returns the reason why Gymnasium cannot run here, or null. @throws Error instead if `RHYTHM_REQUIRE` names gymnasium. */
export const whyAbsent = (): string | null =>
  python.whyAbsent('gymnasium', '1.1 or later', SCRIPT, { numEnvs: 1, length: 1, sequences: [] });

/** Returns what Gymnasium returns for each call sequence, with episodes of `length` steps. */
export function traceGymnasium(
  numEnvs: number,
  length: number,
  sequences: readonly CallSequence[],
): Trace['sequences'] {
  return trace(numEnvs, length, sequences).sequences;
}
