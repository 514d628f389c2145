/** The nearest weights at which two policies change places in the ranking. */
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { PolicyComponents } from '../../../../src/evaluation/ranking.js';
import type { Flip, WeightSensitivity } from '../../../../src/evaluation/weight-sensitivity.js';
import { title } from '../../person/descriptions.js';
import { sensitivityOf } from './results-store.js';

interface FlipsProps {
  readonly policies: readonly PolicyComponents[];
  /** By COMPONENT_NAMES. */
  readonly weights: readonly number[];
}

export function Flips({ policies, weights }: FlipsProps) {
  const rows = useSensitivity(policies, weights);
  return (
    <section class="panel" aria-labelledby="flips" aria-busy={rows === null}>
      <h2 id="flips">Where the ranking changes</h2>
      <p class="note">
        The nearest smaller and the nearest larger weight at which two neighbours of the ranking change
        places, while the other weights keep their proportions.
      </p>
      {rows === null ? (
        <p class="fine">Computing the nearest changes of the ranking …</p>
      ) : (
        <FlipsTable rows={rows} />
      )}
    </section>
  );
}

function FlipsTable({ rows }: { readonly rows: readonly WeightSensitivity[] }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling element must be reachable by keyboard.
    <section class="table" tabIndex={0} aria-label="Where the ranking changes, as a table">
      <table class="flips">
        <thead>
          <tr>
            <th scope="col">weight of</th>
            <th scope="col">now</th>
            <th scope="col">less of it</th>
            <th scope="col">more of it</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ component, weight, below, above }) => (
            <tr key={component}>
              <th scope="row">{title(component)}</th>
              <td>{weight.toFixed(3)}</td>
              <FlipCell flip={below} now={weight} />
              <FlipCell flip={above} now={weight} />
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function FlipCell({ flip, now }: { readonly flip: Flip | null; readonly now: number }) {
  if (flip === null) return <td>changes nothing</td>;
  return (
    <td>
      {flip.weight.toFixed(3) === now.toFixed(3) ? 'at once' : flip.weight.toFixed(3)}
      <small>
        <Name of={flip.policy} /> passes <Name of={flip.passed} />
      </small>
    </td>
  );
}

/** A policy's name, which may wrap before the belief. */
function Name({ of: name }: { readonly of: string }) {
  const [actions, belief] = name.split('+');
  return (
    <span class="policy">
      {actions}
      {belief !== undefined && (
        <>
          +<wbr />
          {belief}
        </>
      )}
    </span>
  );
}

/** Milliseconds after the last move of a slider until the sensitivity is computed. */
const DELAY = 250;

interface Sensitivity {
  readonly weights: readonly number[];
  readonly rows: readonly WeightSensitivity[];
}

/**
 * Returns the sensitivity of the ranking; null until it is computed for these weights. While more episodes are played,
 * returns the result for the episodes so far.
 */
function useSensitivity(
  policies: readonly PolicyComponents[],
  weights: readonly number[],
): readonly WeightSensitivity[] | null {
  const [sensitivity, setSensitivity] = useState<Sensitivity | null>(null);
  const latest = useRef(weights);
  latest.current = weights;
  useLayoutEffect(() => {
    const timer = setTimeout(async () => {
      const rows = await sensitivityOf(policies, weights).catch(() => null);
      if (rows !== null && latest.current === weights) setSensitivity({ weights, rows });
    }, DELAY);
    return () => clearTimeout(timer);
  }, [policies, weights]);
  return sensitivity?.weights === weights ? sensitivity.rows : null;
}
