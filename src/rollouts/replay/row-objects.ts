/** Validates rows that are passed as objects, and converts them to columns. */

import { illegalAction, NO_ACTION } from '../../engine/validate/actions.js';
import { isSeed, refuseSeed } from '../../engine/validate/seeds.js';
import { InputError } from '../../shared/errors.js';
import { didYouMean } from '../../shared/suggest.js';
import { checkInteger, describe, wrongType } from '../../shared/values.js';
import { ACTION_NAMES, MAX_ENVS, NUM_BELIEFS, NUM_STEPS } from '../../world/fields.js';
import type { ReplayColumns } from './row-columns.js';
import { catchFault, type ReportFault } from './row-faults.js';

/** One row of a replay. The fields are those of datasets, in camelCase. */
export interface ReplayRow {
  /** u32. */
  readonly seed: number;
  /** 'sampled' (default), 'discrete' or a profile's name. */
  readonly profileMode?: string;
  /** Actions taken before, by code or name, at most 27. */
  readonly actionHistory: readonly (number | string)[];
  /** By code or name; null for a completion without one. */
  readonly action: number | string | null;
  /** Three numbers; null or left out for none. */
  readonly belief?: ArrayLike<number> | null;
}

type Columns = Required<ReplayColumns> & { readonly profiles: string[] };

/** Action codes by code, by name, and by upper-case name, as in completions. */
const CODES: ReadonlyMap<unknown, number> = new Map(
  ACTION_NAMES.flatMap((name, code): [unknown, number][] => [
    [code, code],
    [name, code],
    [name.toUpperCase(), code],
  ]),
);

/**
 * Converts rows to columns.
 * @param reportFault called for every invalid row. Its columns keep valid default values.
 * @throws InputError `out_of_range` for more rows than a batch may have, before memory is allocated.
 */
export function toColumns(rows: readonly ReplayRow[], reportFault: ReportFault): Columns {
  const n = checkInteger('the number of rows', rows.length, 0, MAX_ENVS);
  const columns: Columns = {
    seeds: new Uint32Array(n),
    profiles: new Array<string>(n).fill('sampled'),
    stepIndices: new Uint8Array(n),
    histories: new Uint8Array(n * NUM_STEPS),
    actions: new Int8Array(n).fill(NO_ACTION),
    beliefs: new Float32Array(n * NUM_BELIEFS).fill(Number.NaN),
  };
  for (let i = 0; i < n; i++) catchFault(i, reportFault, () => writeRow(columns, i, rows[i]));
  return columns;
}

function writeRow(columns: Columns, i: number, row: ReplayRow): void {
  if (typeof row !== 'object' || row === null) {
    throw wrongType(`rows[${i}]`, 'an object', row, 'Pass { seed, actionHistory, action }.');
  }
  const { seed, profileMode, actionHistory, action, belief } = row;
  columns.seeds[i] = isSeed(seed) ? seed : refuseSeed(seed, `rows[${i}].seed`);
  if (typeof profileMode === 'string') columns.profiles[i] = profileMode;
  else if (profileMode !== undefined)
    throw wrongType(`rows[${i}].profileMode`, 'a name', profileMode, 'Pass a string.');
  writeHistory(columns, i, actionHistory);
  if (action !== null) {
    columns.actions[i] =
      CODES.get(action) ?? refuseAction(action, `rows[${i}].action`, ', its name, or null for none,');
  }
  if (belief !== undefined && belief !== null) writeBelief(columns, i, belief);
}

function writeHistory(
  { histories, stepIndices }: Columns,
  i: number,
  history: ReplayRow['actionHistory'],
): void {
  if (!Array.isArray(history)) {
    throw wrongType(`rows[${i}].actionHistory`, 'an array', history, 'Pass codes or names of actions.');
  }
  const { length } = history;
  if (length >= NUM_STEPS) {
    throw new InputError(
      'wrong_length',
      `Expected at most ${NUM_STEPS - 1} actions in rows[${i}].actionHistory, got ${length}. ` +
        'Pass the actions before the proposed one.',
    );
  }
  for (let t = 0; t < length; t++) {
    const action = history[t];
    histories[i * NUM_STEPS + t] =
      CODES.get(action) ?? refuseAction(action, `rows[${i}].actionHistory[${t}]`, ' or its name');
  }
  stepIndices[i] = length;
}

function writeBelief({ beliefs }: Columns, i: number, belief: ArrayLike<number>): void {
  if (typeof belief !== 'object' || belief.length !== NUM_BELIEFS) {
    throw wrongType(`rows[${i}].belief`, `${NUM_BELIEFS} numbers`, belief, 'Pass these, or null for none.');
  }
  for (let k = 0; k < NUM_BELIEFS; k++) {
    const number: unknown = belief[k];
    if (typeof number !== 'number' || !Number.isFinite(Math.fround(number)))
      refuseBelief(number, `rows[${i}].belief[${k}]`);
    else beliefs[i * NUM_BELIEFS + k] = number;
  }
}

function refuseAction(action: unknown, where: string, or: string): never {
  const remedy = typeof action === 'string' ? didYouMean(action, ACTION_NAMES).trim() : 'Pass one of these.';
  throw illegalAction(where, action, { or, remedy });
}

function refuseBelief(value: unknown, where: string): never {
  throw new InputError(
    'bad_belief',
    `Expected a finite number at ${where}, got ${describe(value)}. Pass null for no belief.`,
  );
}
