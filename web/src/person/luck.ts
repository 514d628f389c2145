/**
 * How much of an anomaly luck can explain. A step adds noise to each meter, drawn uniformly between minus and plus the meter's
 * amplitude (docs/world.md, rule 3). An anomaly is this noise plus the difference between the responses of this person and of
 * a neutral profile (rule 4).
 */
import { RHYTHM } from '../../../src/world/numbers.js';

/** The most that luck changes each meter in a step, by METER_NAMES: the amplitude of its noise. */
export const LUCK: readonly number[] = RHYTHM.noise.meters;

/** Returns whether luck alone cannot explain an anomaly, so that a part of it comes from the person. */
export const isPersonal = (anomaly: number, meter: number): boolean => Math.abs(anomaly) > LUCK[meter];
