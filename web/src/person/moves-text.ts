/** Writes and parses the moves of an episode as short, exact text that needs no escapes in an address. */
import { float32Decimal } from '../../../src/shared/float32-decimal.js';
import { ACTION_NAMES, NUM_BELIEFS, NUM_STEPS } from '../../../src/world/fields.js';
import type { Move } from './episode-types.js';

const [AFTER_ACTIONS, BETWEEN_CHANGES, BEFORE_NUMBER] = ['-', '~', '_'];

/**
 * Returns moves as text: a digit per action, then the changes of the belief. "3305-0_.5_.5_.5~3_.62_.5_.4" states one
 * belief from the first move on and another from the fourth on. A final "~9" means no belief from the tenth move on.
 */
export function movesText(moves: readonly Move[]): string {
  const sequence = moves.map(({ action }) => action).join('');
  const beliefs = beliefsText(moves);
  return beliefs === '' ? sequence : `${sequence}${AFTER_ACTIONS}${beliefs}`;
}

function beliefsText(moves: readonly Move[]): string {
  const texts = moves.map(({ belief }) =>
    (belief ?? []).map((each) => `${BEFORE_NUMBER}${decimal(each)}`).join(''),
  );
  return texts
    .map((text, step) => ({ text, step }))
    .filter(({ text, step }) => text !== (texts[step - 1] ?? ''))
    .map(({ text, step }) => `${step}${text}`)
    .join(BETWEEN_CHANGES);
}

/** Returns the shortest decimal of the number as a float32, without the zero before the point. */
const decimal = (value: number): string => String(float32Decimal(Math.fround(value))).replace(/^0\./, '.');

const PATTERN = new RegExp(`^([0-${ACTION_NAMES.length - 1}]{0,${NUM_STEPS}})(?:-(.+))?$`);

/** Parses moves; null for invalid text. */
export function movesFrom(text: string): Move[] | null {
  const [, sequence = null, beliefs = ''] = PATTERN.exec(text) ?? [];
  const changes = beliefs.split(BETWEEN_CHANGES).filter(Boolean).map(changeFrom);
  if (sequence === null || changes.includes(null)) return null;
  const byStep = new Map(changes as readonly Change[]);
  let belief: readonly number[] | null = null;
  return Array.from(sequence, (digit, step) => {
    if (byStep.has(step)) belief = byStep.get(step)!;
    return { action: Number(digit), belief };
  });
}

type Change = readonly [step: number, belief: readonly number[] | null];

function changeFrom(text: string): Change | null {
  const [step, ...numbers] = text.split(BEFORE_NUMBER);
  const belief = numbers.map((number) => (number === '' ? Number.NaN : Number(number)));
  const isBelief = belief.length === NUM_BELIEFS && belief.every((each) => each >= 0 && each <= 1);
  if (!/^\d{1,2}$/.test(step) || (belief.length > 0 && !isBelief)) return null;
  return [Number(step), isBelief ? belief : null];
}
