/** The weights at which two neighbours of the ranking change places (a flip), as marks of a slider (ticks). */
import type { Flip, WeightSensitivity } from '../../../src/evaluation/weight-sensitivity.js';
import { WHOLE } from './weights.js';

export interface Tick {
  /** The nearest weight beyond the flip, in thousandths. */
  readonly to: number;
  /** "planner passes heuristic". */
  readonly words: string;
}

/** Returns the weight nearest to a flip, in thousandths, at which the flip has happened. @param now the current weight. */
export const beyond = ({ weight }: Flip, now: number): number =>
  weight < now ? Math.floor(weight * WHOLE) : Math.ceil(weight * WHOLE);

/** Returns the ticks of a component's slider, in ascending order. Flips with the same `to` share a tick. */
export function ticksOf({ weight, leads }: WeightSensitivity): Tick[] {
  const flips = leads.flatMap(({ below, above }) => [below, above]).filter((flip) => flip !== null);
  const byWeight = new Map<number, string[]>();
  for (const flip of flips) {
    const to = beyond(flip, weight);
    byWeight.set(to, [...(byWeight.get(to) ?? []), `${flip.policy} passes ${flip.passed}`]);
  }
  return Array.from(byWeight, ([to, words]) => ({ to, words: words.join('; ') })).sort((a, b) => a.to - b.to);
}
