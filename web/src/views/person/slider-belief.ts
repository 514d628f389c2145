/** The values of the belief sliders, and whether they are stated. */
import type { Move } from '../../person/episode-types.js';

export interface SliderBelief {
  /** By BELIEF_NAMES, in [0, 1]. */
  readonly values: readonly number[];
  /** Whether the next action states the values. */
  readonly stated: boolean;
}

/** The values before the user moves a slider. */
const NEUTRAL: readonly number[] = [0.5, 0.5, 0.5];

/** Returns the sliders after these moves: no belief is stated before the user moves a slider or checks the checkbox. */
export function sliderBeliefAfter(moves: readonly Move[]): SliderBelief {
  const last = moves.at(-1)?.belief ?? null;
  const values = moves.flatMap(({ belief }) => (belief === null ? [] : [belief])).at(-1) ?? NEUTRAL;
  return { values, stated: last !== null };
}

/** Returns the belief of the next move; null for none. */
export const statedBelief = ({ values, stated }: SliderBelief): Move['belief'] => (stated ? values : null);
