/** Who changes places at which weight. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { PolicyComponents } from '../../../../src/evaluate/ranking.js';
import type { Flip, WeightSensitivity } from '../../../../src/evaluate/sensitivity.js';
import { Table } from '../../parts/table.js';
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
      {rows === null ? (
        <p class="note">Looking for the nearest other rankings …</p>
      ) : (
        <Table
          caption="The nearest smaller and the nearest larger weight at which two neighbours have changed places, the other five in their proportions"
          columns={['weight of', 'now', 'lower', 'then', 'higher', 'then ']}
          rows={rows.map(({ component, weight, below, above }) => [
            title(component),
            weight.toFixed(3),
            ...inWords(below),
            ...inWords(above),
          ])}
        />
      )}
    </section>
  );
}

const inWords = (flip: Flip | null): [at: string, who: string] =>
  flip === null ? ['–', 'nobody'] : [flip.weight.toFixed(3), `${flip.policy} passes ${flip.passed}`];

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
  useEffect(() => {
    const timer = setTimeout(async () => {
      const rows = await sensitivityOf(policies, weights).catch(() => null);
      if (rows !== null && latest.current === weights) find({ weights, rows });
    }, REST);
    return () => clearTimeout(timer);
  }, [policies, weights]);
  return found?.weights === weights ? found.rows : null;
}
