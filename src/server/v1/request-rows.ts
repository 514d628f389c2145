/** Converts a request's columns to rows of a replay, and names the columns in their errors. */

import { RowNaming } from '../../rollouts/replay/row-faults.js';
import { LazyRows, type ReplayRow } from '../../rollouts/replay/row-objects.js';
import type { Column } from './column.js';

export interface RowColumns {
  readonly seeds: Column;
  readonly action_histories: Column;
  readonly profile_modes?: string | Column;
  readonly belief_histories?: Column;
}

type Answer = Pick<ReplayRow, 'action' | 'belief'>;

/**
 * Parses rows `from` up to `to` (excluded) of the columns, without validation of their entries.
 * @param answerOf returns the action and belief of row `from + k`.
 * @throws InvalidRequestError for invalid JSON.
 */
export function rowsOf(
  { seeds, action_histories, profile_modes = 'sampled', belief_histories }: RowColumns,
  from: number,
  to: number,
  answerOf: (k: number) => Answer,
): LazyRows {
  const histories = action_histories.rows(from, to);
  const modes = typeof profile_modes === 'string' ? null : profile_modes.rows(from, to);
  const beliefs = belief_histories?.rows(from, to);
  const parsedSeeds = seeds.rows(from, to);
  const rowAt = (k: number): unknown => {
    const { action, belief } = answerOf(k);
    const profileMode = modes === null ? profile_modes : modes[k];
    const seed = parsedSeeds[k];
    return { seed, profileMode, actionHistory: histories[k], beliefHistory: beliefs?.[k], action, belief };
  };
  return new LazyRows(to - from, rowAt as (k: number) => ReplayRow);
}

const COLUMNS: Readonly<Record<string, string>> = {
  seed: 'seeds',
  profileMode: 'profile_modes',
  actionHistory: 'action_histories',
  beliefHistory: 'belief_histories',
  action: 'actions',
  belief: 'beliefs',
};

/** Returns the names of rows in errors: those of the request's columns. @param from the first row. */
export const namingOf = (from: number): RowNaming => new RowNaming(COLUMNS, from);
