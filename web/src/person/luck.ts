/**
 * How much of an anomaly luck can explain. A step adds noise to each meter, drawn uniformly between minus and plus the meter's
 * amplitude (docs/world.md, rule 3). An anomaly is this noise plus the difference between the responses of this person and of
 * a neutral profile (rule 4).
 */
import { METER_NAMES } from '../../../src/world/fields.js';
import { RHYTHM } from '../../../src/world/numbers.js';
import type { Transition } from './transitions.js';

/** The luck of one meter. */
export interface Luck {
  /** The most that luck changes the meter in a step: the amplitude of its noise. */
  readonly most: number;
  /** One standard deviation of the noise. */
  readonly usual: number;
}

/** The luck of each meter, by METER_NAMES. A uniform distribution has the standard deviation amplitude / √3. */
export const LUCK: readonly Luck[] = RHYTHM.noise.meters.map((most) => ({
  most,
  usual: most / Math.sqrt(3),
}));

/** Returns whether luck alone cannot explain an anomaly, so that a part of it comes from the person. */
export const isPersonal = (anomaly: number, meter: number): boolean => Math.abs(anomaly) > LUCK[meter].most;

/** Describes the luck of each meter, and how many anomalies it cannot explain. @param steps without the reset. */
export function luckInWords(steps: readonly Transition[]): string {
  return METER_NAMES.map((name, k) => {
    const personal = steps.filter(({ anomalies }) => isPersonal(anomalies[k], k)).length;
    const { usual, most } = LUCK[k];
    return (
      `${name}: luck is usually within ${usual.toFixed(3)} and at most ${most.toFixed(3)}; ` +
      `${personal} of ${steps.length} anomalies are larger.`
    );
  }).join(' ');
}
