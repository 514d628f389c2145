/** Two clocks: processor cycles, counted by a chain of dependent additions, and the timer with its resolution. */
import { loadAddon } from '../dist/engine/backends/addon.js';
import { median } from './rows.js';

const ADDS = 4_000_000;

/** Returns the clock rate in gigahertz (one addition takes one cycle); null without the addon. */
export function measureClock(): number | null {
  let addon: ReturnType<typeof loadAddon>;
  try {
    addon = loadAddon();
  } catch {
    return null;
  }
  const start = now();
  addon.dependentAdds(ADDS);
  return ADDS / (now() - start);
}

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
