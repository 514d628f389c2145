/** Completions of a language model into actions and beliefs (world page, The text form). */
import { InputError } from '../errors.js';
import { checkInteger, checkName, describe, readOptions, wrongType } from '../validate/values.js';
import { ACTION_NAMES, MAX_ENVS, NUM_BELIEFS } from '../world/fields.js';
import { Answer, readAnswer } from './answer.js';

/** Three numbers, by BELIEF_NAMES. */
export type Triple = readonly [social: number, morning: number, work: number];

/** What a completion answers. */
export interface ParsedCompletion {
  /** Code, 0 to 9; null if the text names none. */
  readonly action: number | null;
  /** Of ACTION_NAMES; null if the text names none. */
  readonly actionName: string | null;
  /** Float32 values in [0, 1]: digits / 9; 0.5 each if none is given. */
  readonly belief: Triple;
  /** 0 to 9 each, as written; null if none is given. */
  readonly digits: Triple | null;
  /** Whether the text gives a belief. */
  readonly given: boolean;
}

/** What many completions answer; all arrays newly allocated. */
export interface ParsedCompletions {
  /** i8 [n]: codes, -1 where the text names none. */
  readonly actions: Int8Array;
  /** f32 [n, 3], row-major, in [0, 1]; where none is given 0.5 each, or NaN if `noBelief` says so. */
  readonly beliefs: Float32Array;
  /** u8 [n]: 1 where a belief is given. */
  readonly given: Uint8Array;
}

export interface ParseOptions {
  /**
   * What `beliefs` holds where none is given: 'half' (default), 0.5 each as the world page has it; or 'nan', three NaN, as
   * `step` and `run` take a belief that is not given. A half that is passed to `step` counts as given.
   */
  noBelief?: 'half' | 'nan';
}

const OPTIONS: readonly (keyof ParseOptions)[] = ['noBelief'];
const FILL = { half: 0.5, nan: Number.NaN };

const MAX_DIGIT = 9;
/** The number of a belief that a digit stands for. */
const VALUE = Float32Array.from({ length: MAX_DIGIT + 1 }, (_, digit) => digit / MAX_DIGIT);
const HALF: Triple = Object.freeze([FILL.half, FILL.half, FILL.half] as const);

/** No call interrupts another. */
const answer = new Answer();

/**
 * Reads the answer of one completion: a line `S M W ACTION_NAME`, after `<reasoning>...</reasoning>` or without. Any text
 * is read, in time linear in its length; where there is no answer, none is found.
 * @throws InputError `wrong_type` for what is no string.
 */
export function parseCompletion(text: string): ParsedCompletion {
  readAnswer(checkText(text, 'text'), answer);
  const { action, count, digits } = answer;
  const given = count > 0;
  return {
    action: action < 0 ? null : action,
    actionName: action < 0 ? null : ACTION_NAMES[action],
    belief: given ? [VALUE[digits[0]], VALUE[digits[1]], VALUE[digits[2]]] : HALF,
    digits: given ? [digits[0], digits[1], digits[2]] : null,
    given,
  };
}

/**
 * `parseCompletion` of many texts, into arrays.
 * @throws InputError `wrong_type` for what is no array, or an entry that is no string, `unknown_option`, `unknown_name`.
 */
export function parseCompletions(texts: readonly string[], options: ParseOptions = {}): ParsedCompletions {
  const { noBelief = 'half' } = readOptions('parse options', options, OPTIONS);
  const fill = FILL[checkName('noBelief', noBelief, ['half', 'nan'])];
  const n = checkTexts(texts).length;
  const actions = new Int8Array(n);
  const beliefs = new Float32Array(n * NUM_BELIEFS);
  const given = new Uint8Array(n);
  for (let i = 0; i < n; i++) {
    const text = texts[i];
    readAnswer(typeof text === 'string' ? text : refuseText(text, `texts[${i}]`), answer);
    const { action, count, digits } = answer;
    actions[i] = action;
    given[i] = count > 0 ? 1 : 0;
    for (let k = 0; k < NUM_BELIEFS; k++) beliefs[i * NUM_BELIEFS + k] = count > 0 ? VALUE[digits[k]] : fill;
  }
  return { actions, beliefs, given };
}

function checkTexts(texts: readonly string[]): readonly string[] {
  if (Array.isArray(texts)) {
    checkInteger('the number of texts', texts.length, 0, MAX_ENVS);
    return texts;
  }
  throw wrongType('texts', 'an array of strings', texts, 'Pass one completion per entry.');
}

const checkText = (text: unknown, where: string): string =>
  typeof text === 'string' ? text : refuseText(text, where);

function refuseText(text: unknown, where: string): never {
  throw new InputError(
    'wrong_type',
    `Expected a string at ${where}, got ${describe(text)}. Pass the completion's text alone, without its role.`,
  );
}
