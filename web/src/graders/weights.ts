/** Six weights that always sum to 1, in thousandths: what sliders move, and what a link and a file say. */
import { type Grader, validateGrader } from '../../../src/graders/grader.js';
import { SCHEMAS } from '../../../src/schemas.js';
import { COMPONENT_NAMES, GRADER_NAMES, NUM_COMPONENTS } from '../../../src/world/fields.js';
import { RHYTHM } from '../../../src/world/spec.js';

/** Of thousandths, by COMPONENT_NAMES: whole numbers from 0 to 1,000 whose sum is 1,000. */
export type Weights = readonly number[];

/** What the weights sum to. */
export const WHOLE = 1000;

export interface Preset {
  readonly name: string;
  readonly weights: Weights;
}

/** The engine's graders, and one that knows nothing better. */
export const PRESETS: readonly Preset[] = [
  ...GRADER_NAMES.map((name) => ({ name, weights: shared(RHYTHM.graders[name], WHOLE) })),
  { name: 'equal', weights: shared(Array(NUM_COMPONENTS).fill(1), WHOLE) },
];

export const presetOf = (weights: Weights): Preset | null =>
  PRESETS.find((preset) => preset.weights.every((weight, k) => weight === weights[k])) ?? null;

/** Sliders as they are moved. */
export interface Sliders {
  readonly weights: Weights;
  readonly locked: readonly boolean[];
  /** Which was moved last, and the weights before: so that going back and forth keeps the others' proportions. */
  readonly moved: number | null;
  readonly before: Weights;
}

export const slidersAt = (
  weights: Weights,
  locked: readonly boolean[] = Array(NUM_COMPONENTS).fill(false),
): Sliders => ({ weights, locked, moved: null, before: weights });

/** How far weight k can go: what is locked keeps its share. The two are equal for one that cannot move at all. */
export function rangeOf(
  { weights, locked }: Sliders,
  k: number,
): { readonly low: number; readonly high: number } {
  const others = locked.filter((isLocked, j) => !isLocked && j !== k).length;
  if (locked[k] || others === 0) return { low: weights[k], high: weights[k] };
  const kept = weights.reduce((sum, weight, j) => (locked[j] && j !== k ? sum + weight : sum), 0);
  return { low: 0, high: WHOLE - kept };
}

/** Moves weight k, as far as it can go; the others that are not locked share what is left in their proportions. */
export function moveWeight(sliders: Sliders, k: number, to: number): Sliders {
  const { low, high } = rangeOf(sliders, k);
  if (low === high) return sliders;
  const { weights, locked, moved } = sliders;
  const weight = Math.min(high, Math.max(low, Math.round(to)));
  const before = moved === k ? sliders.before : weights;
  const isFree = (j: number): boolean => j !== k && !locked[j];
  const kept = before.map((each, j) => (isFree(j) ? each : 0));
  const proportions = kept.some((each) => each > 0) ? kept : before.map((_, j) => Number(isFree(j)));
  const parts = shared(proportions, high - weight);
  return {
    ...{ locked, moved: k, before },
    weights: weights.map((each, j) => (j === k ? weight : isFree(j) ? parts[j] : each)),
  };
}

/** Locks weight k, or unlocks it. */
export const lockWeight = ({ weights, locked }: Sliders, k: number): Sliders =>
  slidersAt(
    weights,
    locked.map((isLocked, j) => (j === k ? !isLocked : isLocked)),
  );

/** Whole numbers in these proportions that sum to `total`: what rounding leaves goes to the largest remainders. */
export function shared(proportions: readonly number[], total: number): number[] {
  const sum = proportions.reduce((a, b) => a + b, 0);
  // In hundred-thousandths of a part: 0.15 of 1,000 is 150, whatever a float makes of it.
  const exact = proportions.map((each) => Math.round(((each * total) / sum) * 1e5) / 1e5);
  const parts = exact.map(Math.floor);
  const left = total - parts.reduce((a, b) => a + b, 0);
  const byRemainder = exact.map((each, k) => ({ k, remainder: each - parts[k] }));
  byRemainder.sort((a, b) => b.remainder - a.remainder || a.k - b.k);
  for (const { k } of byRemainder.slice(0, left)) parts[k]++;
  return parts;
}

/** [6], as the engine takes them. */
export const fractionsOf = (weights: Weights): number[] => weights.map((weight) => weight / WHOLE);

/** "0.15": all that there is of it. */
export const decimalOf = (weight: number): string => (weight / WHOLE).toFixed(3).replace(/(\.\d\d)0$/, '$1');

/** Weights from six decimals with commas between them, of which thousandths count; null for a text that is none. */
export function weightsFrom(text: string): Weights | null {
  const weights = text.split(',').map((part) => (part.trim() === '' ? Number.NaN : Number(part) * WHOLE));
  const rounded = weights.map(Math.round);
  const legal = rounded.length === NUM_COMPONENTS && rounded.every((weight) => weight >= 0);
  return legal && rounded.reduce((sum, weight) => sum + weight, 0) === WHOLE ? rounded : null;
}

/** The grader, checked by the engine. @throws InputError `bad_grader`, for a name that is none. */
export const graderOf = (weights: Weights, name = presetName(weights)): Grader =>
  validateGrader({
    name,
    weights: Object.fromEntries(COMPONENT_NAMES.map((component, k) => [component, weights[k] / WHOLE])),
  });

const presetName = (weights: Weights): string => presetOf(weights)?.name ?? 'custom';

/** A grader's file, as `rhythm-vec eval --grader` takes it. @throws as `graderOf`. */
export function graderFile(weights: Weights, name?: string): string {
  const grader = graderOf(weights, name);
  return `${JSON.stringify({ schema: SCHEMAS.grader, ...grader }, null, 2)}\n`;
}
