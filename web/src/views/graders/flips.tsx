/** Who changes places at which weight. */
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { PolicyComponents } from '../../../../src/evaluate/ranking.js';
import type { Flip, WeightSensitivity } from '../../../../src/evaluate/sensitivity.js';
import { title } from '../../person/words.js';
import { sensitivityOf } from './play.js';

interface FlipsProps {
  readonly policies: readonly PolicyComponents[];
  /** [6] */
  readonly weights: readonly number[];
}

export function Flips({ policies, weights }: FlipsProps) {
  const rows = useSensitivity(policies, weights);
  return (
    <section class="panel" aria-labelledby="flips" aria-busy={rows === null}>
      <h2 id="flips">Who changes places at which weight</h2>
      <p class="note">
        The nearest smaller and the nearest larger weight at which two neighbours of the ranking have changed
        places, the other five in their proportions.
      </p>
      {rows === null ? (
        <p class="fine">Looking for the nearest other rankings …</p>
      ) : (
        <FlipsTable rows={rows} />
      )}
    </section>
  );
}

function FlipsTable({ rows }: { readonly rows: readonly WeightSensitivity[] }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard.
    <section class="table" tabIndex={0} aria-label="Who changes places, as a table">
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

/** A policy's name, which may be broken behind its actions where there is little room. */
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

/** Milliseconds that a slider rests before it is asked what would be beside it. */
const REST = 250;

interface Found {
  readonly weights: readonly number[];
  readonly rows: readonly WeightSensitivity[];
}

/** Null while it is looked for: it takes longer than the ranking. What was found with fewer people is shown until then. */
function useSensitivity(
  policies: readonly PolicyComponents[],
  weights: readonly number[],
): readonly WeightSensitivity[] | null {
  const [found, find] = useState<Found | null>(null);
  const latest = useRef(weights);
  latest.current = weights;
  useLayoutEffect(() => {
    const timer = setTimeout(async () => {
      const rows = await sensitivityOf(policies, weights).catch(() => null);
      if (rows !== null && latest.current === weights) find({ weights, rows });
    }, REST);
    return () => clearTimeout(timer);
  }, [policies, weights]);
  return found?.weights === weights ? found.rows : null;
}
