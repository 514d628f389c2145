/** Prints results as tables. */
import Table from 'cli-table3';
import type { PolicyRows, Row } from './evaluate.js';
import { interval, meanOf } from './statistics.js';

/** A trained policy and its results on the held-out seeds. */
export interface Run extends PolicyRows {
  readonly seed: number;
  readonly updates: number;
  /** Wall time of the training. */
  readonly seconds: number;
  /** Processor time of the training, over all cores. The wall time also depends on other processes. */
  readonly cpuSeconds: number;
}

/** Renders a row for each trained policy. */
export function renderRuns(runs: readonly Run[]): string {
  return render(
    ['training seed', 'updates', 'seconds', 'CPU seconds', ...HEADS],
    runs.map(({ seed, updates, seconds, cpuSeconds, trained }) => [
      seed,
      updates,
      seconds.toFixed(0),
      cpuSeconds.toFixed(0),
      ...cells(trained),
    ]),
  );
}

/** Renders a row for each policy. */
export const renderRows = (rows: readonly Row[]): string =>
  render(
    ['policy', ...HEADS],
    rows.map((row) => [row.policy, ...cells(row)]),
  );

/** Returns means over training seeds. Their intervals include the variation between trainings. */
export function meansOf(runs: readonly Run[]): Row[] {
  return (['trained', 'otherNoise', 'otherProfile'] as const).map((which) => {
    const rows = runs.map((run) => run[which]);
    const mean = (key: Exclude<keyof Row, 'policy'>): number => meanOf(rows.map((row) => row[key]));
    const { halfWidth } = interval(rows.map(({ finalScore }) => finalScore));
    return {
      policy: rows[0].policy,
      finalScore: mean('finalScore'),
      halfWidth,
      firstHalfMean: mean('firstHalfMean'),
      secondHalfMean: mean('secondHalfMean'),
      adaptation: mean('adaptation'),
      beliefMae: mean('beliefMae'),
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
