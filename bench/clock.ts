/** The timer and its resolution. core/core.ts measures the processor's clock. */
import { median } from './rows.js';

/** Nanoseconds of a monotonic clock. */
export const now = (): number => Number(process.hrtime.bigint());

/** Returns the timer's resolution in nanoseconds. */
export function timerTick(): number {
  const ticks = Array.from({ length: 100 }, () => {
    const start = now();
    let end = start;
    while (end === start) end = now();
    return end - start;
  });
  return median(ticks);
}
