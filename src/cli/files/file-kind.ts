/** Recognises the files that this package writes and reads, and refuses a file that a command cannot read. */
import { closeSync, openSync, readSync } from 'node:fs';
import { SCHEMAS, type Schema } from '../../shared/schemas.js';
import { UsageError } from '../command-errors.js';
import { stat } from './paths.js';

export interface FileKind {
  /** With its article: "a file of trajectories". */
  readonly what: string;
  /** What to do with a file of this kind: the remedy in errors. */
  readonly use: string;
  /** The keys that an object without a schema must have; [] if all files of this kind have a schema. */
  readonly keys: readonly string[];
  readonly schemas: readonly Schema[];
}

/** @param keys separated by spaces. */
const kind = (what: string, use: string, keys: string, ...schemas: Schema[]): FileKind => ({
  ...{ what, use, schemas },
  keys: keys === '' ? [] : keys.split(' '),
});

const NO_READER = 'No command reads it.';
const TRAIN = 'Train on it, or use upload.';

/**
 * All kinds. Of the kinds whose keys an object has, the first counts. `parquet` is a Parquet file whose metadata states no kind,
 * or that comes from a pipe.
 */
export const KINDS = {
  trajectories: kind(
    'a file of trajectories',
    'Use reeval, report, train --jsonl, dataset sft or dataset dpo.',
    '',
    ...[SCHEMAS.trajectory, SCHEMAS.trajectoryTable],
  ),
  evaluation: kind('the JSON of eval', 'Use report.', '', SCHEMAS.evaluation),
  reevaluation: kind('the JSON of reeval', 'Use report.', '', SCHEMAS.reevaluation),
  audit: kind('the JSON of audit', 'Use report, or --bracket of eval and report.', '', SCHEMAS.audit),
  training: kind("the JSON of the recipe's pipeline", 'Use report.', '', SCHEMAS.training),
  regrade: kind('the JSON of regrade', NO_READER, '', SCHEMAS.regrade),
  bench: kind('the JSON of a benchmark', NO_READER, '', SCHEMAS.bench),
  dpoRows: kind('a dataset for DPO', TRAIN, 'chosen rejected', SCHEMAS.dpoDataset),
  grpoRows: kind('a dataset for GRPO', TRAIN, 'seed step_index action_history', SCHEMAS.grpoDataset),
  sftRows: kind(
    'a dataset for SFT',
    `${TRAIN} Other commands read the trajectories that it was made from.`,
    'seed step_index messages',
    SCHEMAS.sftDataset,
  ),
  replayed: kind('the output of replay', NO_READER, 'seed belief_target steps'),
  episodes: kind('a file of episodes for replay', 'Use replay --input.', 'seed actions', SCHEMAS.episode),
  numbers: kind('the numbers of a world', 'Use world --numbers.', 'meters actions constants'),
  grader: kind("a grader's file", 'Use --grader.', 'weights', SCHEMAS.grader),
  world: kind('the file of a world', 'Pass it to VecEnv of the Python package.', '', SCHEMAS.world),
  manifest: kind("the manifest of a shard's file", 'Use merge with the file itself.', '', SCHEMAS.shard),
  parquet: kind(
    'a Parquet file',
    `${TRAIN} Trajectories in Parquet are read from files, not from pipes.`,
    '',
  ),
} as const satisfies Record<string, FileKind>;

const ALL: readonly FileKind[] = Object.values(KINDS);

/** Returns the kind whose files have the schema of this name; null for an unknown name. */
const kindOfSchema = (name: unknown): FileKind | null =>
  ALL.find(({ schemas }) => schemas.some((schema) => schema.name === name)) ?? null;

/**
 * The number of bytes that are searched for a file's kind: at its beginning, or at the end of a Parquet file. Chosen by hand: a
 * longer object without a schema has an unknown kind.
 */
const HEAD_BYTES = 65536;

/** Matches the schema's name at the beginning of a value that is cut off. */
const SCHEMA = /^\s*\{\s*"schema"\s*:\s*\{\s*"name"\s*:\s*"([^"]*)"/;

/** Returns the kind of a file by its beginning. @returns null if it is unknown. */
export function kindOf(head: Uint8Array): FileKind | null {
  const text = Buffer.from(head)
    .toString('utf8')
    .replace(/^\uFEFF+/gm, '');
  if (text.startsWith(MAGIC)) return KINDS.parquet;
  const firstLine = text.split('\n').find((line) => line.trim() !== '') ?? '';
  const value = objectOf(firstLine) ?? objectOf(text);
  if (value === null) return kindOfSchema(SCHEMA.exec(text)?.[1]);
  const { schema } = value;
  if (schema !== undefined) return kindOfSchema(Object(schema).name);
  return ALL.find(({ keys }) => keys.length > 0 && keys.every((key) => Object.hasOwn(value, key))) ?? null;
}

