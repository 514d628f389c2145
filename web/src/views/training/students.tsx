/** Buttons to keep a trained student, to play against it and to download its file, and the list of the kept students. */
import { useSignal } from '@preact/signals';
import { useId } from 'preact/hooks';
import { toAddress } from '../../address.js';
import { Button } from '../../parts/controls.js';
import { BY_HAND, graderOf, type StudentFile } from '../../person/episode.js';
import {
  forgetStudent,
  freeName,
  isStudentName,
  keepStudent,
  keptStudents,
  NAME_EXPECTED,
} from '../../students/kept-students.js';
import { PERSON_FIELDS } from '../fields.js';
import { type TrainingSoFar, trainedFile } from './training-store.js';

/** The new person has a seed below this number. Seeds from this number on are out of distribution (docs/world.md). */
const SEEDS = 10_000;

/** Goes to a new person, with a race against a student that the browser keeps (kept-students.ts). */
function playAgainst(name: string, grader: string): void {
  location.hash = toAddress('person', PERSON_FIELDS, {
    seed: Math.floor(Math.random() * SEEDS),
    person: 'sampled',
    grader,
    by: BY_HAND,
    against: name,
    moves: [],
    at: 0,
  });
  scrollTo(0, 0);
}

/** Lets the browser save a student's file. */
export function download({ name, file }: StudentFile): void {
  const url = URL.createObjectURL(new Blob([file as BlobPart], { type: 'application/octet-stream' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = `${name}.safetensors`;
  link.click();
  // The browser reads the file soon after the click.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

export function KeepStudent({ training: { points, request } }: { readonly training: TrainingSoFar }) {
  const id = useId();
  const name = useSignal(freeName());
  const message = useSignal('');
  const isValid = isStudentName(name.value);
  const { isTrained } = points[points.length - 1];
  const canKeep = isValid && isTrained;
  const hint = isTrained
    ? 'The student is kept as it was at the last measurement.'
    : 'The student has not learned anything yet.';
  const withFile = async (use: (file: Uint8Array) => string): Promise<void> => {
    message.value = await trainedFile().then(use, () => 'The training worker did not answer. Train again.');
  };
  const keep = (file: Uint8Array): string => {
    keepStudent({ name: name.value, file });
    return `${name.value} is kept. In this browser it is a policy in Crowd, One person, Daily and Graders.`;
  };
  return (
    <section class="panel keep" aria-labelledby="keep">
      <h2 id="keep">Keep the student</h2>
      <div class="control student-name">
        <label for={id}>Name</label>
        <input
          id={id}
          type="text"
          autoComplete="off"
          value={name.value}
          aria-invalid={!isValid}
          aria-describedby={`${id}-hint`}
          onInput={({ currentTarget }) => {
            name.value = currentTarget.value.trim();
          }}
        />
        <small id={`${id}-hint`} class={isValid ? '' : 'wrong'}>
          {isValid ? hint : `Expected ${NAME_EXPECTED}.`}
        </small>
      </div>
      <div class="actions">
        <Button main disabled={!canKeep} onClick={() => withFile(keep)}>
          Keep
        </Button>
        <Button
          disabled={!canKeep}
          onClick={() =>
            withFile((file) => {
              const words = keep(file);
              playAgainst(name.value, request.grader);
              return words;
            })
          }
        >
          Play against it
        </Button>
        <Button
          disabled={!canKeep}
          onClick={() =>
            withFile((file) => {
              download({ name: name.value, file });
              return `Downloaded ${name.value}.safetensors, which "rhythm-vec eval --policies" and readStudent read.`;
            })
          }
        >
          Download
        </Button>
      </div>
      <p class="note" role="status">
        {message.value}
      </p>
    </section>
  );
}

export const KeptStudents = () => (
  <section class="panel" aria-labelledby="kept">
    <h2 id="kept">Your students</h2>
    <ul class="kept">
      {keptStudents.value.map((student) => (
        <li key={student.name}>
          <span>
            {student.name} <small>trained under {graderOf(student)}</small>
          </span>
          <Button onClick={() => playAgainst(student.name, graderOf(student))}>
            Play against<span class="visually-hidden"> {student.name}</span>
          </Button>
          <Button onClick={() => download(student)}>
            Download<span class="visually-hidden"> {student.name}</span>
          </Button>
          <Button onClick={() => forgetStudent(student.name)}>
            Delete<span class="visually-hidden"> {student.name}</span>
          </Button>
        </li>
      ))}
    </ul>
    <p class="fine">
      This browser stores these students. They are in the lists of Crowd, One person and Daily, and in the
      ranking of Graders.
    </p>
  </section>
);
