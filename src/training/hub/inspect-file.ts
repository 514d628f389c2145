/**
 * Hashes a file and searches it for the token, hidden profiles and evaluation seeds (seeds outside of TRAINING_SEEDS), in
 * constant memory.
 */
import { createHash, type Hash } from 'node:crypto';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { LibraryError } from '../../shared/errors.js';
import { load, PACKAGES } from '../../shared/optional-packages.js';
import { TRAINING_SEEDS } from '../../world/conditions.js';
import type { LocalFile } from './local-files.js';

/** The hash that the Hub uses for a file: git's SHA-1 for small files, SHA-256 for large files. */
export type HashKind = 'git' | 'sha256';

/** The findings in a file. */
export interface Inspection {
  /** The hash of the requested kind; null if none was requested. */
  readonly oid: string | null;
  /** Whether the file contains the token. */
  readonly holdsToken: boolean;
  /** Whether a file of rows (LINES, ZIPPED, TABLE) contains a trajectory's `hidden` profile; false for other files. */
  readonly holdsHidden: boolean;
  /** The first evaluation seed in a file of rows; null if it has none, and for other files. */
  readonly evalSeed: number | null;
}

/** Options of reading files. */
export interface ReadOptions {
  readonly signal: AbortSignal;
  /** Called with the number of bytes of each chunk. */
  readonly onRead?: (bytes: number) => void;
}

/** Match the names of files of rows: JSON lines, the same with gzip, and Parquet. */
const LINES = /\.(jsonl|ndjson)$/i;
const ZIPPED = /\.(jsonl|ndjson)\.gz$/i;
const TABLE = /\.parquet$/i;

/**
 * Inspects a file. @param kind the hash to compute. @param token the token to search for; null for none.
 * @throws NotReadableError if the file changed since it was opened; LibraryError `library_missing` for Parquet; the signal's reason.
 */
export async function inspect(
  { blob, target }: LocalFile,
  kind: HashKind | null,
  token: string | null,
  { signal, onRead }: ReadOptions,
): Promise<Inspection> {
  const hash = kind === null ? null : createHashOf(kind, blob.size);
  const secret = token === null ? null : new SecretSearch(token);
  const rows = new RowSearch();
  const isLines = LINES.test(target);
  for await (const chunk of blob.stream() as unknown as AsyncIterable<Uint8Array>) {
    signal.throwIfAborted();
    hash?.update(chunk);
    secret?.add(chunk);
    if (isLines) rows.add(chunk);
    onRead?.(chunk.length);
  }
  if (ZIPPED.test(target)) await searchUndamaged(() => rows.addZipped(blob, signal), signal);
  if (TABLE.test(target)) await searchUndamaged(() => rows.addTable(blob), signal);
  return {
    oid: hash?.digest('hex') ?? null,
    holdsToken: secret?.found ?? false,
    holdsHidden: rows.hidden,
    evalSeed: rows.evalSeed,
  };
}

/** Runs a search. A damaged file has only what was found before the damage: nobody can read its other rows. */
async function searchUndamaged(search: () => Promise<void>, signal: AbortSignal): Promise<void> {
  try {
    await search();
  } catch (error) {
    const isOther = error instanceof LibraryError || (error as Error).name === 'NotReadableError';
    if (isOther || signal.aborted) throw error;
  }
}

const createHashOf = (kind: HashKind, size: number): Hash =>
  kind === 'sha256' ? createHash('sha256') : createHash('sha1').update(`blob ${size}\0`);

/** Searches chunks for a secret, which may begin in one chunk and end in the next. */
class SecretSearch {
  readonly #secret: Buffer;
  #tail = Buffer.alloc(0);
  found = false;

  constructor(secret: string) {
    this.#secret = Buffer.from(secret);
  }

  add(chunk: Uint8Array): void {
    const text = Buffer.concat([this.#tail, chunk]);
    this.found ||= text.includes(this.#secret);
    this.#tail = text.subarray(-this.#secret.length);
  }
}

/** The number of characters that are kept for the next chunk: more than any match of `RowSearch` has. */
const TAIL = 64;

/**
 * Searches rows for the keys `hidden` and `seed`. Text inside a JSON string is not mistaken for a key, because its quotation
 * marks are escaped.
 */
class RowSearch {
  #tail = '';
  hidden = false;
  evalSeed: number | null = null;

  add(chunk: Uint8Array): void {
    const text = this.#tail + Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length).toString('latin1');
    this.hidden ||= /"hidden":\s?\{/.test(text);
    this.evalSeed ??= evalSeedIn(text);
    this.#tail = text.slice(-TAIL);
  }

  /** Searches a gzip file of JSON lines. */
  addZipped(blob: Blob, signal: AbortSignal): Promise<void> {
    const unzipped = createGunzip();
    unzipped.on('data', (chunk) => this.add(chunk));
    return pipeline(blob.stream(), unzipped, { signal });
  }

  /** Searches the columns of a Parquet file, by their names and by the least and greatest seed of each row group. */
  async addTable(blob: Blob): Promise<void> {
    const library = await load('Parquet files', PACKAGES.parquet, () => import('hyparquet'));
    const file = {
      byteLength: blob.size,
      slice: (start: number, end?: number) => blob.slice(start, end).arrayBuffer(),
    };
    // Without geoparquet: false, hyparquet searches for geographic columns, which never ends in some damaged footers.
    const { schema, row_groups: groups } = await library.parquetMetadataAsync(file, { geoparquet: false });
    this.hidden = schema.some(({ name, num_children: fields }) => name === 'hidden' && fields !== undefined);
    const seeds = groups
      .flatMap(({ columns }) => columns.map(({ meta_data: column }) => column))
      .filter((column) => column?.path_in_schema.join('.') === 'seed')
      .flatMap((column) => [column!.statistics?.min_value, column!.statistics?.max_value].map(Number));
    this.evalSeed = seeds.find(isEvalSeed) ?? null;
  }
}

const isEvalSeed = (seed: number): boolean => seed < TRAINING_SEEDS.first || seed > TRAINING_SEEDS.last;

function evalSeedIn(text: string): number | null {
  // Requires the character after the digits, because the number may continue in the next chunk.
  for (const [, digits] of text.matchAll(/"seed":\s?(\d{1,15})[,}\s]/g)) {
    const seed = Number(digits);
    if (isEvalSeed(seed)) return seed;
  }
  return null;
}
