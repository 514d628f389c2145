/** Moments of numbers that come one by one. */
import type { Moments } from '../evaluate/statistics.js';

export const addOne = (moments: Moments, value: number): void => moments.addAll(Float64Array.of(value));
