/** Form controls and buttons. */
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useState } from 'preact/hooks';
import { GRADER_NAMES } from '../../../src/world/fields.js';
import { type Addressed, type Field, linkTo } from '../address.js';
import { GRADER_WORDS } from '../words.js';
import type { Progress } from '../workers/calls.js';

interface ControlProps<T> {
  readonly label: string;
  /** Small print below the control. */
  readonly hint?: string;
  readonly value: T;
  readonly onChange: (value: T) => void;
}

interface SelectProps<Name extends string> extends ControlProps<Name> {
  readonly names: readonly Name[];
  /** Returns what is shown instead of a name. Default: the name. */
  readonly labelOf?: (name: Name) => string;
}

export function Select<Name extends string>(props: SelectProps<Name>) {
  const { label, hint, value, names, labelOf = String, onChange } = props;
  const id = useId();
  return (
    <div class="control">
      <label for={id}>{label}</label>
      <select id={id} value={value} onChange={(event) => onChange(event.currentTarget.value as Name)}>
        {names.map((name) => (
          <option key={name} value={name}>
            {labelOf(name)}
          </option>
        ))}
      </select>
      {hint !== undefined && <small>{hint}</small>}
    </div>
  );
}

/** A text field. Reports a valid value on Enter and when it loses the focus. Says what is expected if the text is invalid. */
export function TextField<T>(props: ControlProps<T> & { readonly field: Field<T> }) {
  const { label, hint, field, value, onChange } = props;
  const id = useId();
  const typed = useSignal(field.write(value));
  // A layout effect, because an effect some frames later would overwrite what is typed meanwhile.
  useLayoutEffect(() => {
    typed.value = field.write(value);
  }, [field, value, typed]);
  const isInvalid = field.read(typed.value.trim()) === null;
  const submit = (): void => {
    // Reads the signal again, because this key may come before what was typed is drawn.
    const next = field.read(typed.value.trim());
    if (next !== null && field.write(next) !== field.write(value)) onChange(next);
  };
  return (
    <div class="control">
      <label for={id}>{label}</label>
      <input
        id={id}
        type="text"
        inputMode={typeof value === 'number' ? 'numeric' : 'text'}
        autoComplete="off"
        value={typed.value}
        aria-invalid={isInvalid}
        aria-describedby={isInvalid || hint !== undefined ? `${id}-hint` : undefined}
        onInput={({ currentTarget }) => {
          typed.value = currentTarget.value;
        }}
        onBlur={submit}
        onKeyDown={({ key }) => key === 'Enter' && submit()}
      />
      {(isInvalid || hint !== undefined) && (
        <small id={`${id}-hint`} class={isInvalid ? 'wrong' : ''}>
          {isInvalid ? `Expected ${field.expected}.` : hint}
        </small>
      )}
    </div>
  );
}

interface ButtonProps {
  readonly children: ComponentChildren;
  readonly onClick: (event: MouseEvent) => void;
  /** Whether it is the main button of its group. */
  readonly main?: boolean;
  /** A disabled button keeps the focus, so that keyboard users keep their place. */
  readonly disabled?: boolean;
}

export const Button = ({ children, onClick, main = false, disabled = false }: ButtonProps) => (
  <button
    type="button"
    class={main ? 'main' : ''}
    aria-disabled={disabled}
    onClick={disabled ? undefined : onClick}
  >
    {children}
  </button>
);

interface ChoicesProps {
  /** For screen readers. */
  readonly legend: string;
  /** The first entry of each is its text, the second says whether it is chosen now. */
  readonly choices: readonly (readonly [text: ComponentChildren, isChosen: boolean, choose: () => void])[];
}

/** Buttons side by side, of which those that are chosen are marked. */
export const Choices = ({ legend, choices }: ChoicesProps) => (
  <fieldset class="choices">
    <legend class="visually-hidden">{legend}</legend>
    {choices.map(([text, isChosen, choose], k) => (
      <button key={k} type="button" aria-pressed={isChosen} onClick={choose}>
        {text}
      </button>
    ))}
  </fieldset>
);

interface CopyButtonProps {
  readonly label: string;
  readonly text: string;
  /** What to do if the browser refuses. */
  readonly otherwise?: string;
  /** Whether it is the main button of its group. */
  readonly main?: boolean;
}

/** The button, and a message beside it until the text changes. */
export function CopyButton({ label, text, otherwise = 'Select the text.', main }: CopyButtonProps) {
  const [last, setLast] = useState({ text: '', message: '' });
  const copy = async (): Promise<void> => {
    let message = 'Copied.';
    try {
      // Also throws over plain http, where `navigator.clipboard` is undefined.
      await navigator.clipboard.writeText(text);
    } catch {
      message = `This browser does not let the page copy. ${otherwise}`;
    }
    setLast({ text, message });
  };
  return (
    <>
      <Button main={main} onClick={() => void copy()}>
        {label}
      </Button>
      <span role="status">{last.text === text && last.message}</span>
    </>
  );
}

/** Copies the address of a view in its current state. */
export const CopyLink = ({ view }: { readonly view: Addressed }) => (
  <CopyButton
    label="Copy the link"
    text={new URL(linkTo(view), location.href).href}
    otherwise="Copy the address of the page."
  />
);

/** The choice of a grader, with what the grader pays for. */
export const GraderSelect = ({ value, onChange }: Pick<ControlProps<string>, 'value' | 'onChange'>) => (
  <Select label="Grader" hint={GRADER_WORDS[value]} value={value} names={GRADER_NAMES} onChange={onChange} />
);

interface RunButtonsProps {
  readonly label: string;
  /** The name of the progress bar. */
  readonly name: string;
  /** Null unless a run is in progress. The text is beside the bar. */
  readonly progress: (Progress & { readonly text: string }) | null;
  readonly start: () => void;
  readonly stop: () => void;
  /** Buttons beside the one that starts a run. */
  readonly children?: ComponentChildren;
}

/** The button that starts a run, or stops it while it is in progress; then also a progress bar. */
export const RunButtons = ({ label, name, progress, start, stop, children }: RunButtonsProps) => (
  <div class="actions">
    {progress === null ? (
      <Button main onClick={start}>
        {label}
      </Button>
    ) : (
      // A double click on the previous button must not stop the new run.
      <Button onClick={({ detail }) => detail < 2 && stop()}>Stop</Button>
    )}
    {/* Not in a fragment with the button above: Preact would then replace the focused button. */}
    {progress === null && children}
    {progress !== null && (
      <div class="progress">
        <progress aria-label={name} max={progress.total} value={progress.done} />
        <small>{progress.text}</small>
      </div>
    )}
  </div>
);
