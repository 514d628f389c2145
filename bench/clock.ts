/** Two clocks: the processor's, by a chain of dependent additions, and the timer, with its resolution. */
import { loadAddon } from '../dist/backends/addon.js';
import { median } from './rows.js';

const ADDS = 4_000_000;

/** Gigahertz now, each addition taking a cycle; null without the addon. */
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

/** Nanoseconds, since whenever. */
export const now = (): number => Number(process.hrtime.bigint());

/** The timer's resolution in nanoseconds: the least that it can tell apart. */
export function timerTick(): number {
  const ticks = Array.from({ length: 100 }, () => {
    const start = now();
    let end = start;
    while (end === start) end = now();
    return end - start;
  });
  return median(ticks);
}
