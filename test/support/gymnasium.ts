/** Gymnasium itself, in a Python process: what its vector environment does when it is called as ours is. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { isRequired } from './required.js';

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

/** An interpreter that has gymnasium: `RHYTHM_PYTHON`, else `python3`. */
const PYTHON = process.env.RHYTHM_PYTHON ?? 'python3';
const SCRIPT = fileURLToPath(new URL('../peers/gymnasium/trace.py', import.meta.url));

interface Answer {
  readonly version: string;
  readonly stories: readonly { readonly mode: string; readonly rows: readonly (Row | Refused)[] }[];
}

function ask(numEnvs: number, length: number, stories: readonly Story[]): Answer {
  const input = JSON.stringify({ numEnvs, length, stories });
  const options = { input, encoding: 'utf8', timeout: 100_000, maxBuffer: 2 ** 28 } as const;
  const { error, status, stdout, stderr } = spawnSync(PYTHON, [SCRIPT], options);
  if (error !== undefined) throw error;
  if (status !== 0) throw new Error(stderr.trim().split('\n').pop());
  return JSON.parse(stdout);
}

/** Why Gymnasium cannot be asked here; null if it can. @throws if `RHYTHM_REQUIRE` names it and it cannot. */
export function whyAbsent(): string | null {
  try {
    ask(1, 1, []);
    return null;
  } catch (error) {
    if (isRequired('gymnasium')) throw error;
    return `${(error as Error).message}; install gymnasium 1.1 or later for the Python that RHYTHM_PYTHON names`;
  }
}

/** The stories as Gymnasium tells them, of episodes of `length` steps. */
export function told(numEnvs: number, length: number, stories: readonly Story[]): Answer['stories'] {
  return ask(numEnvs, length, stories).stories;
}
