/** One colour for each policy, the same in every view and visible in both colour schemes. */
import { ACCENT, SERIES } from '../../../src/figures/theme.js';

const COLOURS: Readonly<Record<string, string>> = {
  random: '#7d8794',
  heuristic: SERIES,
  'open-loop': ACCENT,
  'random+constant': '#a8679f',
  'heuristic+constant': '#16917f',
  'open-loop+constant': '#b5492f',
};

/** Returns the colour of a policy. */
export const colourOf = (policy: string): string => COLOURS[policy] ?? SERIES;
