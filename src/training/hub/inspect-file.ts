/**
 * Hashes a file and searches it for the token, hidden profiles and evaluation seeds (seeds outside of TRAINING_SEEDS). Reads it
 * once, in constant memory.
 */
import { createHash, type Hash } from 'node:crypto';
import { TRAINING_SEEDS } from '../../agents/search/search-seeds.js';
import type { LocalFile } from './local-files.js';

/** The hash that the Hub uses for a file: git's SHA-1 for small files, SHA-256 for large files. */
export type HashKind = 'git' | 'sha256';

/** The findings in a file. */
export interface Inspection {
  /** The hash of the requested kind; null if none was requested. */
  readonly oid: string | null;
  /** Whether the file contains the token. */
  readonly holdsToken: boolean;
  /** Whether a `.jsonl` file contains a trajectory's `hidden` profile; false for other files. */
  readonly holdsHidden: boolean;
  /** The first evaluation seed in a `.jsonl` file; null if it has none, and for other files. */
  readonly evalSeed: number | null;
}

/** Options of reading files. */
export interface ReadOptions {
  readonly signal: AbortSignal;
  /** Called with the number of bytes of each chunk. */
  readonly onRead?: (bytes: number) => void;
}

/**
 * Inspects a file. @param kind the hash to compute. @param token the token to search for; null for none.
 * @throws NotReadableError if the file changed since it was opened; the signal's reason.
 */
export async function inspect(
  { blob, target }: LocalFile,
  kind: HashKind | null,
  token: string | null,
  { signal, onRead }: ReadOptions,
): Promise<Inspection> {
  const hash = kind === null ? null : createHashOf(kind, blob.size);
  const secret = token === null ? null : new SecretSearch(token);
  const rows = target.endsWith('.jsonl') ? new RowSearch() : null;
  for await (const chunk of blob.stream() as unknown as AsyncIterable<Uint8Array>) {
    signal.throwIfAborted();
    hash?.update(chunk);
    secret?.add(chunk);
    rows?.add(chunk);
    onRead?.(chunk.length);
  }
  return {
    oid: hash?.digest('hex') ?? null,
    holdsToken: secret?.found ?? false,
    holdsHidden: rows?.hidden ?? false,
    evalSeed: rows?.evalSeed ?? null,
  };
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
 * Searches JSON lines for the keys `hidden` and `seed`. Text inside a JSON string is not mistaken for a key, because its
 * quotation marks are escaped.
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
}

function evalSeedIn(text: string): number | null {
  // Requires the character after the digits, because the number may continue in the next chunk.
  for (const [, digits] of text.matchAll(/"seed":\s?(\d{1,15})[,}\s]/g)) {
    const seed = Number(digits);
    if (seed < TRAINING_SEEDS.first || seed > TRAINING_SEEDS.last) return seed;
  }
  return null;
}
