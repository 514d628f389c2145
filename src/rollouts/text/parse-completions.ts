/** Parses completions into actions and beliefs (docs/world.md, "The text form"). */
import { InputError } from '../../shared/errors.js';
import { checkInteger, checkName, describe, readOptions, wrongType } from '../../shared/values.js';
import { ACTION_NAMES, MAX_ENVS, NUM_BELIEFS } from '../../world/fields.js';
import { ParsedAnswer, parseAnswer } from './answer-grammar.js';
import { beginsInThought, type THOUGHT_STARTS } from './thoughts.js';

/** Three numbers, in the order of BELIEF_NAMES. */
export type Triple = readonly [social: number, morning: number, work: number];

/** A parsed completion. */
export interface ParsedCompletion {
  /** Action code, 0 to 9; null for no action. */
  readonly action: number | null;
  /** A name of ACTION_NAMES; null for no action. */
  readonly actionName: string | null;
  /** Float32 values in [0, 1]: each digit / 9; 0.5 each if the text has no belief. */
  readonly belief: Triple;
  /** The digits as written, 0 to 9 each; null for no belief. */
  readonly digits: Triple | null;
  /** Whether the text states a belief. */
  readonly given: boolean;
}

/** Many parsed completions. All arrays are newly allocated. */
export interface ParsedCompletions {
  /** i8 [n]: action codes, -1 for no action. */
  readonly actions: Int8Array;
  /** f32 [n, 3], row-major, in [0, 1]. The option `noBelief` sets rows without a belief. */
  readonly beliefs: Float32Array;
  /** u8 [n]: 1 if the text states a belief. */
  readonly given: Uint8Array;
}

/** Options of `parseCompletions`. */
export interface ParseOptions {
  /**
   * 'closed' (default), or 'open' for completions whose prompt ends inside a thought, as the chat templates of some models
   * write it: nothing counts before the thought's end, so a completion that was cut off inside it has no answer.
   */
  thought?: (typeof THOUGHT_STARTS)[number];
  /**
   * The values of `beliefs` in rows without a belief: 'half' (default) is 0.5 each, as in docs/world.md; 'nan' is three
   * NaN. `step` and `run` read NaN as no belief, and 0.5 as a stated belief.
   */
  noBelief?: 'half' | 'nan';
}

const OPTIONS: readonly (keyof ParseOptions)[] = ['noBelief', 'thought'];
const FILL = { half: 0.5, nan: Number.NaN };

const MAX_DIGIT = 9;
/** The belief value of each digit, 0 to 9. */
export const BELIEF_OF_DIGIT = Float32Array.from({ length: MAX_DIGIT + 1 }, (_, digit) => digit / MAX_DIGIT);
const HALF: Triple = Object.freeze([FILL.half, FILL.half, FILL.half] as const);

/** Reused by all calls, which are synchronous. */
const answer = new ParsedAnswer();

/**
 * Parses the answer of one completion: a line `S M W ACTION_NAME`, where S, M and W are the digits of the belief (social,
 * morning, work), with or without `<reasoning>...</reasoning>` before it. Nothing inside a thought is an answer. Any text
 * is accepted. The time is linear in the length of the text.
 * @throws InputError `wrong_type` for a value that is not a string; `unknown_option`, `unknown_name` or `wrong_type` for an
 *   invalid option.
 */
export function parseCompletion(text: string, options: Pick<ParseOptions, 'thought'> = {}): ParsedCompletion {
  const { thought } = readOptions('parse options', options, ['thought']);
  return parseText(checkText(text, 'text'), beginsInThought(thought));
}

/** As `parseCompletion`, for arguments that were validated. @param inThought whether the text begins inside a thought. */
export function parseText(text: string, inThought: boolean): ParsedCompletion {
  parseAnswer(text, answer, inThought);
  const { action, count, digits } = answer;
  const given = count > 0;
  return {
    action: action < 0 ? null : action,
    actionName: action < 0 ? null : ACTION_NAMES[action],
    belief: given
      ? [BELIEF_OF_DIGIT[digits[0]], BELIEF_OF_DIGIT[digits[1]], BELIEF_OF_DIGIT[digits[2]]]
      : HALF,
    digits: given ? [digits[0], digits[1], digits[2]] : null,
    given,
  };
}

/**
 * Parses many completions into arrays.
 * @throws InputError `wrong_type` for a value that is not an array or an entry that is not a string; `out_of_range` for
 *   more than 2^24 texts; `unknown_option`, `unknown_name` or `wrong_type` for an invalid option.
 */
export function parseCompletions(texts: readonly string[], options: ParseOptions = {}): ParsedCompletions {
  const { noBelief = 'half', thought } = readOptions('parse options', options, OPTIONS);
  const fill = FILL[checkName('noBelief', noBelief, ['half', 'nan'])];
  const inThought = beginsInThought(thought);
  const n = checkTexts(texts).length;
  const actions = new Int8Array(n);
  const beliefs = new Float32Array(n * NUM_BELIEFS);
  const given = new Uint8Array(n);
  for (let i = 0; i < n; i++) {
    const text = texts[i];
    parseAnswer(typeof text === 'string' ? text : refuseText(text, `texts[${i}]`), answer, inThought);
    const { action, count, digits } = answer;
    actions[i] = action;
    given[i] = count > 0 ? 1 : 0;
    for (let k = 0; k < NUM_BELIEFS; k++)
      beliefs[i * NUM_BELIEFS + k] = count > 0 ? BELIEF_OF_DIGIT[digits[k]] : fill;
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
