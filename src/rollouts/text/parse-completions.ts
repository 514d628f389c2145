/**
 * Parses completions into actions and beliefs (docs/world.md, "The text form"). The patterns are in text.json, which the Python
 * package reads too.
 */
import { NO_ACTION } from '../../engine/validate/steps.js';
import { InputError } from '../../shared/errors.js';
import { checkInteger, checkName, describe, readOptions, wrongType } from '../../shared/values.js';
import { ACTION_NAMES, MAX_ENVS, NUM_BELIEFS } from '../../world/fields.js';
import TEXT from './text.json' with { type: 'json' };

/** How a completion begins: outside a thought, or inside a thought that its prompt opened. */
export const THOUGHT_STARTS = ['closed', 'open'] as const;

/** Returns whether completions begin inside a thought. @throws InputError `unknown_name` or `wrong_type`. */
export const beginsInThought = (thought: string = 'closed'): boolean =>
  checkName('thought', thought, THOUGHT_STARTS) === 'open';

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
  const { action, digits } = findAnswer(text, inThought);
  return {
    action: action < 0 ? null : action,
    actionName: action < 0 ? null : ACTION_NAMES[action],
    belief: digits === null ? HALF : beliefOf(digits),
    digits,
    given: digits !== null,
  };
}

const beliefOf = ([s, m, w]: Triple): Triple => [BELIEF_OF_DIGIT[s], BELIEF_OF_DIGIT[m], BELIEF_OF_DIGIT[w]];

/**
 * Parses many completions into arrays.
 * @throws InputError `wrong_type` for a value that is not an array or an entry that is not a string; `out_of_range` for
 *   more than 2^24 texts; `unknown_option`, `unknown_name` or `wrong_type` for an invalid option.
 */
export function parseCompletions(texts: readonly string[], options: ParseOptions = {}): ParsedCompletions {
  const { noBelief = 'half', thought } = readOptions('parse options', options, OPTIONS);
  const none = Array<number>(NUM_BELIEFS).fill(FILL[checkName('noBelief', noBelief, ['half', 'nan'])]);
  const inThought = beginsInThought(thought);
  const n = checkTexts(texts).length;
  const actions = new Int8Array(n);
  const beliefs = new Float32Array(n * NUM_BELIEFS);
  const given = new Uint8Array(n);
  for (let i = 0; i < n; i++) {
    const text = texts[i];
    const { action, digits } = findAnswer(checkText(text, `texts[${i}]`), inThought);
    actions[i] = action;
    given[i] = digits === null ? 0 : 1;
    beliefs.set(digits === null ? none : beliefOf(digits), i * NUM_BELIEFS);
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
  throw new InputError('wrong_type', {
    expected: `a string at ${where}`,
    got: describe(text),
    remedy: "Pass the completion's text alone, without its role.",
  });
}

/** A thought of a text. All numbers are indices of UTF-16 code units. */
interface Thought {
  /** The name of its opening tag, in lower case; null if only the prompt has that tag. */
  readonly name: string | null;
  /** Where it begins, with its opening tag. */
  readonly start: number;
  /** The range of its text, without the tags. */
  readonly from: number;
  readonly to: number;
  /** Where its closing tag ends; null for an unfinished thought, which has none. */
  readonly end: number | null;
}

/** A tag that opens or closes a thought. Without the flag u, ignoring case concerns ASCII letters only. */
const TAG = new RegExp(TEXT.answer.tag, 'gi');

/**
 * Returns the first thought at index `at` or later; null if there is none. A thought ends at the closing tag of its own name.
 * One of which the text has only the closing tag ends at any. One that the prompt opened ends at any whose opening tag it does
 * not contain: it may quote the form of an answer, with tags. A tag that it begins with repeats the prompt's.
 * @param inThought whether index `at` is inside a thought that the prompt opened.
 */
export function nextThought(text: string, at: number, inThought: boolean): Thought | null {
  TAG.lastIndex = at;
  let name: string | null = null;
  let [start, from, isInside] = [at, at, inThought];
  /** The names of opening tags inside a thought that the prompt opened. */
  let inner: Set<string> | null = null;
  for (let tag = TAG.exec(text); tag !== null; tag = TAG.exec(text)) {
    const tagName = (tag[2] ?? tag[4]).toLowerCase();
    const isClosing = (tag[1] ?? tag[3]) !== '';
    if (isClosing) {
      if ((name ?? tagName) === tagName && !inner?.has(tagName))
        return { name, start, from, to: tag.index, end: TAG.lastIndex };
    } else if (!isInside || (name === null && inner === null && text.slice(at, tag.index).trim() === '')) {
      [name, start, from, isInside] = [tagName, tag.index, TAG.lastIndex, true];
    } else if (name === null) {
      inner = (inner ?? new Set()).add(tagName);
    }
  }
  return isInside ? { name, start, from, to: text.length, end: null } : null;
}

/**
 * Returns the range in which an answer may be: after the last finished thought and before an unfinished one; an empty range
 * if the only thought is unfinished.
 * @param inThought whether the text begins inside a thought.
 */
function answerRange(text: string, inThought: boolean): { from: number; to: number } {
  let from: number | null = null;
  for (let at = 0; ; at = from) {
    const thought = nextThought(text, at, inThought && from === null);
    if (thought === null) return { from: from ?? 0, to: text.length };
    if (thought.end === null) return { from: from ?? thought.start, to: thought.start };
    from = thought.end;
  }
}

/** The action code, -1 for none, and the digits in an answer. */
interface Answer {
  readonly action: number;
  readonly digits: Triple | null;
}

/** Finds the answer from the last line to the first, in linear time. */
function findAnswer(text: string, inThought: boolean): Answer {
  const { from: start, to: end } = answerRange(text, inThought);
  for (let to = end; to > start; ) {
    let from = to;
    while (from > start && !isLineBreak(text.charCodeAt(from - 1))) from--;
    const line = text.slice(from, to);
    // Without its label, which ends at the first colon, then with it.
    const colon = line.indexOf(':');
    const answer = (colon < 0 ? null : readLine(line.slice(colon + 1))) ?? readLine(line);
    if (answer !== null) return answer;
    to = from - 1;
  }
  return NO_ANSWER;
}

const NO_ANSWER: Answer = { action: NO_ACTION, digits: null };
const [LF, CR] = [10, 13];
/** CR LF counts as two line breaks: the line between them is empty and holds no answer. */
const isLineBreak = (unit: number): boolean => unit === LF || unit === CR;

const { space, gap, line, dropped } = TEXT.answer;
const DROPPED = new RegExp(dropped, 'g');
const NAMES = ACTION_NAMES.join('|').replaceAll('_', '[-_]');
const LINE = new RegExp(
  `^(?:${line.replaceAll('{gap}', gap).replaceAll('{space}', space).replaceAll('{name}', NAMES)})$`,
  'i',
);

/** Returns the answer that a line is; null if it is none. */
function readLine(words: string): Answer | null {
  const match = LINE.exec(words.replace(DROPPED, ''));
  if (match === null) return null;
  const [, s1, m1, w1, name1, name2, s2, m2, w2] = match;
  const [s, m, w, name] = [s1 ?? s2, m1 ?? m2, w1 ?? w2, name1 ?? name2];
  return {
    action: name === undefined ? NO_ACTION : CODES.get(name.toLowerCase().replaceAll('-', '_'))!,
    digits: s === undefined ? null : [Number(s), Number(m), Number(w)],
  };
}

const CODES = new Map<string, number>(ACTION_NAMES.map((name, code) => [name, code]));
