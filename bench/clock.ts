/** The processor's clock, by a chain of dependent additions: each takes a cycle. */
import { loadAddon } from '../dist/backends/addon.js';

const ADDS = 4_000_000;

/** Gigahertz now; null without the addon. */
export function measureClock(): number | null {
  let addon: ReturnType<typeof loadAddon>;
  try {
    addon = loadAddon();
  } catch {
    return null;
  }
  const start = process.hrtime.bigint();
  addon.dependentAdds(ADDS);
  return ADDS / Number(process.hrtime.bigint() - start);
}
