/** Names and versions of the JSON schemas that this package writes and reads (docs/installing.md), and messages about invalid JSON. */
import { didYouMean } from './names.js';
import { describe } from './values.js';

/** Returns the end of a message: what came. */
export const got = (value: unknown): string =>
  value === undefined ? 'got none.' : `got ${describe(value)}.`;

/** Returns the message for a value that is not an object. @param keys the keys of the expected object. */
export const notAnObject = (value: unknown, keys: readonly string[]): string =>
  `Expected an object with the keys ${keys.join(', ')}, ${got(value)}`;

/** Returns the message for unknown keys, which names the first. @param keys the known keys. */
export const unknownKeys = (unknown: readonly string[], keys: readonly string[]): string =>
  `Expected no keys but ${keys.join(', ')}; got ${describe(unknown[0])}.${didYouMean(unknown[0], keys, ' Remove it.')}`;

/** The value of `schema` in a file: which schema the file follows. */
export interface Schema {
  readonly name: string;
  /** Incremented when a key is renamed, removed or given another meaning; not when a key is added. */
  readonly version: number;
}

/** The schemas that this release writes or reads. The comments say where each is used. */
export const SCHEMAS = {
  /** What `eval --json` writes. */
  evaluation: { name: 'rhythm-vec/evaluation', version: 1 },
  /** What `npm run bench -- --json` writes. */
  bench: { name: 'rhythm-vec/bench', version: 2 },
  /** A row that `replay` reads. */
  episode: { name: 'rhythm-vec/episode', version: 1 },
  /** A grader's file, `--grader FILE`. */
  grader: { name: 'rhythm-vec/grader', version: 1 },
  /** What `audit --json` writes. */
  audit: { name: 'rhythm-vec/audit', version: 1 },
  /** What `regrade --json` writes. */
  regrade: { name: 'rhythm-vec/regrade', version: 1 },
  /** Rows of `dataset grpo`. The dataset's card and the metadata of a Parquet file contain it. */
  grpoDataset: { name: 'rhythm-vec/grpo-dataset', version: 2 },
  /** A line of stored trajectories: an episode with its observations, texts and actions. */
  trajectory: { name: 'rhythm-vec/trajectory', version: 1 },
  /** A Parquet file of trajectories, in its metadata. */
  trajectoryTable: { name: 'rhythm-vec/trajectory-table', version: 1 },
  /** What `reeval --json` writes. */
  reevaluation: { name: 'rhythm-vec/reevaluation', version: 1 },
  /** Rows of `dataset sft`. The dataset's card and the metadata of a Parquet file contain it. */
  sftDataset: { name: 'rhythm-vec/sft-dataset', version: 1 },
  /** Rows of `dataset dpo`. The dataset's card and the metadata of a Parquet file contain it. */
  dpoDataset: { name: 'rhythm-vec/dpo-dataset', version: 1 },
  /** What python/recipe/pipeline.py writes: curves and costs of a training. */
  training: { name: 'rhythm-vec/training', version: 1 },
  /** The state of a normaliser of observations or rewards. */
  normaliser: { name: 'rhythm-vec/normaliser', version: 1 },
  /** The manifest beside the file of a shard. */
  shard: { name: 'rhythm-vec/shard', version: 1 },
  /** A student's file, in its metadata. */
  student: { name: 'rhythm-vec/student', version: 1 },
  /** What `rhythm-vec world --numbers` writes. */
  world: { name: 'rhythm-vec/world', version: 1 },
} as const satisfies Record<string, Schema>;

/** Returns whether a file's `schema` value names this schema and version. */
export function follows(schema: Schema, value: unknown): boolean {
  const { name, version } = (value ?? {}) as Partial<Schema>;
  return name === schema.name && version === schema.version;
}

/** What to do about data of another version. */
export const MAKE_AGAIN = 'Make it again with this release.';

/** Returns the error message for a file of another schema. @param place where the value is, such as " at schema of FILE". */
export const otherSchema = (schema: Schema, value: unknown, place = ''): string =>
  `Expected ${schemaName(schema)}${place}, got ${show(value)}. ${MAKE_AGAIN}`;

/** Returns the error message for a file of another world. @param digest the digest of this release's world. */
export const otherWorld = (digest: string, value: unknown): string =>
  `Expected ${digest}, the world of this release, ${got(value)} ${MAKE_AGAIN}`;

/** Formats a schema for errors. */
export const schemaName = ({ name, version }: Schema): string =>
  `${describe(name)} version ${describe(version)}`;

/** Formats a schema as its name and version, and any other value as `describe` does. */
function show(value: unknown): string {
  if (value === undefined) return 'none';
  return (value as Schema | null)?.name === undefined ? describe(value) : schemaName(value as Schema);
}
