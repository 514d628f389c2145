/** The numbers of the crowd's pictures, as tables. */

import { type Bands, PERCENTILES } from '../../../../src/figures/episode-means.js';
import { decimal } from '../../../../src/figures/theme.js';
import {
  COMPONENT_NAMES,
  METER_NAMES,
  NUM_METERS,
  NUM_SLOTS,
  NUM_STEPS,
} from '../../../../src/world/fields.js';
import { BINS, type CrowdPolicy } from '../../engine/crowd/crowd-request.js';
import type { TableProps } from '../../parts/table.js';
import { plain } from '../../person/descriptions.js';
import { percent } from './format.js';

type Policies = readonly CrowdPolicy[];

const DAYS = NUM_STEPS / NUM_SLOTS;

/** Returns a table of the percentiles of the meters at the end of each day. */
export function bandsTable(policies: Policies): TableProps {
  return {
    caption:
      'Median of each meter at the end of each day; in brackets, the range of the middle 80 % of the people.',
    columns: ['Policy and meter', ...Array.from({ length: DAYS }, (_, day) => `day ${day + 1}`)],
    rows: policies.flatMap(({ name, bands }) =>
      METER_NAMES.map((meter, k) => [
        `${name}, ${meter}`,
        ...Array.from({ length: DAYS }, (_, day) => spreadAt(bands, (day + 1) * NUM_SLOTS - 1, k)),
      ]),
    ),
  };
}

const PERCENTILE_INDICES = [PERCENTILES.indexOf(50), PERCENTILES.indexOf(10), PERCENTILES.indexOf(90)];

/** Formats the median and the middle 80 %: "0.59 (0.47–0.69)". */
function spreadAt({ values }: Bands, step: number, meter: number): string {
  const [median, low, high] = PERCENTILE_INDICES.map((p) =>
    decimal(values[(p * NUM_STEPS + step) * NUM_METERS + meter], 2),
  );
  return `${median} (${low}–${high})`;
}

/** Bins of the histogram per row of the table. Chosen by hand: a short table (20 rows) that still shows the shape. */
const BINS_PER_ROW = 5;

/**
 * Returns the histograms of final scores as a table, without the rows that are empty for all policies.
 * @param policies names with their histograms.
 */
export function histogramTable(policies: readonly Pick<CrowdPolicy, 'name' | 'counts'>[]): TableProps {
  const shares = policies.map(({ counts }) => sharesOf(counts));
  const rows = shares[0]
    .map((_, k) => ({ k, values: shares.map((each) => each[k]) }))
    .filter(({ values }) => values.some((value) => value > 0));
  return {
    caption: 'Share of the people by final score.',
    columns: ['Final score', ...policies.map(({ name }) => name)],
    rows: rows.map(({ k, values }) => {
      const [from, to] = [k, k + 1].map((edge) => decimal((edge * BINS_PER_ROW) / BINS, 2));
      return [`${from} to ${to}`, ...values.map(percent)];
    }),
  };
}

function sharesOf(counts: Uint32Array): number[] {
  const all = counts.reduce((sum, each) => sum + each, 0);
  return Array.from({ length: BINS / BINS_PER_ROW }, (_, k) => {
    const bins = counts.subarray(k * BINS_PER_ROW, (k + 1) * BINS_PER_ROW);
    return bins.reduce((sum, each) => sum + each, 0) / all;
  });
}

/** Returns the mean components and their parts of the score as a table. */
export function componentsTable(policies: Policies): TableProps {
  return {
    caption: 'Mean of each component, and what it adds to the score.',
    columns: ['Component', ...policies.flatMap(({ name }) => [name, `${name} adds`])],
    rows: COMPONENT_NAMES.map((component, k) => [
      plain(component),
      ...policies.flatMap(({ components, parts }) => [decimal(components[k], 4), decimal(parts[k], 4)]),
    ]),
  };
}
