/** The view that trains a student, a small network that imitates a policy, in this browser. */
import { ACTION_STYLES } from '../../../../src/figures/action-sequences.js';
import type { ViewProps } from '../../address.js';
import { Legend } from '../../charts/figure.js';
import { FailureMessage, Fold } from '../../parts/content.js';
import { GraderSelect, RunButtons, Select, TextField } from '../../parts/controls.js';
import { plain, signed } from '../../person/descriptions.js';
import { MEASURED, SCHEDULES } from '../../sizes.js';
import { keptStudents } from '../../students/kept-students.js';
import { type Measurement, TEACHERS } from '../../training/training-types.js';
import { grouped, policyLabel, policyWords } from '../../words.js';
import { TRAINING_FIELDS } from '../fields.js';
import { LearningCurves } from './learning-curves.js';
import { KeepStudent, KeptStudents } from './students.js';
import { startTraining, stopTraining, type TrainingSoFar, training } from './training-store.js';
import './training.css';

export function View({ state, change }: ViewProps<typeof TRAINING_FIELDS>) {
  const current = training.value;
  const progress = current?.progress ?? null;
  const start = (): void => void startTraining(state);
  return (
    <>
      <h1>Train a student</h1>
      <p class="lead">
        Watch a small network learn to play like the planner, and to read people, in about half a minute. It
        learns in this browser, from {grouped(SCHEDULES.stored.episodes)} stored weeks of the planner.
      </p>
      <section class="panel" aria-labelledby="training-settings">
        <h2 id="training-settings">Settings</h2>
        <div class="controls">
          <Select
            label="Teacher"
            hint={policyWords(state.teacher)}
            value={state.teacher}
            names={TEACHERS}
            labelOf={policyLabel}
            onChange={(teacher) => change({ teacher })}
          />
          <GraderSelect value={state.grader} onChange={(grader) => change({ grader })} />
        </div>
        <Fold title="Seed">
          <TextField
            label="Seed"
            hint="Determines the initial parameters, the episodes and their order."
            field={TRAINING_FIELDS.seed}
            value={state.seed}
            onChange={(seed) => change({ seed })}
          />
        </Fold>
        <RunButtons
          label={current === null ? 'Start training' : 'Train another student'}
          name="Training"
          progress={progress && { ...progress, text: `${progress.stage} …` }}
          start={start}
          stop={stopTraining}
        />
      </section>
      {current?.failure && <FailureMessage failure={current.failure} retry={start} />}
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

const FIGURES: readonly (readonly [name: string, of: (measurement: Measurement) => string])[] = [
  ['Final score', ({ finalScore }) => finalScore.toFixed(3)],
  ['Belief error', ({ beliefMae }) => beliefMae.toFixed(3)],
  ['Reward, first half', ({ firstHalfMean }) => signed(firstHalfMean)],
  ['Reward, second half', ({ secondHalfMean }) => signed(secondHalfMean)],
];

/** How the student plays at the moment, beside its teacher: a headline, figures and the actions of a week. */
function CurrentStudent({ training }: { readonly training: TrainingSoFar }) {
  const { points, teacher, request, progress } = training;
  const now = points[points.length - 1];
  return (
    <section class="panel current-student" aria-labelledby="current-student">
      <h2 id="current-student">{headlineOf(training)}</h2>
      <p class="note">
        After {now.seconds.toFixed(0)} seconds, in {MEASURED.count} weeks that the student does not learn
        from, under grader {request.grader}.
      </p>
      <dl class="figures">
        {FIGURES.map(([name, of]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              {of(now)}
              {teacher !== null && <small>teacher {of(teacher)}</small>}
            </dd>
          </div>
        ))}
      </dl>
      <h3>One of these weeks, played by the student</h3>
      <ActionStrip actions={now.week} />
      <p class="visually-hidden" role="status">
        {progress === null && headlineOf(training)}
      </p>
    </section>
  );
}

/** Returns the student's score in a sentence, and how far it is from its teacher's. */
function headlineOf({ points, teacher, progress, request }: TrainingSoFar): string {
  const now = points[points.length - 1];
  if (!now.isTrained) return `Untrained, the student scores ${now.finalScore.toFixed(3)}`;
  const subject = progress === null ? 'The student scores' : 'So far the student scores';
  const gap = (teacher?.finalScore ?? 0) - now.finalScore;
  const name = request.teacher === 'planner' ? 'the planner' : 'its teacher';
  return `${subject} ${now.finalScore.toFixed(3)}, ${Math.abs(gap).toFixed(3)} ${gap > 0 ? 'below' : 'above'} ${name}`;
}

/** The actions of a week as coloured squares, with their names where there is room. @param actions codes of ACTION_NAMES. */
function ActionStrip({ actions }: { readonly actions: readonly number[] }) {
  const styles = ACTION_STYLES.map(({ action, colour }) => ({ name: plain(action), colour }));
  const description = `The student's week: ${actions.map((code) => styles[code].name).join(', ')}.`;
  return (
    <div class="action-strip">
      <div role="img" aria-label={description}>
        {actions.map((code, step) => (
          <span key={step} style={{ background: styles[code].colour }}>
            <b>{styles[code].name}</b>
          </span>
        ))}
      </div>
      <Legend rows={styles.filter((_, code) => actions.includes(code))} />
    </div>
  );
}
