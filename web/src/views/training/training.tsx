/** The view that trains a student, a small network that imitates a policy, in this browser. */

import { FailureMessage } from '../../states/messages.js';
import { keptStudents } from '../../students/kept-students.js';
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
        A student is a small network. It imitates a teacher, and learns to infer who people are. It trains in
        this browser in about half a minute. Keep it, play against it, or download it. The planner does not
        teach here: its first 20 weeks alone take nearly two minutes in a browser.
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
