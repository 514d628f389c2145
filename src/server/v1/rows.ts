/** Rows of a request's columns, as replays take them, and errors that name them as the request does. */
import type { ReplayRow } from '../../rollout/replay/objects.js';

export interface RowColumns {
  readonly seeds: readonly unknown[];
  readonly action_histories: readonly unknown[];
  readonly profile_modes?: string | readonly unknown[];
}

type Proposed = Pick<ReplayRow, 'action' | 'belief'>;

/** Of rows `from` to before `to`; what is wrong with an entry is for who checks them to say. */
export function rowsOf(
  { seeds, action_histories, profile_modes = 'sampled' }: RowColumns,
  from: number,
  to: number,
  proposed: (row: number) => Proposed,
): ReplayRow[] {
  const rows: unknown[] = [];
  for (let row = from; row < to; row++) {
    const profileMode = typeof profile_modes === 'string' ? profile_modes : profile_modes[row];
    const { action, belief } = proposed(row);
    rows.push({ seed: seeds[row], profileMode, actionHistory: action_histories[row], action, belief });
  }
  return rows as ReplayRow[];
}

const COLUMNS: Readonly<Record<string, string>> = {
  seed: 'seeds',
  profileMode: 'profile_modes',
  actionHistory: 'action_histories',
  action: 'actions',
  belief: 'beliefs',
};

/** A message about rows that began at row `from` of the request. */
export const namingColumns = (message: string, from: number): string =>
  message.replace(/rows\[(\d+)\]\.(\w+)/g, (_, row, key) => `${COLUMNS[key] ?? key}[${Number(row) + from}]`);