function objectOf(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' ? (value as Record<string, unknown> | null) : null;
  } catch {
    return null;
  }
}

/** The input of a command. */
export interface ExpectedFile {
  /** The option, such as "--jsonl". */
  readonly option: string;
  /** The file's name in errors. */
  readonly name: string;
  /** The kinds that the command reads. A file of unknown kind is read too. */
  readonly kinds: readonly FileKind[];
}

/** Refuses a file whose beginning shows another kind. @throws UsageError with the kind and the command to use. */
export const checkHead = (head: Uint8Array, expected: ExpectedFile): void =>
  checkFound(kindOf(head), expected);

function checkFound(found: FileKind | null, { option, name, kinds }: ExpectedFile): void {
  if (found === null || kinds.includes(found)) return;
  const expected = kinds.map(({ what }) => what).join(' or ');
  throw new UsageError(
    `Expected ${option} to name ${expected}, got ${name}, which is ${found.what}. ${found.use}`,
  );
}

/**
 * Refuses files of another kind before any work is done. Pipes and devices are checked when they are read.
 * @throws UsageError.
 */
export function checkKind(option: string, path: string, kinds: readonly FileKind[]): void {
  if (path === '-' || !stat(path)?.isFile()) return;
  const expected = { option, name: path, kinds };
  if (isParquet(path)) checkFound(parquetKind(path, kinds), expected);
  else checkHead(partOf(path, 0), expected);
}

/** The first bytes of every Parquet file. */
const MAGIC = 'PAR1';
/** Matches the name of this package's schema in the metadata of a Parquet file. */
const ORIGIN = /"name":"(rhythm-vec\/[a-z-]+)"/g;

/** Returns whether a path is a Parquet file; false for pipes and devices. */
export const isParquet = (path: string): boolean =>
  path !== '-' &&
  (stat(path)?.isFile() ?? false) &&
  partOf(path, 0, MAGIC.length).toString('latin1') === MAGIC;

/**
 * Returns the kind that a Parquet file's metadata states. If it states none: null (unknown) if `kinds` has trajectories,
 * because copies of trajectories may lack the metadata; else `parquet`.
 */
function parquetKind(path: string, kinds: readonly FileKind[]): FileKind | null {
  const end = partOf(path, Math.max(0, stat(path)!.size - HEAD_BYTES)).toString('latin1');
  // The last match counts, because the metadata comes after all values.
  const stated = kindOfSchema([...end.matchAll(ORIGIN)].pop()?.[1]);
  return stated ?? (kinds.includes(KINDS.trajectories) ? null : KINDS.parquet);
}

/** Reads `length` bytes of a file from position `from` on, or fewer at its end. */
function partOf(path: string, from: number, length = HEAD_BYTES): Buffer {
  const descriptor = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(length);
    return bytes.subarray(0, readSync(descriptor, bytes, 0, length, from));
  } finally {
    closeSync(descriptor);
  }
}

/** The number of lines of indented JSON up to the name of its schema. */
const SCHEMA_LINES = 3;

/** Returns whether these bytes suffice to tell the kind. A pipe may stay open for long after its first line. */
function isEnough(head: Uint8Array): boolean {
  const lines = Buffer.from(head).toString('utf8').trimStart().split('\n');
  const isIndented = lines[0].trimEnd() === '{';
  return head.length >= HEAD_BYTES || lines.length > (isIndented ? SCHEMA_LINES : 1);
}

/**
 * Passes a stream on after its kind is checked. @param onKind called with the kind, null if it is unknown, before the first bytes
 * are passed on. @throws UsageError for another kind.
 */
export async function* checkedStream(
  input: AsyncIterable<Uint8Array>,
  expected: ExpectedFile,
  onKind: (kind: FileKind | null) => void = () => {},
): AsyncGenerator<Uint8Array> {
  let head: Uint8Array | null = new Uint8Array();
  const check = (bytes: Uint8Array): void => {
    const found = kindOf(bytes);
    checkFound(found, expected);
    onKind(found);
  };
  for await (const chunk of input) {
    if (head === null) {
      yield chunk;
      continue;
    }
    head = Buffer.concat([head, chunk]);
    if (!isEnough(head)) continue;
    check(head.subarray(0, HEAD_BYTES));
    yield head;
    head = null;
  }
  if (head !== null && head.length > 0) {
    check(head);
    yield head;
  }
}
