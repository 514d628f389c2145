/** How the student plays at the moment, beside its teacher: a headline, figures and the actions of a week. */
import { ACTION_NAMES } from '../../../../src/world/fields.js';
import { ActionStrip } from '../../charts/action-strip.js';
import { plain, signed } from '../../person/descriptions.js';
import { MEASURED } from '../../training/measured.js';
import type { Measurement } from '../../training/training-types.js';
import type { TrainingSoFar } from './training-store.js';

export function CurrentStudent({ training }: { readonly training: TrainingSoFar }) {
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
