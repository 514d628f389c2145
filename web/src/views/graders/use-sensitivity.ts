/** How the ranking depends on each weight, computed in the worker a moment after the last move of a slider. */
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { PolicyComponents } from '../../../../src/evaluation/ranking.js';
import type { WeightSensitivity } from '../../../../src/evaluation/weight-sensitivity.js';
import { sensitivityOf } from './results-store.js';

/**
 * Milliseconds after the last move of a slider until the sensitivity is computed. Chosen by hand: with less, it is computed
 * more often while a slider moves.
 */
const DELAY = 250;

interface Sensitivity {
  readonly weights: readonly number[];
  readonly rows: readonly WeightSensitivity[];
}

/**
 * Returns the sensitivity of the ranking; null until it is computed for these weights. While more episodes are played,
 * returns the last result.
 */
export function useSensitivity(
  policies: readonly PolicyComponents[] | null,
  weights: readonly number[],
): readonly WeightSensitivity[] | null {
  const [sensitivity, setSensitivity] = useState<Sensitivity | null>(null);
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
