/** Gymnasium itself, in a Python process: what its vector environment does when it is called as ours is. */
import * as python from './python.js';

/** One call: a reset of all slots or of a mask's, with a seed to which slot i adds i; or a step. */
export type Call =
  | { readonly reset: number; readonly mask: readonly boolean[] | null }
  | { readonly step: readonly number[] };

export interface Story {
  /** As Gymnasium spells it. */
  readonly mode: string;
  readonly calls: readonly Call[];
}

/** What a call returned, a number a slot or null where it returns none. */
export interface Row {
  /** [step, last action] of each slot. */
  readonly observations: readonly (readonly number[])[];
  readonly rewards: readonly number[] | null;
  readonly terminated: readonly boolean[] | null;
  readonly truncated: readonly boolean[] | null;
  readonly finalObservations: readonly (readonly number[] | null)[];
  /** Those that the call gave to slots. */
  readonly seeds: readonly (number | null)[];
}
/** The call was not allowed. */
export interface Refused {
  readonly refused: string;
}

const SCRIPT = 'gymnasium/trace.py';

interface Answer {
  readonly version: string;
  readonly stories: readonly { readonly mode: string; readonly rows: readonly (Row | Refused)[] }[];
}

const ask = (numEnvs: number, length: number, stories: readonly Story[]): Answer =>
  python.askPython(SCRIPT, { numEnvs, length, stories });

/** Why Gymnasium cannot be asked here; null if it can. @throws if `RHYTHM_REQUIRE` names it and it cannot. */
export const whyAbsent = (): string | null =>
  python.whyAbsent('gymnasium', '1.1 or later', SCRIPT, { numEnvs: 1, length: 1, stories: [] });

/** The stories as Gymnasium tells them, of episodes of `length` steps. */
export function told(numEnvs: number, length: number, stories: readonly Story[]): Answer['stories'] {
  return ask(numEnvs, length, stories).stories;
}
