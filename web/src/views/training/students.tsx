/** Buttons to keep a trained student, to play against it and to download its file, and the list of the kept students. */
import { useId, useState } from 'preact/hooks';
import { startState } from '../../address.js';
import { Button } from '../../parts/controls.js';
import { graderOf, newSeed, type StudentFile } from '../../person/episode.js';
import {
  forgetStudent,
  freeName,
  isStudentName,
  keepStudent,
  keptStudents,
  NAME_EXPECTED,
} from '../../students/kept-students.js';
import { addressOf, PERSON_FIELDS } from '../fields.js';
import { type TrainingSoFar, trainedFile } from './training-store.js';

/** Goes to a new person, with a race against a student that the browser keeps (kept-students.ts). */
function playAgainst(against: string, grader: string): void {
  location.hash = addressOf({ ...startState(PERSON_FIELDS), seed: newSeed(), grader, against });
  scrollTo(0, 0);
}

/** Lets the browser save a student's file. */
function download({ name, file }: StudentFile): void {
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
  const [name, setName] = useState(freeName);
  const [message, setMessage] = useState('');
  const isValid = isStudentName(name);
  const { isTrained } = points[points.length - 1];
  const canKeep = isValid && isTrained;
  const hint = isTrained
    ? 'The student is kept as it was at the last measurement.'
    : 'The student has not learned anything yet.';
  const withFile = (use: (file: Uint8Array) => string) => async (): Promise<void> => {
    const failed = (): string => 'The training worker did not answer. Train again.';
    setMessage(await trainedFile().then(use, failed));
  };
  const keep = (file: Uint8Array): string => {
    keepStudent({ name, file });
    return `${name} is kept. In this browser it is a policy in Crowd, One person, Daily and Graders.`;
  };
  const keepAndPlay = (file: Uint8Array): string => {
    const words = keep(file);
    playAgainst(name, request.grader);
    return words;
  };
  const save = (file: Uint8Array): string => {
    download({ name, file });
    return `Downloaded ${name}.safetensors, which "rhythm-vec eval --policies" and readStudent read.`;
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
          value={name}
          aria-invalid={!isValid}
          aria-describedby={`${id}-hint`}
          onInput={({ currentTarget }) => setName(currentTarget.value.trim())}
        />
        <small id={`${id}-hint`} class={isValid ? '' : 'wrong'}>
          {isValid ? hint : `Expected ${NAME_EXPECTED}.`}
        </small>
      </div>
      <div class="actions">
        <Button main disabled={!canKeep} onClick={withFile(keep)}>
          Keep
        </Button>
        <Button disabled={!canKeep} onClick={withFile(keepAndPlay)}>
          Play against it
        </Button>
        <Button disabled={!canKeep} onClick={withFile(save)}>
          Download
        </Button>
      </div>
      <p class="note" role="status">
        {message}
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
