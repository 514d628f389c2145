/** The grader as a file for the commands: download, copy, name. */
import { useSignal } from '@preact/signals';
import { GRADER_NAMES } from '../../../../src/world/fields.js';
import type { Field } from '../../address.js';
import { graderFile, presetOf, type Weights } from '../../graders/weights.js';
import { TextField } from '../../parts/controls.js';
import { CopyButton } from '../../parts/copy-button.js';

/** The grader's name: valid as a file name, and needs no quotes on a command line. */
const NAME: Field<string> = {
  initial: 'mine',
  expected: '1 to 40 letters, digits, - or _, and not the name of another grader',
  read: (text) => (/^[\w-]{1,40}$/.test(text) && !GRADER_NAMES.includes(text) ? text : null),
  write: (text) => text,
};

export function GraderFile({ weights }: { readonly weights: Weights }) {
  const ownName = useSignal(NAME.initial);
  const preset = presetOf(weights);
  const name = preset?.name ?? ownName.value;
  const text = graderFile(weights, name);
  return (
    <div class="file">
      {preset === null && (
        <TextField
          label="Name"
          field={NAME}
          value={ownName.value}
          onChange={(next) => {
            ownName.value = next;
          }}
        />
      )}
      <Export text={text} file={`${name}.json`} />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling element must be reachable by keyboard. */}
      <section class="text" tabIndex={0} aria-label="The text of the file">
        <pre>{text}</pre>
      </section>
    </div>
  );
}

/** Buttons to download and copy the file. */
function Export({ text, file }: { readonly text: string; readonly file: string }) {
  return (
    <>
      <div class="actions">
        <a class="button" href={`data:application/json,${encodeURIComponent(text)}`} download={file}>
          Download {file}
        </a>
        <CopyButton label="Copy" text={text} />
      </div>
      <p class="fine">
        For <code>rhythm-vec eval --grader {file}</code>. <code>audit --grader {file}</code> measures what
        this grader rewards.
      </p>
    </>
  );
}
