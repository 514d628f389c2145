/** The curves of a training over time: score, belief error, reward of each half, and share of each action. */
import { ACTION_STYLES } from '../../../../src/figures/action-sequences.js';
import { ACCENT, SERIES } from '../../../../src/figures/theme.js';
import { colourOf } from '../../charts/policy-colours.js';
import { type Panel, TimeCurves } from '../../charts/time-curves.js';
import type { TableProps } from '../../parts/table.js';
import { plain, signed } from '../../person/descriptions.js';
import type { TrainingPoint } from '../../training/training-types.js';
import type { TrainingSoFar } from './training-store.js';

const STUDENT = colourOf('student');

export function LearningCurves({ training: { points, teacher } }: { readonly training: TrainingSoFar }) {
  const seconds = points.map((point) => point.seconds);
  const line = (name: string, colour: string, of: (point: TrainingPoint) => number) => ({
    name,
    colour,
    values: points.map(of),
    level: teacher === null ? null : of({ ...teacher, seconds: 0, isTrained: true }),
  });
  const panels: Panel[] = [
    { name: 'final score', lines: [line('final score', STUDENT, ({ finalScore }) => finalScore)] },
    { name: 'belief error', lines: [line('belief error', STUDENT, ({ beliefMae }) => beliefMae)] },
    {
      name: 'reward of each half',
      lines: [
        line('first half', ACCENT, ({ firstHalfMean }) => firstHalfMean),
        line('second half', SERIES, ({ secondHalfMean }) => secondHalfMean),
      ],
    },
  ];
  const shares = ACTION_STYLES.map(({ action, colour }, code) => ({
    name: plain(action),
    colour,
    values: points.map(({ actionShares }) => actionShares[code]),
    level: null,
  }));
  return (
    <section class="panel" aria-label="Learning curves">
      <TimeCurves
        title="How the student learns"
        notes={['Dashed: the teacher.']}
        seconds={seconds}
        panels={panels}
        stack={{ name: 'share of each action', lines: shares }}
        table={tableOf(points)}
      />
    </section>
  );
}

/** The maximum number of rows of the table, which has the last points only. */
const ROWS = 20;

const tableOf = (points: readonly TrainingPoint[]): TableProps => ({
  caption: `The last measurements, at most ${ROWS}.`,
  columns: ['seconds', 'final score', 'belief error', 'first half', 'second half', 'most frequent action'],
  rows: points.slice(-ROWS).map((point) => {
    const { seconds, finalScore, beliefMae, firstHalfMean, secondHalfMean, actionShares } = point;
    const most = actionShares.indexOf(Math.max(...actionShares));
    return [
      seconds.toFixed(1),
      finalScore.toFixed(3),
      beliefMae.toFixed(3),
      signed(firstHalfMean),
      signed(secondHalfMean),
      `${plain(ACTION_STYLES[most].action)}, ${Math.round(100 * actionShares[most])} %`,
    ];
  }),
});
