/** Buttons to keep the student of the last measurement, to play against it, and to download its file. */
import { useSignal } from '@preact/signals';
import { useId } from 'preact/hooks';
import { Button } from '../../parts/controls.js';
import { freeName, isStudentName, keepStudent, NAME_EXPECTED } from '../../students/kept-students.js';
import { download, playAgainst } from './student-links.js';
import { type TrainingSoFar, trainedFile } from './training-store.js';

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
