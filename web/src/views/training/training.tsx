/** The view that trains a student, a small network that imitates a policy, in this browser. */
import { ACTION_STYLES } from '../../../../src/figures/action-sequences.js';
import { ACTION_NAMES, GRADER_NAMES } from '../../../../src/world/fields.js';
import type { ViewProps } from '../../address.js';
import { Legend } from '../../charts/figure.js';
import { FailureMessage } from '../../parts/content.js';
import { Button, Select, TextField } from '../../parts/controls.js';
import { plain, signed } from '../../person/descriptions.js';
import { MEASURED, SCHEDULES } from '../../sizes.js';
import { keptStudents } from '../../students/kept-students.js';
import { type Measurement, TEACHERS } from '../../training/training-types.js';
import { GRADER_WORDS, grouped, policyLabels, policyWords } from '../../words.js';
import { TRAINING_FIELDS } from '../fields.js';
import { LearningCurves } from './learning-curves.js';
import { KeepStudent, KeptStudents } from './students.js';
import { startTraining, stopTraining, type TrainingSoFar, training } from './training-store.js';
import '../../charts/charts.css';
import './training.css';

interface ActionStripProps {
  /** Codes of ACTION_NAMES, one for each step. */
  readonly actions: readonly number[];
  readonly description: string;
}

function ActionStrip({ actions, description }: ActionStripProps) {
  const taken = ACTION_STYLES.filter((_, code) => actions.includes(code));
  return (
    <div class="action-strip">
      <div role="img" aria-label={description}>
        {actions.map((code, step) => (
          <span key={step} style={{ background: ACTION_STYLES[code].colour }}>
            <b>{plain(ACTION_STYLES[code].action)}</b>
          </span>
        ))}
      </div>
      <Legend names={taken.map(({ action }) => plain(action))} colours={taken.map(({ colour }) => colour)} />
    </div>
  );
}

interface Props extends ViewProps<typeof TRAINING_FIELDS> {
  readonly start: () => void;
}

function TrainingControls({ state, change, start }: Props) {
  const progress = training.value?.progress ?? null;
  return (
    <section class="panel" aria-labelledby="training-settings">
      <h2 id="training-settings">Settings</h2>
      <div class="controls">
        <Select
          label="Teacher"
          hint={policyWords(state.teacher)}
          value={state.teacher}
          names={TEACHERS}
          labels={policyLabels(TEACHERS)}
          onChange={(teacher) => change({ teacher })}
        />
        <Select
          label="Grader"
          hint={GRADER_WORDS[state.grader]}
          value={state.grader}
          names={GRADER_NAMES}
          onChange={(grader) => change({ grader })}
        />
      </div>
      <details>
        <summary>Seed</summary>
        <TextField
          label="Seed"
          hint="Determines the initial parameters, the episodes and their order."
          field={TRAINING_FIELDS.seed}
          value={state.seed}
          onChange={(seed) => change({ seed })}
        />
      </details>
      <div class="actions">
        {progress === null ? (
          <Button main onClick={start}>
            {training.value === null ? 'Start training' : 'Train another student'}
          </Button>
        ) : (
          // A double click on the previous button must not stop the new training.
          <Button onClick={({ detail }) => detail < 2 && stopTraining()}>Stop</Button>
        )}
        {progress !== null && (
          <div class="progress">
            <progress aria-label="Training" max={progress.total} value={progress.done} />
            <small>{progress.stage} …</small>
          </div>
        )}
      </div>
    </section>
  );
}

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
        <Figure
          name="Final score"
          of={({ finalScore }) => finalScore.toFixed(3)}
          now={now}
          teacher={teacher}
        />
        <Figure
          name="Belief error"
          of={({ beliefMae }) => beliefMae.toFixed(3)}
          now={now}
          teacher={teacher}
        />
        <Figure
          name="Reward, first half"
          of={({ firstHalfMean }) => signed(firstHalfMean)}
          now={now}
          teacher={teacher}
        />
        <Figure
          name="Reward, second half"
          of={({ secondHalfMean }) => signed(secondHalfMean)}
          now={now}
          teacher={teacher}
        />
      </dl>
      <h3>One of these weeks, played by the student</h3>
      <ActionStrip actions={now.week} description={weekInWords(now)} />
      <p class="visually-hidden" role="status">
        {progress === null && headlineOf(training)}
      </p>
    </section>
  );
}

interface FigureProps {
  readonly name: string;
  readonly of: (measurement: Measurement) => string;
  readonly now: Measurement;
  readonly teacher: Measurement | null;
}

const Figure = ({ name, of, now, teacher }: FigureProps) => (
  <div>
    <dt>{name}</dt>
    <dd>
      {of(now)}
      {teacher !== null && <small>teacher {of(teacher)}</small>}
    </dd>
  </div>
);

/** Returns the student's score in a sentence, and how far it is from its teacher's. */
function headlineOf({ points, teacher, progress, request }: TrainingSoFar): string {
  const now = points[points.length - 1];
  if (!now.isTrained) return `Untrained, the student scores ${now.finalScore.toFixed(3)}`;
  const subject = progress === null ? 'The student scores' : 'So far the student scores';
  const gap = (teacher?.finalScore ?? 0) - now.finalScore;
  const name = request.teacher === 'planner' ? 'the planner' : 'its teacher';
  return `${subject} ${now.finalScore.toFixed(3)}, ${Math.abs(gap).toFixed(3)} ${gap > 0 ? 'below' : 'above'} ${name}`;
}

const weekInWords = ({ week }: Measurement): string =>
  `The student's week: ${week.map((action) => plain(ACTION_NAMES[action])).join(', ')}.`;

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
