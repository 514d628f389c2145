/** The format of a snapshot: its header, byte order and checksum. All numbers are little-endian on every machine. */

import { sha256 } from '@noble/hashes/sha2';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils';
import crc32 from 'crc-32';
import { InputError } from '../../shared/errors.js';
import { STATE_FIELDS } from '../../world/fields.js';
import type { AutoresetMode } from '../vec-env/autoreset.js';

/** The state of a vector environment, without the world's numbers and the default profiles and grader. */
export interface Snapshot {
  /** SHA-256 of the world's numbers, hexadecimal. */
  readonly worldDigest: string;
  /** 1 to 2^24. */
  readonly numEnvs: number;
  readonly autoreset: AutoresetMode;
  /** Whether noise and events come from the imagination streams. */
  readonly imagination: boolean;
  /** Counters of all environments together: steps taken and episodes finished. Integers below 2^53. */
  readonly steps: number;
  readonly episodes: number;
  /** The seeds of new episodes: `low` to `low + size - 1`, all u32. */
  readonly seedRange: readonly [low: number, size: number];
  /** u32 [numEnvs, STATE_WORDS], fields as in STATE_FIELDS. */
  readonly words: Uint32Array;
  /** u32 [numEnvs]: the number of autoresets of each environment since its last `reset`. */
  readonly episodeNumbers: Uint32Array;
}

/** The first eight bytes, ASCII. */
export const MAGIC = 'RHYTHMVS';
/** Incremented when the header, the order of the body, the state's fields or the meaning of a code change. */
export const FORMAT = 3;

interface HeaderField {
  readonly name: HeaderName;
  readonly offset: number;
  /** In bytes: 4 for a u32, 8 for an integer below 2^53 (and the magic bytes), other sizes for raw bytes. */
  readonly size: number;
  readonly meaning: string;
}

/** The fields of the header: name, bytes, meaning. */
const ROWS = [
  ['magic', MAGIC.length, 'MAGIC'],
  ['format', 4, 'FORMAT'],
  ['headerLength', 4, 'HEADER_LENGTH: where the body begins'],
  ['stateLayoutDigest', 32, 'the digest of the state layout'],
  ['worldDigest', 32, 'SHA-256 of the numbers of the world'],
  ['worldMajor', 4, 'version of the rules that the episodes follow: first number'],
  ['worldMinor', 4, 'second number of this version'],
  ['worldPatch', 4, 'third number of this version'],
  ['numEnvs', 4, 'environments'],
  ['stateWords', 4, 'words of a state'],
  ['autoreset', 4, 'code of AUTORESET_MODES'],
  ['imagination', 4, '0 or 1'],
  ['seedLow', 4, 'the first seed of the range for new episodes'],
  ['seedSize', 8, 'how many seeds the range has'],
  ['steps', 8, 'the counter of steps taken'],
  ['episodes', 8, 'the counter of episodes finished'],
  ['bodyLength', 8, 'bytes after the header: words [numEnvs, stateWords], then episode numbers [numEnvs]'],
  ['reserved', 44, 'zero'],
  ['checksum', 4, 'CRC-32 of everything before it and of the body'],
] as const;

/** The name of a header field. */
export type HeaderName = (typeof ROWS)[number][0];

function layOut(): readonly HeaderField[] {
  let offset = 0;
  return ROWS.map(([name, size, meaning]) => {
    const field = { name, offset, size, meaning };
    offset += size;
    return field;
  });
}

/** The header, field by field, without gaps. */
export const HEADER_FIELDS = layOut();
/** The header's fields by name. */
export const HEADER = Object.fromEntries(HEADER_FIELDS.map((field) => [field.name, field])) as Readonly<
  Record<HeaderName, HeaderField>
>;
/** Bytes of the header: a multiple of 64, so that the body is aligned to cache lines if the header is. */
export const HEADER_LENGTH = HEADER_FIELDS.reduce((bytes, field) => bytes + field.size, 0);

let digest: string | null = null;

/**
 * Returns the SHA-256, hexadecimal, of the state's fields, on which a snapshot's words depend. The layout digest that the
 * command `info` prints also covers things that do not concern snapshots.
 */
export function stateLayoutDigest(): string {
  digest ??= digestFields();
  return digest;
}

function digestFields(): string {
  const fields = STATE_FIELDS.map(({ name, offset, size, word }) => [name, offset, size, word]);
  return bytesToHex(sha256(utf8ToBytes(JSON.stringify(fields))));
}

/** Returns a number of the header. An eight-byte number of 2^53 or more may be rounded. */
export function headerNumber(view: DataView, name: HeaderName): number {
  const { offset, size } = HEADER[name];
  const low = view.getUint32(offset, true);
  return size === 4 ? low : low + view.getUint32(offset + 4, true) * 2 ** 32;
}

/** Writes a number of the header. @param value a u32, or for an eight-byte field an integer below 2^53. */
export function putHeaderNumber(view: DataView, name: HeaderName, value: number): void {
  const { offset, size } = HEADER[name];
  // For any integer below 2^53, `>>> 0` returns the remainder modulo 2^32.
  view.setUint32(offset, value >>> 0, true);
  if (size === 8) view.setUint32(offset + 4, Math.floor(value / 2 ** 32), true);
}

/** Returns the bytes of a header field, as a view. */
export function headerBytes(header: Uint8Array, name: HeaderName): Uint8Array {
  const { offset, size } = HEADER[name];
  return header.subarray(offset, offset + size);
}

/** Whether this machine is little-endian: the first byte of the word 1 is 1. */
const LITTLE_ENDIAN = new Uint8Array(Uint32Array.of(1).buffer)[0] === 1;

/** Returns a view of words as bytes. */
export const bytesOf = (words: Uint32Array): Uint8Array =>
  new Uint8Array(words.buffer, words.byteOffset, words.byteLength);

/** Converts words in place between this machine's byte order and little-endian, the byte order of snapshots. */
export function reorderBytes(words: Uint32Array, littleEndian = LITTLE_ENDIAN): void {
  if (littleEndian) return;
  const view = new DataView(words.buffer, words.byteOffset, words.byteLength);
  for (let i = 0; i < words.length; i++) view.setUint32(4 * i, view.getUint32(4 * i, true), false);
}

/** Returns the CRC-32 (as in zip and PNG), u32, of a header without its checksum and of the parts of the body. */
export function checksumOf(header: Uint8Array, ...parts: readonly Uint8Array[]): number {
  const sum = parts.reduce(
    (crc, part) => crc32.buf(part, crc),
    crc32.buf(header.subarray(0, HEADER.checksum.offset)),
  );
  return sum >>> 0;
}

/** The default remedy. */
const UNCHANGED = 'Pass the bytes as snapshot() returned them.';

/**
 * Throws the error for an invalid snapshot: "Expected `expected`, got `got`. `remedy`". @throws InputError
 * `bad_snapshot`.
 */
export function refuse(expected: string, got: string | number, remedy = UNCHANGED): never {
  throw new InputError('bad_snapshot', { expected, got: `${got}`, remedy });
}
