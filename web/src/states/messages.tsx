/** Messages that content is loading or that a call failed, and notices that the user can dismiss. */
import type { ComponentChildren } from 'preact';
import type { Failure } from '../engine/outcome.js';
import { Button } from '../parts/controls.js';

/** A message with a spinner, which screen readers announce. */
export function Loading({ children }: { readonly children: ComponentChildren }) {
  return (
    <div class="message loading" role="status">
      <span class="spinner" aria-hidden="true" />
      <p>{children}</p>
    </div>
  );
}

const TITLES: Readonly<Record<Failure['kind'], string>> = {
  stopped: 'Stopped',
  refused: 'That cannot be computed',
  failed: 'Something went wrong',
};

const ADVICE: Readonly<Record<Failure['kind'], string>> = {
  stopped: 'Nothing was computed yet.',
  refused: '',
  failed: 'Try again; if it happens again, reload the page.',
};

/** A failure, with its remedy. */
export function FailureMessage({
  failure,
  retry,
}: {
  readonly failure: Failure;
  readonly retry: () => void;
}) {
  const { kind, message } = failure;
  return (
    <div class="message" role="alert">
      <h2>{TITLES[kind]}</h2>
      {ADVICE[kind] !== '' && <p>{ADVICE[kind]}</p>}
      {kind === 'refused' && <p>{message}</p>}
      {kind !== 'refused' && (
        <Button main onClick={retry}>
          Try again
        </Button>
      )}
      {kind === 'failed' && (
        <details>
          <summary>Error message</summary>
          <p class="fine">{message}</p>
        </details>
      )}
    </div>
  );
}

/** A message that can be dismissed. */
export function Notice({
  children,
  onClose,
}: {
  readonly children: ComponentChildren;
  readonly onClose: () => void;
}) {
  return (
    <div class="notice" role="status">
      <div>{children}</div>
      <Button onClick={onClose}>Dismiss</Button>
    </div>
  );
}
