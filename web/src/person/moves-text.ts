/** The moves of a week as text for an address: short, exact, and of characters that need no escape. */
import { ACTION_NAMES, NUM_BELIEFS, NUM_STEPS } from '../../../src/world/fields.js';
import type { Move } from './week.js';

const f32 = Math.fround;
const [BETWEEN, WITHIN] = ['~', '_'];
/** What a float32 may need to be read back as it was. */
const MOST_DIGITS = 9;

/** One digit an action: "3305". */
export const tapeText = (moves: readonly Move[]): string => moves.map(({ action }) => action).join('');

/**
 * Where beliefs change: "0_.5_.5_.5~3_.62_.5_.4~9" gives one from the first move on, another from the fourth on, and
 * none from the tenth on. Empty if none is given.
 */
export function beliefsText(moves: readonly Move[]): string {
  const numbers = moves.map(({ belief }) =>
    (belief ?? []).map((each) => `${WITHIN}${decimal(each)}`).join(''),
  );
  return numbers
    .map((text, step) => ({ text, step }))
    .filter(({ text, step }) => text !== (numbers[step - 1] ?? ''))
    .map(({ text, step }) => `${step}${text}`)
    .join(BETWEEN);
}

/** The shortest decimal that is the same float32. */
function decimal(value: number): string {
  for (let digits = 1; ; digits++) {
    const text = String(Number(value.toPrecision(digits)));
    if (digits === MOST_DIGITS || f32(Number(text)) === f32(value)) return text.replace(/^0\./, '.');
  }
}

/** Moves from what the two wrote; what is not readable counts as not there, from the first bad place on. */
export function movesFrom(tape: string, beliefs: string): Move[] {
  const readable = new RegExp(`^[0-${ACTION_NAMES.length - 1}]{0,${NUM_STEPS}}`);
  const [actions] = readable.exec(tape)!;
  const changes = new Map(beliefs.split(BETWEEN).filter(Boolean).map(changeFrom));
  let belief: readonly number[] | null = null;
  return Array.from(actions, (digit, step) => {
    belief = changes.has(step) ? changes.get(step)! : belief;
    return { action: Number(digit), belief };
  });
}

function changeFrom(text: string): [step: number, belief: readonly number[] | null] {
  const [step, ...numbers] = text.split(WITHIN);
  const belief = numbers.map((number) => (number === '' ? Number.NaN : Number(number)));
  const good = belief.length === NUM_BELIEFS && belief.every((each) => each >= 0 && each <= 1);
  return [Number(step), good ? belief : null];
}
