/** Section: curves of trainings, such as the loss, and the time and cost of their stages. */
import { grouped } from '../../evaluation/format-results.js';
import { dollarsText } from '../../figures/costs.js';
import { drawTrainingCurves } from '../../figures/training-curves.js';
import type { TrainingResult } from '../parse-results.js';
import type { ReportData } from '../result-gatherer.js';
import { type Column, type Section, table } from '../section.js';

/** Returns the section; null if no file has a training. */
export function trainingSection({ trainings }: ReportData): Section | null {
  if (trainings.length === 0) return null;
  return {
    id: 'training',
    title: 'Training',
    parts: trainings.flatMap(({ curves, costs }, k) => [
      {
        name: trainings.length === 1 ? 'training' : `training-${k + 1}`,
        drawing: drawTrainingCurves({ curves }),
      },
      table('Time and cost of each stage', COLUMNS, [...costs, totalOf(costs)]),
    ]),
  };
}

type Cost = TrainingResult['costs'][number];

const totalOf = (costs: readonly Cost[]): Cost => ({
  stage: 'total',
  seconds: costs.reduce((sum, { seconds }) => sum + seconds, 0),
  dollars: costs.reduce((sum, { dollars }) => sum + dollars, 0),
});

const COLUMNS: readonly Column<Cost>[] = [
  { head: 'stage', cell: ({ stage }) => stage },
  { head: 'seconds', cell: ({ seconds }) => grouped(Math.round(seconds)) },
  { head: 'cost', cell: ({ dollars }) => dollarsText(dollars) },
];
