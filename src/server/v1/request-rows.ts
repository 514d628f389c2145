/** Converts rows of a request's columns to rows of a replay, and translates their names in errors. */
import type { ReplayRow } from '../../rollouts/replay/row-objects.js';
import type { Column } from './column.js';

export interface RowColumns {
  readonly seeds: Column;
  readonly action_histories: Column;
  readonly profile_modes?: string | Column;
}

type Proposed = Pick<ReplayRow, 'action' | 'belief'>;

/**
 * Parses rows `from` up to `to` (excluded). Their entries are not validated yet.
 * @throws RefusedError for invalid JSON.
 */
export function rowsOf(
  { seeds, action_histories, profile_modes = 'sampled' }: RowColumns,
  from: number,
  to: number,
  proposed: (k: number) => Proposed,
): ReplayRow[] {
  const histories = action_histories.rows(from, to);
  const modes = typeof profile_modes === 'string' ? null : profile_modes.rows(from, to);
  const rows = seeds.rows(from, to).map((seed, k) => {
    const profileMode = modes === null ? profile_modes : modes[k];
    return { seed, profileMode, actionHistory: histories[k], ...proposed(k) };
  });
  return rows as ReplayRow[];
}

const COLUMNS: Readonly<Record<string, string>> = {
  seed: 'seeds',
  profileMode: 'profile_modes',
  actionHistory: 'action_histories',
  action: 'actions',
  belief: 'beliefs',
};

/**
 * Replaces row names in an error message by those of the request's columns. @param from the index in the request of the
 * row that the message calls row 0.
 */
export const withColumnNames = (message: string, from: number): string =>
  message.replace(/rows\[(\d+)\]\.(\w+)/g, (_, row, key) => `${COLUMNS[key] ?? key}[${Number(row) + from}]`);
