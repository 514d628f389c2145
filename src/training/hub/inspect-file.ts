/** Hashes a file, and searches it for the token, hidden profiles and evaluation seeds, in constant memory. */
import { createHash } from 'node:crypto';
import { InputError, LibraryError } from '../../shared/errors.js';
import { load, PACKAGES } from '../../shared/optional-packages.js';
import { TRAINING_SEEDS } from '../../world/conditions.js';
import type { LocalFile } from './local-files.js';

/** The hash that the Hub uses for a file: git's SHA-1 for small files, SHA-256 for large files. */
export type HashKind = 'git' | 'sha256';

/** Findings in the rows of a file: JSON lines, the same with gzip, or Parquet. Other files have none. */
interface RowFindings {
  /** Whether a row has a trajectory's `hidden` profile. */
  readonly holdsHidden: boolean;
  /** The first seed outside of TRAINING_SEEDS; null for none. */
  readonly evalSeed: number | null;
}

export interface Inspection extends RowFindings {
  /** The hash of the requested kind; null if none was requested. */
  readonly oid: string | null;
}

/** Options of reading files. */
export interface ReadOptions {
  readonly signal: AbortSignal;
  /** Called with the number of bytes of each chunk. */
  readonly onRead?: (bytes: number) => void;
}

/**
 * Inspects a file. @param kind the hash to compute. @param token the token to refuse; null for none.
 * @throws InputError for a file that contains the token; NotReadableError if the file changed since it was opened; LibraryError `library_missing` for Parquet; the signal's reason.
 */
export async function inspect(
  { blob, source, target }: LocalFile,
  kind: HashKind | null,
  token: string | null,
  { signal, onRead }: ReadOptions,
): Promise<Inspection> {
  const hash = createHash(kind === 'git' ? 'sha1' : 'sha256');
  if (kind === 'git') hash.update(`blob ${blob.size}\0`);
  for await (const { chunk, text } of windowsOf(blob.stream(), token?.length)) {
    signal.throwIfAborted();
    if (kind !== null) hash.update(chunk);
    if (token !== null && text.includes(token)) refuseToken(source);
    onRead?.(chunk.length);
  }
  const oid = kind === null ? null : hash.digest('hex');
  return { oid, ...(await searchRows(blob, target, signal)) };
}

function refuseToken(source: string): never {
  throw new InputError(
    'out_of_range',
    `Expected files without the token, but ${JSON.stringify(source)} contains it: anyone who reads the file could write to ` +
      'the Hub in your name. Remove the token from the file, and revoke it if it was ever published.',
  );
}

/**
 * Yields the chunks of a stream, each with its text after the end of the text before, because a match may span two chunks.
 * @param overlap the characters that the text repeats: more than any match of `searchRows` has, unless given.
 */
async function* windowsOf(stream: ReadableStream<Uint8Array>, overlap = 64) {
  let text = '';
  for await (const chunk of stream as unknown as AsyncIterable<Uint8Array>) {
    text =
      text.slice(-overlap) + Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length).toString('latin1');
    yield { chunk, text };
  }
}

/** Searches rows. A damaged file has only what was found before the damage: nobody can read its other rows. */
async function searchRows(blob: Blob, target: string, signal: AbortSignal): Promise<RowFindings> {
  const found: { -readonly [Key in keyof RowFindings]: RowFindings[Key] } = {
    holdsHidden: false,
    evalSeed: null,
  };
  const [, kind, zipped] = /\.(?:(jsonl|ndjson)(\.gz)?|parquet)$/i.exec(target) ?? [target];
  try {
    if (kind !== undefined) {
      const bytes = zipped ? blob.stream().pipeThrough(new DecompressionStream('gzip')) : blob.stream();
      for await (const { text } of windowsOf(bytes)) {
        signal.throwIfAborted();
        // Text inside a JSON string is not mistaken for a key, because its quotation marks are escaped.
        found.holdsHidden ||= /"hidden":\s?\{/.test(text);
        // The number may continue in the next chunk, so a character must follow it.
        const seeds = Array.from(text.matchAll(/"seed":\s?(\d{1,15})[,}\s]/g), ([, digits]) =>
          Number(digits),
        );
        found.evalSeed ??= seeds.find(isEvalSeed) ?? null;
      }
    } else if (/\.parquet$/i.test(target)) Object.assign(found, await searchTable(blob));
  } catch (error) {
    const isOther = error instanceof LibraryError || (error as Error).name === 'NotReadableError';
    if (isOther || signal.aborted) throw error;
  }
  return found;
}

const isEvalSeed = (seed: number): boolean => seed < TRAINING_SEEDS.first || seed > TRAINING_SEEDS.last;

/** Searches the columns of a Parquet file, by their names and by the least and greatest seed of each row group. */
async function searchTable(blob: Blob): Promise<RowFindings> {
  const library = await load('Parquet files', PACKAGES.parquet, () => import('hyparquet'));
  const file = {
    byteLength: blob.size,
    slice: (start: number, end?: number) => blob.slice(start, end).arrayBuffer(),
  };
  // Without geoparquet: false, hyparquet searches for geographic columns, which never ends in some damaged footers.
  const { schema, row_groups: groups } = await library.parquetMetadataAsync(file, { geoparquet: false });
  const seeds = groups
    .flatMap(({ columns }) => columns.map(({ meta_data: column }) => column))
    .filter((column) => column?.path_in_schema.join('.') === 'seed')
    .flatMap((column) => [column!.statistics?.min_value, column!.statistics?.max_value].map(Number));
  return {
    holdsHidden: schema.some(({ name, num_children: fields }) => name === 'hidden' && fields !== undefined),
    evalSeed: seeds.find(isEvalSeed) ?? null,
  };
}
