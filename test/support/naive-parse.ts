/** A naive parser of the text form, by the rules of docs/world.md. */
import { ACTION_NAMES } from '../../src/world/fields.js';

export interface NaiveAnswer {
  readonly action: string | null;
  readonly digits: readonly number[] | null;
}

const NAME = `(${ACTION_NAMES.join('|').replaceAll('_', '[-_]')})`;
const DIGITS = '(\\d) (\\d) (\\d)';
const actionNameOf = (name: string): string => name.toLowerCase().replaceAll('-', '_');
const FORMS: readonly [form: RegExp, read: (match: readonly string[]) => NaiveAnswer][] = [
  [new RegExp(`^${DIGITS} ${NAME}$`, 'i'), ([, s, m, w, name]) => answer(name, [s, m, w])],
  [new RegExp(`^${NAME} ${DIGITS}$`, 'i'), ([, name, s, m, w]) => answer(name, [s, m, w])],
  [new RegExp(`^${NAME}$`, 'i'), ([, name]) => answer(name, null)],
  [new RegExp(`^${DIGITS}$`), ([, ...digits]) => answer(null, digits)],
];

const answer = (name: string | null, digits: readonly string[] | null): NaiveAnswer => ({
  action: name === null ? null : actionNameOf(name),
  digits: digits?.map(Number) ?? null,
});

function parseLine(line: string): NaiveAnswer | null {
  const pieces = line
    .replace(/[`*"'()[\]{}]/g, '')
    .split(/[\s,]+/)
    .map((piece) => piece.replace(/[.!;:]+$/, ''))
    .filter((piece) => piece !== '');
  for (const [form, read] of FORMS) {
    const match = form.exec(pieces.join(' '));
    if (match !== null) return read(match);
  }
  return null;
}

const NAMES = 'reasoning think thinking thought thoughts reflection analysis scratchpad seed:think'.split(
  ' ',
);
const OPENING = [...NAMES.map((name) => `<${name}>`), '[think]'];
const CLOSING = [...NAMES.map((name) => `</${name}>`), '[/think]'];
/** Lower case of ASCII letters only, so that no text changes its length. */
const lower = (text: string): string => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());

/** Returns the text that may contain an answer: what follows the last finished thought, up to an unfinished one. */
function outsideThoughts(text: string, thought: 'closed' | 'open'): string {
  const tags = lower(text).split(/(<[^<>[\]]*>|\[[^<>[\]]*\])/);
  let opened: string | null = thought === 'open' ? '' : null;
  let [at, from, to, finished] = [0, 0, text.length, false];
  let inner: string[] = [];
  for (const tag of tags) {
    const name = tag.replace(/[<>[\]/]/g, '');
    if (CLOSING.includes(tag) && (opened || name) === name && !inner.includes(name)) {
      [opened, from, to, finished] = [null, at + tag.length, text.length, true];
      inner = [];
    } else if (OPENING.includes(tag)) {
      const repeated = opened === '' && text.slice(0, at).trim() === '';
      if (opened === null || repeated) [opened, to] = [name, at];
      else if (opened === '') inner.push(name);
    }
    at += tag.length;
  }
  return opened !== null && !finished ? '' : text.slice(from, to);
}

/** Returns the action and the digits of the belief in an answer; null for each that it lacks. */
export function naiveParse(text: string, thought: 'closed' | 'open' = 'closed'): NaiveAnswer {
  for (const line of outsideThoughts(text, thought)
    .split(/\r\n|\r|\n/)
    .reverse()) {
    const unlabelled = line.includes(':') ? parseLine(line.slice(line.indexOf(':') + 1)) : null;
    const read = unlabelled ?? parseLine(line);
    if (read !== null) return read;
  }
  return answer(null, null);
}
