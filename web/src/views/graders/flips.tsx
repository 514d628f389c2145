/** The nearest weights at which two policies change places in the ranking, computed a moment after the last move of a slider. */
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { PolicyComponents } from '../../../../src/evaluation/ranking.js';
import type { Flip, WeightSensitivity } from '../../../../src/evaluation/weight-sensitivity.js';
import { beyond } from '../../graders/weights.js';
import { COMPONENT_WORDS, policyName } from '../../words.js';
import { sensitivityOf } from './results-store.js';

/**
 * Milliseconds after the last move of a slider until the sensitivity is computed. Chosen by hand: with less, it is computed
 * more often while a slider moves.
 */
const DELAY = 250;

/**
 * Returns the sensitivity of the ranking; null until it is computed for these weights. While more episodes are played,
 * returns the last result.
 */
export function useSensitivity(
  policies: readonly PolicyComponents[] | null,
  weights: readonly number[],
): readonly WeightSensitivity[] | null {
  const [sensitivity, setSensitivity] = useState<{
    readonly weights: readonly number[];
    readonly rows: readonly WeightSensitivity[];
  } | null>(null);
  const latest = useRef(weights);
  latest.current = weights;
  useLayoutEffect(() => {
    if (policies === null) return;
    const timer = setTimeout(async () => {
      const rows = await sensitivityOf(policies, weights).catch(() => null);
      if (rows !== null && latest.current === weights) setSensitivity({ weights, rows });
    }, DELAY);
    return () => clearTimeout(timer);
  }, [policies, weights]);
  return sensitivity?.weights === weights ? sensitivity.rows : null;
}

interface FlipsProps {
  /** Null while they are computed. */
  readonly rows: readonly WeightSensitivity[] | null;
  /** Moves weight k to `to` thousandths. */
  readonly jump: (k: number, to: number) => void;
}

export const Flips = ({ rows, jump }: FlipsProps) => (
  <div aria-busy={rows === null}>
    <p class="note">
      The nearest smaller and the nearest larger weight at which two neighbours of the ranking change places,
      while the other weights keep their proportions. Press a number to set that weight.
    </p>
    {rows === null ? (
      <p class="fine">Computing the nearest changes of the ranking …</p>
    ) : (
      <ul class="flips">
        {rows.map(({ component, weight, below, above }, k) => (
          <li key={component}>
            <strong>
              {COMPONENT_WORDS[component].name} <small>now {weight.toFixed(3)}</small>
            </strong>
            <FlipChoice flip={below} now={weight} side="smaller" jump={(to) => jump(k, to)} />
            <FlipChoice flip={above} now={weight} side="larger" jump={(to) => jump(k, to)} />
          </li>
        ))}
      </ul>
    )}
  </div>
);

interface FlipChoiceProps {
  readonly flip: Flip | null;
  readonly now: number;
  readonly side: string;
  readonly jump: (to: number) => void;
}

function FlipChoice({ flip, now, side, jump }: FlipChoiceProps) {
  if (flip === null) return <span class="fine">{side}: changes nothing</span>;
  return (
    <span>
      <button type="button" class="jump" onClick={() => jump(beyond(flip, now))}>
        {flip.weight.toFixed(3) === now.toFixed(3) ? 'any change' : flip.weight.toFixed(3)}
      </button>{' '}
      <small>
        {policyName(flip.policy)} passes {policyName(flip.passed)}
      </small>
    </span>
  );
}
