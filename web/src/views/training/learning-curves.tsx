/** The curves of a training over time: score, belief error, reward of each half, and share of each action. */
import { useSignal } from '@preact/signals';
import { ACTION_STYLES } from '../../../../src/figures/action-sequences.js';
import { ACCENT, decimal, SERIES } from '../../../../src/figures/theme.js';
import { type Panel, Panels } from '../../charts/panels.js';
import type { TableProps } from '../../parts/content.js';
import { plain, signed } from '../../person/descriptions.js';
import type { TrainingPoint } from '../../training/training-types.js';
import { colourOf } from '../../words.js';
import type { TrainingSoFar } from './training-store.js';

const STUDENT = colourOf('student');

export function LearningCurves({ training: { points, teacher } }: { readonly training: TrainingSoFar }) {
  const cursor = useSignal<number | null>(null);
  const [last] = points.slice(-1);
  return (
    <section class="panel" aria-label="Learning curves">
      <Panels
        title="How the student learns"
        notes={['Dashed: the teacher.']}
        description={`Final score over time, now ${last.finalScore.toFixed(3)}; belief error, now ${last.beliefMae.toFixed(3)}; reward of each half; share of each action. The table has the numbers.`}
        points={points.map(({ seconds }) => seconds)}
        panels={panelsOf(points, teacher)}
        cursor={cursor}
        nameOf={(k) => `${points[k].seconds.toFixed(1)} s, mostly ${plain(mostFrequent(points[k]).action)}`}
        sliderName="Read the curves at"
        table={tableOf(points)}
      />
    </section>
  );
}

function panelsOf(points: readonly TrainingPoint[], teacher: TrainingSoFar['teacher']): Panel[] {
  type Line = [name: string, colour: string, of: (point: TrainingPoint) => number];
  const panel = (name: string, lines: readonly Line[]): Panel => {
    const thresholds =
      teacher === null ? [] : lines.map(([, , of]) => of({ ...teacher, seconds: 0, isTrained: true }));
    const series = lines.map(([name, colour, of]) => ({ name, colour, values: points.map(of) }));
    const domain = rangeOf([...thresholds, ...series.flatMap(({ values }) => values)]);
    const format = (value: number): string => decimal(value, 3);
    return { name, domain, ticks: domain, series, thresholds, thresholdColour: colourOf('teacher'), format };
  };
  const shares = ACTION_STYLES.map((_, code) => points.map(({ actionShares }) => actionShares[code]));
  const upTo = (code: number): number[] =>
    points.map((_, k) => shares.slice(0, code).reduce((sum, values) => sum + values[k], 0));
  return [
    panel('final score', [['final score', STUDENT, ({ finalScore }) => finalScore]]),
    panel('belief error', [['belief error', STUDENT, ({ beliefMae }) => beliefMae]]),
    panel('reward', [
      ['first half', ACCENT, ({ firstHalfMean }) => firstHalfMean],
      ['second half', SERIES, ({ secondHalfMean }) => secondHalfMean],
    ]),
    {
      name: 'share of each action',
      domain: [0, 1],
      ticks: [0, 1],
      stacked: true,
      series: ACTION_STYLES.map(({ action, colour }, code) => ({
        name: plain(action),
        colour,
        values: shares[code],
        band: [upTo(code), upTo(code + 1)],
      })),
      inWords: (k) => percentOf(mostFrequent(points[k])),
    },
  ];
}

/** Returns the range of the values, widened to whole tenths. */
function rangeOf(values: readonly number[]): readonly [low: number, high: number] {
  const low = Math.floor(10 * Math.min(...values));
  return [low / 10, Math.max(low + 1, Math.ceil(10 * Math.max(...values))) / 10];
}

function mostFrequent({ actionShares }: TrainingPoint) {
  const share = Math.max(...actionShares);
  return { action: ACTION_STYLES[actionShares.indexOf(share)].action, share };
}

const percentOf = ({ action, share }: ReturnType<typeof mostFrequent>): string =>
  `${plain(action)}, ${Math.round(100 * share)} %`;

/** The maximum number of rows of the table, which has the last points only. */
const ROWS = 20;

const tableOf = (points: readonly TrainingPoint[]): TableProps => ({
  caption: `The last measurements, at most ${ROWS}.`,
  columns: ['seconds', 'final score', 'belief error', 'first half', 'second half', 'most frequent action'],
  rows: points.slice(-ROWS).map((point) => {
    const { seconds, finalScore, beliefMae, firstHalfMean, secondHalfMean } = point;
    return [
      seconds.toFixed(1),
      finalScore.toFixed(3),
      beliefMae.toFixed(3),
      signed(firstHalfMean),
      signed(secondHalfMean),
      percentOf(mostFrequent(point)),
    ];
  }),
});
