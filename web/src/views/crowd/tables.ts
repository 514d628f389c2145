/** The numbers of the crowd's pictures. */
import { decimal } from '../../../../src/pictures/numbers.js';
import { type Bands, PERCENTILES } from '../../../../src/pictures/percentiles.js';
import {
  COMPONENT_NAMES,
  METER_NAMES,
  NUM_METERS,
  NUM_SLOTS,
  NUM_STEPS,
} from '../../../../src/world/fields.js';
import { BINS, type CrowdPlayer } from '../../engine/crowd/request.js';
import type { TableProps } from '../../parts/table.js';
import { percent } from './words.js';

type Players = readonly CrowdPlayer[];

const DAYS = NUM_STEPS / NUM_SLOTS;

/** At the end of each day: 28 rows would be read to nobody's profit. */
export function bandsTable(players: Players): TableProps {
  return {
    caption:
      'Median of each meter at the end of each day; in brackets, between what the middle 80 % of the people are.',
    columns: ['Policy and meter', ...Array.from({ length: DAYS }, (_, day) => `day ${day + 1}`)],
    rows: players.flatMap(({ name, bands }) =>
      METER_NAMES.map((meter, k) => [
        `${name}, ${meter}`,
        ...Array.from({ length: DAYS }, (_, day) => spreadAt(bands, (day + 1) * NUM_SLOTS - 1, k)),
      ]),
    ),
  };
}

const SHOWN = [PERCENTILES.indexOf(50), PERCENTILES.indexOf(10), PERCENTILES.indexOf(90)];

/** "0.59 (0.47–0.69)" */
function spreadAt({ values }: Bands, step: number, meter: number): string {
  const [median, low, high] = SHOWN.map((p) =>
    decimal(values[(p * NUM_STEPS + step) * NUM_METERS + meter], 2),
  );
  return `${median} (${low}–${high})`;
}

/** How many bins are put together for who reads. */
const TOGETHER = 5;

export function histogramTable(players: Players): TableProps {
  const shares = players.map(({ counts }) => sharesOf(counts));
  const rows = shares[0]
    .map((_, k) => ({ k, values: shares.map((each) => each[k]) }))
    .filter(({ values }) => values.some((value) => value > 0));
  return {
    caption: 'Share of the people by final score.',
    columns: ['Final score', ...players.map(({ name }) => name)],
    rows: rows.map(({ k, values }) => {
      const [from, to] = [k, k + 1].map((edge) => decimal((edge * TOGETHER) / BINS, 2));
      return [`${from} to ${to}`, ...values.map(percent)];
    }),
  };
}

function sharesOf(counts: Uint32Array): number[] {
  const all = counts.reduce((sum, each) => sum + each, 0);
  return Array.from({ length: BINS / TOGETHER }, (_, k) => {
    const bins = counts.subarray(k * TOGETHER, (k + 1) * TOGETHER);
    return bins.reduce((sum, each) => sum + each, 0) / all;
  });
}

export function componentsTable(players: Players): TableProps {
  return {
    caption: 'Mean of each component, and what it adds to the score.',
    columns: ['Component', ...players.flatMap(({ name }) => [name, `${name} adds`])],
    rows: COMPONENT_NAMES.map((component, k) => [
      component,
      ...players.flatMap(({ components, parts }) => [decimal(components[k], 4), decimal(parts[k], 4)]),
    ]),
  };
}
