/** Formats rows, ratios and the speed of the core as tables, and ratios as JSON. */
import CliTable from 'cli-table3';
import type { Operations } from './core/core.js';
import type { CoreFigures } from './core/record.js';
import { judge, type Ratio, type Ratios } from './ratios.js';
import { MIN_CORE, type Row } from './rows.js';

/** Table characters without lines between rows. */
const COMPACT = { mid: '', 'left-mid': '', 'mid-mid': '', 'right-mid': '' };
const NAME_COLUMNS = 1;

/** Renders a table. The first `left` columns are aligned left, the others right. */
export function table(
  head: readonly string[],
  lines: readonly (readonly (string | number)[])[],
  left: number = NAME_COLUMNS,
): string {
  const rendered = new CliTable({
    chars: COMPACT,
    head: [...head],
    colAligns: head.map((_, k) => (k < left ? 'left' : 'right')),
    style: { head: [], border: [] },
  });
  rendered.push(...lines.map((line) => [...line]));
  return rendered.toString();
}

/**
 * Formats a number with `places` decimals.
 * @param absent the text for null; by default 'void', for a time that was too short for the timer (`saturated` in rows.ts).
 */
export const digits = (value: number | null, places: number, absent = 'void'): string =>
  value === null ? absent : value.toFixed(places);

/** Formats a share as a percentage. */
export const percent = (share: number | null, absent = '-'): string =>
  share === null ? absent : `${(100 * share).toFixed(0)} %`;

export function renderRows(rows: readonly Row[]): string {
  const head = [
    'kernel',
    'case',
    'layout',
    'writes',
    'threads',
    'episodes',
    'B/step',
    'ns/step',
    '±',
    'cycles/step',
    'of bound',
    'core',
  ];
  const lines = rows.map((row) => [
    row.kernel ?? row.backend,
    row.name,
    row.layout,
    row.writes,
    row.threads,
    row.episodes,
    digits(row.bytesPerStep, 1),
    digits(row.nsPerStep, 2),
    percent(row.spread, row.saturated ? 'void' : '-'),
    digits(row.cyclesPerStep, 1, row.saturated ? 'void' : '-'),
    percent(row.share),
    percent(row.core),
  ]);
  return table(head, lines, 4);
}

export const verdict = (met: boolean): string => (met ? 'met' : 'MISSED');

function targetText(ratio: Ratio): string {
  const { met, goalMet } = judge(ratio);
  if (ratio.target === undefined || met === null) return '';
  const { bound, value, goal } = ratio.target;
  const goalText = goalMet === null ? '' : `, goal ${goal}: ${verdict(goalMet)}`;
  return `${bound} ${value}: ${verdict(met)}${goalText}`;
}

export function renderRatios({ ratios, leftOut }: Ratios): string {
  const lines = ratios.map((ratio) => [ratio.name, ratio.value.toFixed(2), targetText(ratio)]);
  const missing = leftOut.map(({ name, why }) => `${name} is left out. ${why}`);
  const tables = lines.length === 0 ? [] : [table(['ratio', 'value', 'target'], lines)];
  return [...tables, ...missing].join('\n');
}

/** Returns the values and the targets of ratios by name, and the reasons for ratios that could not be computed. */
export function ratiosToJson({ ratios, leftOut }: Ratios): Record<string, unknown> {
  const withTarget = ratios.filter((ratio) => ratio.target !== undefined);
  return {
    ratios: Object.fromEntries(ratios.map(({ name, value }) => [name, value])),
    targets: Object.fromEntries(
      withTarget.map((ratio) => [ratio.name, { ...ratio.target, ...judge(ratio) }]),
    ),
    leftOut: Object.fromEntries(leftOut.map(({ name, why }) => [name, why])),
  };
}

/** Renders the speed of the core, and names the rows for which the core ran below MIN_CORE of its best rate. */
export function renderCore(core: CoreFigures, rows: readonly Row[]): string {
  const { clock, rates, bandwidths } = core;
  // Choices are minimums, maximums and comparisons.
  const mixText = ({ arithmetic, choices, words }: Operations) => `${arithmetic} : ${choices} : ${words}`;
  const operations = rates.map(({ kernel, lanes, mix, perCycle, perNs, spread, ofBest }) => [
    kernel,
    32 * lanes,
    mixText(mix),
    digits(perCycle, 2),
    digits(perNs, 1),
    percent(spread),
    percent(ofBest),
  ]);
  const memory = bandwidths.map(({ bytes, store, copy, spread }) => [
    `${bytes / 2 ** 10} KiB`,
    digits(store, 0),
    digits(copy, 0),
    percent(spread),
  ]);
  const slow = rows.filter((row) => row.core !== null && row.core < MIN_CORE);
  return [
    `The core: ${digits(clock.gigahertz, 2)} GHz (± ${percent(clock.spread)}).`,
    table(
      ['registers of', 'bits', 'floats : choices : words', 'per cycle', 'per ns', '±', 'of its best'],
      operations,
      1,
    ),
    table(['buffer', 'stores, GB/s', 'copies, GB/s', '±'], memory, 1),
    ...slow.map(
      (row) =>
        `${row.kernel ?? row.backend}, ${row.name}, ${row.layout}, ${row.episodes} episodes, threads ${row.threads}: ` +
        `THE CORE RAN AT ${percent(row.core)} OF ITS BEST RATE. Measure again on an idle core.`,
    ),
  ].join('\n');
}
