/** The view that trains a student, a small network that imitates a policy, in this browser. */

import { grouped } from '../../parts/grouped.js';
import { FailureMessage } from '../../states/messages.js';
import { keptStudents } from '../../students/kept-students.js';
import { SCHEDULES } from '../../training/schedule.js';
import type { ViewProps } from '../view.js';
import { TrainingControls } from './controls.js';
import { CurrentStudent } from './current-student.js';
import type { TRAINING_FIELDS } from './fields.js';
import { KeepStudent } from './keep.js';
import { KeptStudents } from './kept.js';
import { LearningCurves } from './learning-curves.js';
import { startTraining, training } from './training-store.js';
import '../../charts/charts.css';
import './training.css';

export function TrainingView({ state, change }: ViewProps<typeof TRAINING_FIELDS>) {
  const current = training.value;
  const start = (): void => void startTraining(state);
  return (
    <>
      <h1>Train a student</h1>
      <p class="lead">
        Watch a small network learn to play like the planner, and to read people, in about half a minute. It
        learns in this browser, from {grouped(SCHEDULES.stored.episodes)} stored weeks of the planner.
      </p>
      <TrainingControls state={state} change={change} start={start} />
      {current !== null && current.failure !== null && (
        <FailureMessage failure={current.failure} retry={start} />
      )}
      {current !== null && current.points.length > 0 && (
        <>
          <CurrentStudent training={current} />
          <LearningCurves training={current} />
          <KeepStudent training={current} />
        </>
      )}
      {keptStudents.value.length > 0 && <KeptStudents />}
    </>
  );
}
