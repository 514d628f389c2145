/** Episodes as rows of a Parquet file: columns for the values that a replay cannot compute, and for the results at the end. */

import type { Columns, ColumnType, Origin } from '../../shared/row-files/row-encoder.js';
import { SCHEMAS } from '../../shared/schemas.js';
import { packageVersion } from '../../shared/version.js';
import { BELIEF_NAMES, COMPONENT_NAMES } from '../../world/fields.js';
import type { CompactEpisode } from './compact-episode.js';
import { FINAL_NAMES, SAMPLING_NAMES, USAGE_NAMES } from './trajectory-episode.js';

/**
 * The maximum number of rows of the first group: few, so that the group is written early. The maximum doubles with each
 * group, up to MAX_ROWS. The constants of this file are chosen by hand: larger groups need more memory, and a killed
 * run loses more episodes.
 */
const FIRST_ROWS = 64;
const MAX_ROWS = 1024;
/** A group with this many characters of text is complete. */
const MAX_CHARACTERS = 2 ** 23;

/** Collects episodes in row groups. */
export class RowGroups {
  #rows: CompactEpisode[] = [];
  #characters = 0;
  #capacity = FIRST_ROWS;

  /** Adds an episode. Returns the rows of its group if the episode completes the group; else null. */
  add(episode: CompactEpisode): CompactEpisode[] | null {
    this.#rows.push(episode);
    this.#characters += charactersOf(episode);
    if (this.#rows.length < this.#capacity && this.#characters < MAX_CHARACTERS) return null;
    this.#capacity = Math.min(MAX_ROWS, 2 * this.#capacity);
    return this.rest();
  }

  /** Returns the rows of the unfinished group, and begins another group. */
  rest(): CompactEpisode[] {
    const rows = this.#rows;
    this.#rows = [];
    this.#characters = 0;
    return rows;
  }
}

function charactersOf({ completions, reasoning, line }: CompactEpisode): number {
  const texts = [...(completions ?? []), ...(reasoning ?? []), line ?? null];
  return texts.reduce((sum, text) => sum + (text?.length ?? 0), 0);
}

/** A row: values by the names of EPISODE_COLUMNS. */
export type EpisodeRow = Readonly<Record<string, unknown>>;

const beliefColumn = (name: string): string => `belief_${name}`;
const usageColumn = (name: string): string => `usage_${name}`;
const samplingColumn = (name: string): string => `sampling_${name}`;

const TEXT: ColumnType = { type: 'text' };
const TEXT_OR_NULL: ColumnType = { type: 'text', nullable: true };
const AMOUNT: ColumnType = { type: 'number', nullable: true };
const TEXTS_OR_NULL: ColumnType = { type: 'list', nullable: true, of: { type: 'text', nullable: true } };

/** Returns the same type for each of several columns. */
const typesByColumn = (names: readonly string[], type: ColumnType): Record<string, ColumnType> =>
  Object.fromEntries(names.map((name) => [name, type]));

/** The columns, in the order of the file (docs/trajectories.md). Lists have an entry per step, except grader_weights. */
export const EPISODE_COLUMNS: Columns<EpisodeRow> = {
  version: TEXT,
  world_digest: TEXT,
  teacher: TEXT,
  model: TEXT_OR_NULL,
  objective: TEXT_OR_NULL,
  oracle: { type: 'flag' },
  condition: TEXT,
  profile_mode: TEXT,
  seed: { type: 'integer' },
  grader: TEXT,
  grader_weights: { type: 'list', of: { type: 'number' } },
  actions: { type: 'list', of: { type: 'text' } },
  ...typesByColumn(BELIEF_NAMES.map(beliefColumn), { type: 'list', of: { type: 'float', nullable: true } }),
  parsed: { type: 'list', of: { type: 'flag' } },
  completions: TEXTS_OR_NULL,
  reasoning: TEXTS_OR_NULL,
  ...typesByColumn(FINAL_NAMES, { type: 'float' }),
  ...typesByColumn(SAMPLING_NAMES.map(samplingColumn), AMOUNT),
  [samplingColumn('form')]: TEXT_OR_NULL,
  ...typesByColumn(USAGE_NAMES.map(usageColumn), AMOUNT),
  line: TEXT_OR_NULL,
};

/** Returns the metadata of a file of these rows. */
export const episodeTableOrigin = (): Origin => ({
  schema: SCHEMAS.trajectoryTable,
  version: packageVersion(),
});

/** Returns the row of an episode. */
export function toEpisodeRow(compact: CompactEpisode): EpisodeRow {
  const { final, usage, sampling, beliefs, grader, line, ...same } = compact;
  return {
    ...same,
    grader: grader.name,
    grader_weights: COMPONENT_NAMES.map((name) => grader.weights[name]),
    ...valuesByColumn(BELIEF_NAMES, beliefColumn, (_, k) => beliefs.map((belief) => belief?.[k] ?? null)),
    ...valuesByColumn(FINAL_NAMES, String, (name) => valueAt(final, name)),
    ...valuesByColumn(SAMPLING_NAMES, samplingColumn, (name) => valueAt(sampling, name)),
    ...valuesByColumn(USAGE_NAMES, usageColumn, (name) => valueAt(usage, name)),
    line: line ?? null,
  };
}

/**
 * Returns the fields of a compact episode from a row, for `parseCompact`, which checks them. Readers of Parquet may
 * return the seed as a bigint.
 */
export function fromEpisodeRow(stored: EpisodeRow): Record<string, unknown> {
  const row = Object.fromEntries(Object.keys(EPISODE_COLUMNS).map((name) => [name, withNulls(stored[name])]));
  const { grader, grader_weights, seed, line, ...others } = row;
  const weights = listOf(grader_weights);
  const usage = presentValues(USAGE_NAMES, usageColumn, row);
  const sampling = presentValues(SAMPLING_NAMES, samplingColumn, row);
  return {
    ...others,
    seed: typeof seed === 'bigint' ? Number(seed) : seed,
    grader: {
      name: grader,
      weights: Object.fromEntries(weights.map((weight, k) => [COMPONENT_NAMES[k], weight])),
    },
    beliefs: beliefsOf(BELIEF_NAMES.map((name) => listOf(row[beliefColumn(name)]))),
    final: Object.fromEntries(FINAL_NAMES.map((name) => [name, row[name]])),
    ...(usage && { usage }),
    ...(sampling && { sampling }),
    ...(typeof line === 'string' && { line }),
  };
}

/** Returns values by the names of their columns. */
const valuesByColumn = <Name extends string>(
  names: readonly Name[],
  columnOf: (name: string) => string,
  read: (name: Name, k: number) => unknown,
): EpisodeRow => Object.fromEntries(names.map((name, k) => [columnOf(name), read(name, k)]));

const valueAt = (values: object | undefined, name: string): unknown =>
  (values as EpisodeRow | undefined)?.[name] ?? null;

/** Returns the values by name that a row has; undefined if it has none. */
function presentValues(
  names: readonly string[],
  columnOf: (name: string) => string,
  row: EpisodeRow,
): EpisodeRow | undefined {
  const present = names.map((name) => [name, row[columnOf(name)]]).filter(([, value]) => value != null);
  return present.length === 0 ? undefined : Object.fromEntries(present);
}

/** Replaces undefined, which readers of Parquet return, by null: as a value, or as an entry of a list. */
const withNulls = (value: unknown): unknown =>
  Array.isArray(value) ? value.map((entry) => entry ?? null) : (value ?? null);

/** Returns the entries of a list; [] for any other value, which later checks refuse. */
const listOf = (value: unknown): unknown[] =>
  typeof value === 'object' && value !== null ? Array.from(value as ArrayLike<unknown>) : [];

/** Returns the beliefs of all steps; null for a step whose three numbers are all missing. */
function beliefsOf(lists: readonly (readonly unknown[])[]): unknown[] {
  const steps = Math.max(...lists.map(({ length }) => length));
  return Array.from({ length: steps }, (_, t) => {
    const belief = lists.map((list) => list[t] ?? null);
    return belief.every((value) => value === null) ? null : belief;
  });
}
