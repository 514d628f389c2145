/** Results as tables for people. */
import Table from 'cli-table3';
import type { Judged, Row } from './evaluate.js';
import { interval, meanOf } from './statistics.js';

/** A policy that was trained, and what it earned on the held-out weeks. */
export interface Run extends Judged {
  readonly seed: number;
  readonly updates: number;
  /** Wall time of the training. */
  readonly seconds: number;
  /** What the processor worked for it, on all cores: where others work too the wall time says little. */
  readonly cpuSeconds: number;
}

/** A row for each trained policy. */
export function renderRuns(runs: readonly Run[]): string {
  return render(
    ['training seed', 'updates', 'seconds', 'of a core', ...HEADS],
    runs.map(({ seed, updates, seconds, cpuSeconds, own }) => [
      seed,
      updates,
      seconds.toFixed(0),
      cpuSeconds.toFixed(0),
      ...cells(own),
    ]),
  );
}

/** A row for each policy. */
export const renderRows = (rows: readonly Row[]): string =>
  render(
    ['policy', ...HEADS],
    rows.map((row) => [row.policy, ...cells(row)]),
  );

/** Means over training seeds. The interval is over these seeds too: how another training would turn out. */
export function meansOf(runs: readonly Run[]): Row[] {
  return (['own', 'otherLuck', 'otherPerson'] as const).map((which) => {
    const rows = runs.map((run) => run[which]);
    const of = (key: Exclude<keyof Row, 'policy'>): number => meanOf(rows.map((row) => row[key]));
    const { halfWidth } = interval(rows.map(({ finalScore }) => finalScore));
    return {
      policy: rows[0].policy,
      finalScore: of('finalScore'),
      halfWidth,
      firstHalfMean: of('firstHalfMean'),
      secondHalfMean: of('secondHalfMean'),
      adaptation: of('adaptation'),
      beliefMae: of('beliefMae'),
    };
  });
}

const HEADS = ['final score (95 %)', 'first-half mean', 'second-half mean', 'adaptation', 'belief MAE'];

const cells = ({
  finalScore,
  halfWidth,
  firstHalfMean,
  secondHalfMean,
  adaptation,
  beliefMae,
}: Row): string[] => [
  Number.isNaN(halfWidth) ? finalScore.toFixed(3) : `${finalScore.toFixed(3)} ±${halfWidth.toFixed(3)}`,
  ...[firstHalfMean, secondHalfMean, adaptation, beliefMae].map((value) => value.toFixed(3)),
];

function render(head: string[], rows: (string | number)[][]): string {
  const table = new Table({
    head,
    colAligns: ['left', ...head.slice(1).map(() => 'right' as const)],
    style: { head: [], border: [], compact: true },
  });
  table.push(...rows);
  return `${table}\n`;
}
