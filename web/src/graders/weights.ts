/** Weights in thousandths, which always sum to 1,000: for sliders, links and files. */
import { type Grader, validateGrader } from '../../../src/engine/graders/grader.js';
import type { Flip } from '../../../src/evaluation/weight-sensitivity.js';
import { SCHEMAS } from '../../../src/shared/schemas.js';
import { COMPONENT_NAMES, GRADER_NAMES, NUM_COMPONENTS } from '../../../src/world/fields.js';
import { RHYTHM } from '../../../src/world/numbers.js';

/** By COMPONENT_NAMES: whole thousandths from 0 to 1,000 that sum to 1,000. */
export type Weights = readonly number[];

/** The sum of the weights, in thousandths. */
export const WHOLE = 1000;

interface Preset {
  readonly name: string;
  readonly weights: Weights;
}

/** The built-in graders, and one of equal weights. */
export const PRESETS: readonly Preset[] = [
  ...GRADER_NAMES.map((name) => ({ name, weights: distribute(RHYTHM.graders[name], WHOLE) })),
  { name: 'equal', weights: distribute(Array(NUM_COMPONENTS).fill(1), WHOLE) },
];

/** Returns the preset with these weights; null for other weights. */
export const presetOf = (weights: Weights): Preset | null =>
  PRESETS.find((preset) => preset.weights.every((weight, k) => weight === weights[k])) ?? null;

/** The state of the sliders. */
export interface Sliders {
  readonly weights: Weights;
  readonly locked: readonly boolean[];
  /** The slider moved last; null if none was. */
  readonly moved: number | null;
  /** The weights before that move. Moving the slider back restores the proportions of the others. */
  readonly before: Weights;
}

/** Returns the sliders at these weights, with no move so far. */
export const slidersAt = (
  weights: Weights,
  locked: readonly boolean[] = Array(NUM_COMPONENTS).fill(false),
): Sliders => ({ weights, locked, moved: null, before: weights });

/** Returns the range of weight k while locked weights keep their values. Both ends are equal if it cannot move. */
export function rangeOf({ weights, locked }: Sliders, k: number) {
  const others = locked.filter((isLocked, j) => !isLocked && j !== k).length;
  if (locked[k] || others === 0) return { low: weights[k], high: weights[k] };
  const lockedSum = weights.reduce((sum, weight, j) => (locked[j] && j !== k ? sum + weight : sum), 0);
  return { low: 0, high: WHOLE - lockedSum };
}

/**
 * Moves weight k to `to` thousandths, or to the nearer end of its range. The other unlocked weights share the rest in the
 * proportions that they had before.
 */
export function moveWeight(sliders: Sliders, k: number, to: number): Sliders {
  const { low, high } = rangeOf(sliders, k);
  if (low === high) return sliders;
  const { weights, locked, moved } = sliders;
  const weight = Math.min(high, Math.max(low, Math.round(to)));
  const before = moved === k ? sliders.before : weights;
  const isFree = (j: number): boolean => j !== k && !locked[j];
  const freeWeights = before.map((each, j) => (isFree(j) ? each : 0));
  // If all free weights are 0, they share the rest evenly.
  const hasProportions = freeWeights.some((each) => each > 0);
  const proportions = hasProportions ? freeWeights : before.map((_, j) => Number(isFree(j)));
  const parts = distribute(proportions, high - weight);
  const next = weights.map((each, j) => (j === k ? weight : isFree(j) ? parts[j] : each));
  return { locked, moved: k, before, weights: next };
}

/** Locks or unlocks weight k. */
export const toggleLock = ({ weights, locked }: Sliders, k: number): Sliders =>
  slidersAt(weights, Object.assign([...locked], { [k]: !locked[k] }));

/** Returns the weight nearest to a flip, in thousandths, at which the flip has happened. @param now the current weight. */
export const beyond = ({ weight }: Flip, now: number): number =>
  weight < now ? Math.floor(weight * WHOLE) : Math.ceil(weight * WHOLE);

/** Distributes `total` in whole numbers by these proportions. The largest remainders are rounded up. */
export function distribute(proportions: readonly number[], total: number): number[] {
  const sum = proportions.reduce((a, b) => a + b, 0);
  // Rounded to five decimals, so that float errors do not matter: 0.15 of 1,000 is exactly 150.
  const exact = proportions.map((each) => Math.round(((each * total) / sum) * 1e5) / 1e5);
  const parts = exact.map(Math.floor);
  const remaining = total - parts.reduce((a, b) => a + b, 0);
  const byRemainder = exact.map((each, k) => ({ k, remainder: each - parts[k] }));
  byRemainder.sort((a, b) => b.remainder - a.remainder || a.k - b.k);
  for (const { k } of byRemainder.slice(0, remaining)) parts[k]++;
  return parts;
}

/** Returns the weights as fractions of 1, as graders have them. */
export const fractionsOf = (weights: Weights): number[] => weights.map((weight) => weight / WHOLE);

/** Formats thousandths as a fraction of 1: 150 as "0.15", 125 as "0.125". */
export const decimalOf = (weight: number): string => (weight / WHOLE).toFixed(3).replace(/(\.\d\d)0$/, '$1');

/** Parses decimals with commas between them, rounded to thousandths. Returns null if they are invalid or do not sum to 1. */
export function weightsFrom(text: string): Weights | null {
  const weights = text.split(',').map((part) => (part.trim() === '' ? Number.NaN : Number(part) * WHOLE));
  const rounded = weights.map(Math.round);
  const isValid = rounded.length === NUM_COMPONENTS && rounded.every((weight) => weight >= 0);
  return isValid && rounded.reduce((sum, weight) => sum + weight, 0) === WHOLE ? rounded : null;
}

/** Returns the grader with these weights, validated. @throws InputError `bad_grader` for an invalid name. */
export const graderOf = (weights: Weights, name = presetOf(weights)?.name ?? 'custom'): Grader =>
  validateGrader({
    name,
    weights: Object.fromEntries(COMPONENT_NAMES.map((component, k) => [component, weights[k] / WHOLE])),
  });

/** Returns the text of a grader file for `rhythm-vec eval --grader`. */
export const graderFile = (weights: Weights, name?: string): string =>
  `${JSON.stringify({ schema: SCHEMAS.grader, ...graderOf(weights, name) }, null, 2)}\n`;
