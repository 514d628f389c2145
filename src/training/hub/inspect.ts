/** Computes what an upload needs to know of a file, in one pass and constant memory. */
import { createHash, type Hash } from 'node:crypto';
import { TRAINING_SEEDS } from '../../agents/search/search-seeds.js';
import type { LocalFile } from './local-files.js';

/** How the Hub names contents: git's objects by SHA-1, large files by SHA-256. */
export type Naming = 'git' | 'sha256';

export interface Inspection {
  /** Under the naming asked for; null where none was. */
  readonly oid: string | null;
  /** Whether the token stands in it. */
  readonly holdsToken: boolean;
  /** Whether a trajectory's `hidden` numbers stand in it. */
  readonly holdsHidden: boolean;
  /** The first seed that is kept for evaluation; null where none is found. */
  readonly evalSeed: number | null;
}

/** How a reading is ended, and followed. */
export interface Reading {
  readonly signal: AbortSignal;
  /** Told of the bytes as they are read. */
  readonly onRead?: (bytes: number) => void;
}

/** @throws what reading throws: NotReadableError once the file has changed. */
export async function inspect(
  { blob, target }: LocalFile,
  naming: Naming | null,
  token: string | null,
  { signal, onRead }: Reading,
): Promise<Inspection> {
  const hash = naming === null ? null : hashOf(naming, blob.size);
  const secret = token === null ? null : new SecretSearch(token);
  const rows = target.endsWith('.jsonl') ? new RowSearch() : null;
  for await (const chunk of blob.stream() as unknown as AsyncIterable<Uint8Array>) {
    signal.throwIfAborted();
    hash?.update(chunk);
    secret?.look(chunk);
    rows?.look(chunk);
    onRead?.(chunk.length);
  }
  return {
    oid: hash?.digest('hex') ?? null,
    holdsToken: secret?.found ?? false,
    holdsHidden: rows?.hidden ?? false,
    evalSeed: rows?.evalSeed ?? null,
  };
}

const hashOf = (naming: Naming, size: number): Hash =>
  naming === 'sha256' ? createHash('sha256') : createHash('sha1').update(`blob ${size}\0`);

/** Finds a word even where it begins in one piece and ends in the next. */
class SecretSearch {
  readonly #secret: Buffer;
  #tail = Buffer.alloc(0);
  found = false;

  constructor(secret: string) {
    this.#secret = Buffer.from(secret);
  }

  look(chunk: Uint8Array): void {
    const text = Buffer.concat([this.#tail, chunk]);
    this.found ||= text.includes(this.#secret);
    this.#tail = text.subarray(-this.#secret.length);
  }
}

/** Longer than what is looked for, whole. */
const TAIL = 64;

/**
 * Looks at keys of JSON lines. Within a JSON string quotes have a backslash, so that what is merely quoted is not
 * found.
 */
class RowSearch {
  #tail = '';
  hidden = false;
  evalSeed: number | null = null;

  look(chunk: Uint8Array): void {
    const text = this.#tail + Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length).toString('latin1');
    this.hidden ||= /"hidden":\s?\{/.test(text);
    this.evalSeed ??= evalSeedIn(text);
    this.#tail = text.slice(-TAIL);
  }
}

function evalSeedIn(text: string): number | null {
  // With what ends it: digits may go on in the next piece.
  for (const [, digits] of text.matchAll(/"seed":\s?(\d{1,15})[,}\s]/g)) {
    const seed = Number(digits);
    if (seed < TRAINING_SEEDS.first || seed > TRAINING_SEEDS.last) return seed;
  }
  return null;
}
