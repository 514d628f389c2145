/** Tables, names of policies, and messages: content is loading, a call failed, a notice that the user can dismiss. */
import type { RenderableProps } from 'preact';
import { useId, useLayoutEffect, useState } from 'preact/hooks';
import { policyName } from '../words.js';
import type { Failure } from '../workers/calls.js';
import { Button } from './controls.js';

export interface TableProps {
  readonly caption: string;
  /** The first column has the names of the rows. */
  readonly columns: readonly string[];
  /** The first cell is the row's name. */
  readonly rows: readonly (readonly string[])[];
}

/** A table that scrolls sideways if it is wide, so that the page does not. */
export function Table({ caption, columns, rows }: TableProps) {
  const id = useId();
  return (
    <>
      {/* Not a <caption>, which would be as wide as the table and scroll with it. */}
      <p class="caption" id={id}>
        {caption}
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling element must be reachable by keyboard. */}
      <section class="table" tabIndex={0} aria-labelledby={id}>
        <table aria-labelledby={id}>
          <thead>
            <tr>
              {columns.map((column) => (
                <th scope="col" key={column}>
                  {column}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map(([name, ...cells]) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                {cells.map((cell, k) => (
                  <td key={columns[k + 1]}>{cell}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </>
  );
}

export function PolicyName({ of: code }: { readonly of: string }) {
  const name = policyName(code);
  return (
    <span class="policy-name">
      {name}
      {name !== code && <small> {code}</small>}
    </span>
  );
}

/** A message with a spinner, which screen readers announce. */
export const Loading = ({ children }: RenderableProps<object>) => (
  <div class="message loading" role="status">
    <span class="spinner" aria-hidden="true" />
    <p>{children}</p>
  </div>
);

const FAILURES: Readonly<Record<Failure['kind'], readonly [title: string, advice: string]>> = {
  stopped: ['Stopped', 'Nothing was computed yet.'],
  refused: ['That cannot be computed', ''],
  failed: ['Something went wrong', 'Try again; if it happens again, reload the page.'],
};

/** A failure, with its remedy. */
export function FailureMessage(props: { readonly failure: Failure; readonly retry: () => void }) {
  const { kind, message } = props.failure;
  const [title, advice] = FAILURES[kind];
  return (
    <div class="message" role="alert">
      <h2>{title}</h2>
      <p>{kind === 'refused' ? message : advice}</p>
      {kind !== 'refused' && (
        <Button main onClick={props.retry}>
          Try again
        </Button>
      )}
      {kind === 'failed' && (
        <Fold title="Error message">
          <p class="fine">{message}</p>
        </Fold>
      )}
    </div>
  );
}

/** A message that can be dismissed. */
export const Notice = ({ children, onClose }: RenderableProps<{ readonly onClose: () => void }>) => (
  <div class="notice" role="status">
    <div>{children}</div>
    <Button onClick={onClose}>Dismiss</Button>
  </div>
);

/** Content that is folded at first. */
export const Fold = ({ title, children }: RenderableProps<{ readonly title: string }>) => (
  <details>
    <summary>{title}</summary>
    {children}
  </details>
);

/** Announces a text to screen readers once it has not changed for `delay` milliseconds. */
export function Announcement({ text, delay }: { readonly text: string; readonly delay: number }) {
  const [announced, setAnnounced] = useState('');
  useLayoutEffect(() => {
    const timer = setTimeout(() => setAnnounced(text), delay);
    return () => clearTimeout(timer);
  }, [text, delay]);
  return (
    <p class="visually-hidden" role="status">
      {announced}
    </p>
  );
}
