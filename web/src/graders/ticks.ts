/** The weights at which two neighbours of the ranking change places, as marks of a slider. */
import type { Flip, WeightSensitivity } from '../../../src/evaluation/weight-sensitivity.js';
import { WHOLE } from './weights.js';

export interface Tick {
  /** The nearest weight beyond the change, in thousandths. */
  readonly to: number;
  /** "planner passes heuristic". */
  readonly words: string;
}

/** Returns where to move a weight so that a flip has happened, in thousandths. */
export const beyond = ({ weight }: Flip, now: number): number =>
  weight < now ? Math.floor(weight * WHOLE) : Math.ceil(weight * WHOLE);

/** Returns the ticks of a component, in ascending order, one for each weight. */
export function ticksOf({ weight, leads }: WeightSensitivity): Tick[] {
  const flips = leads.flatMap(({ below, above }) => [below, above]).filter((flip) => flip !== null);
  const byWeight = new Map<number, string[]>();
  for (const flip of flips) {
    const to = beyond(flip, weight);
    byWeight.set(to, [...(byWeight.get(to) ?? []), `${flip.policy} passes ${flip.passed}`]);
  }
  return Array.from(byWeight, ([to, words]) => ({ to, words: words.join('; ') })).sort((a, b) => a.to - b.to);
}
