/** The moves of a week as text for an address: short, exact, and of characters that need no escape. */
import { ACTION_NAMES, NUM_BELIEFS, NUM_STEPS } from '../../../src/world/fields.js';
import type { Move } from './week.js';

const f32 = Math.fround;
const [BEHIND_TAPE, BETWEEN, WITHIN] = ['-', '~', '_'];
/** What a float32 may need to be read back as it was. */
const MOST_DIGITS = 9;

/**
 * Moves as text: a digit an action, then where beliefs change. "3305-0_.5_.5_.5~3_.62_.5_.4" gives one belief from the
 * first move on and another from the fourth on; "~9" behind it would give none from the tenth on.
 */
export function movesText(moves: readonly Move[]): string {
  const tape = moves.map(({ action }) => action).join('');
  const beliefs = beliefsText(moves);
  return beliefs === '' ? tape : `${tape}${BEHIND_TAPE}${beliefs}`;
}

function beliefsText(moves: readonly Move[]): string {
  const texts = moves.map(({ belief }) => (belief ?? []).map((each) => `${WITHIN}${decimal(each)}`).join(''));
  return texts
    .map((text, step) => ({ text, step }))
    .filter(({ text, step }) => text !== (texts[step - 1] ?? ''))
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

const LEGAL = new RegExp(`^([0-${ACTION_NAMES.length - 1}]{0,${NUM_STEPS}})(?:-(.+))?$`);

/** Moves from such a text; null for one that is none. */
export function movesFrom(text: string): Move[] | null {
  const [, tape = null, beliefs = ''] = LEGAL.exec(text) ?? [];
  const changes = beliefs.split(BETWEEN).filter(Boolean).map(changeFrom);
  if (tape === null || changes.includes(null)) return null;
  const byStep = new Map(changes as readonly Change[]);
  let belief: readonly number[] | null = null;
  return Array.from(tape, (digit, step) => {
    if (byStep.has(step)) belief = byStep.get(step)!;
    return { action: Number(digit), belief };
  });
}

type Change = readonly [step: number, belief: readonly number[] | null];

function changeFrom(text: string): Change | null {
  const [step, ...numbers] = text.split(WITHIN);
  const belief = numbers.map((number) => (number === '' ? Number.NaN : Number(number)));
  const isBelief = belief.length === NUM_BELIEFS && belief.every((each) => each >= 0 && each <= 1);
  if (!/^\d{1,2}$/.test(step) || (belief.length > 0 && !isBelief)) return null;
  return [Number(step), isBelief ? belief : null];
}
