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
/** A refused call. */
export interface Refused {
  readonly refused: string;
}

const SCRIPT = 'gymnasium/trace.py';

interface Answer {
  readonly version: string;
  readonly sequences: readonly { readonly mode: string; readonly rows: readonly (Row | Refused)[] }[];
}

const ask = (numEnvs: number, length: number, sequences: readonly CallSequence[]): Answer =>
  python.askPython(SCRIPT, { numEnvs, length, sequences });

/** Returns why Gymnasium cannot run here; null if it can. @throws if `RHYTHM_REQUIRE` names it and it cannot. */
export const whyAbsent = (): string | null =>
  python.whyAbsent('gymnasium', '1.1 or later', SCRIPT, { numEnvs: 1, length: 1, sequences: [] });

/** Returns what Gymnasium returns for each call sequence, with episodes of `length` steps. */
export function traceGymnasium(
  numEnvs: number,
  length: number,
  sequences: readonly CallSequence[],
): Answer['sequences'] {
  return ask(numEnvs, length, sequences).sequences;
}
