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

/** Returns the action and the digits of the belief in an answer; null for each that it lacks. */
export function naiveParse(text: string): NaiveAnswer {
  const parts = text.split(/<\/reasoning>/i);
  if (parts.length === 1 && /<reasoning>/i.test(text)) return answer(null, null);
  for (const line of parts[parts.length - 1].split(/\r\n|\r|\n/).reverse()) {
    const unlabelled = line.includes(':') ? parseLine(line.slice(line.indexOf(':') + 1)) : null;
    const read = unlabelled ?? parseLine(line);
    if (read !== null) return read;
  }
  return answer(null, null);
}
