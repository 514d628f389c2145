/** Means with intervals of numbers that come one by one. */
import type { Interval, Moments } from '../evaluate/statistics.js';

/** @returns the interval; of nothing, null. */
export const intervalOrNull = (moments: Moments): Interval | null =>
  moments.count === 0 ? null : moments.interval();

export const addOne = (moments: Moments, value: number): void => moments.addAll(Float64Array.of(value));
