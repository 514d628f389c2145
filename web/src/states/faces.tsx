/** The faces of what is not there yet, or not at all. */
import type { ComponentChildren } from 'preact';
import type { Failure } from '../engine/outcome.js';
import { Button } from '../parts/controls.js';

/** What is under way: told to screen readers, too. */
export function Loading({ children }: { readonly children: ComponentChildren }) {
  return (
    <div class="face loading" role="status">
      <span class="spinner" aria-hidden="true" />
      <p>{children}</p>
    </div>
  );
}

const HEADS: Readonly<Record<Failure['kind'], string>> = {
  lost: 'The device was lost',
  stopped: 'Stopped',
  refused: 'That cannot be computed',
  failed: 'Something went wrong',
};

const COUNSEL: Readonly<Record<Failure['kind'], string>> = {
  lost: 'The browser took the graphics device away: its driver was restarted, or it was asked for too much. Nothing of yours is lost; what was being computed can be computed again.',
  stopped: 'What was computed so far is not shown.',
  refused: '',
  failed: 'Try again; if it happens again, reload the page.',
};

/** What went wrong, and the way on. */
export function FailureFace({ failure, retry }: { readonly failure: Failure; readonly retry: () => void }) {
  const { kind, message } = failure;
  return (
    <div class="face" role="alert">
      <h2>{HEADS[kind]}</h2>
      {COUNSEL[kind] !== '' && <p>{COUNSEL[kind]}</p>}
      {kind === 'refused' && <p>{message}</p>}
      {kind !== 'refused' && (
        <Button main onClick={retry}>
          Try again
        </Button>
      )}
      {(kind === 'lost' || kind === 'failed') && (
        <details>
          <summary>In the library’s words</summary>
          <p class="fine">{message}</p>
        </details>
      )}
    </div>
  );
}

/** Nothing was asked for yet. */
export function Empty({ children }: { readonly children: ComponentChildren }) {
  return <div class="face empty">{children}</div>;
}

/** What is to be known, and may be put away. */
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
