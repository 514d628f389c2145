/** What a snapshot holds, and where its header keeps what. All numbers are little-endian, whatever the machine. */
import { sha256 } from '@noble/hashes/sha2';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils';
import type { AutoresetMode } from '../validate/autoreset-modes.js';
import { STATE_FIELDS } from '../world/fields.js';

/** A vector environment's state: all that its future depends on, but for the world's numbers. */
export interface Snapshot {
  /** SHA-256 of the world's block, hexadecimal. */
  readonly worldDigest: string;
  /** 1 to 2^24. */
  readonly numEnvs: number;
  readonly autoreset: AutoresetMode;
  /** Whether luck and events come from the imagination streams. */
  readonly imagination: boolean;
  /** Steps taken and episodes finished since the environment was opened: integers below 2^53. */
  readonly steps: number;
  readonly episodes: number;
  /** The seeds that new episodes draw from: [low, size], low a u32, size 1 to 2^32, the last one a u32 too. */
  readonly seedRange: readonly [low: number, size: number];
  /** u32 [numEnvs, STATE_WORDS], fields as in STATE_FIELDS. */
  readonly words: Uint32Array;
  /** u32 [numEnvs]: how many episodes a slot has begun by autoreset. */
  readonly episodeNumbers: Uint32Array;
}

/** The first eight bytes, ASCII. */
export const MAGIC = 'RHYTHMVS';
/** Rises when the header, the order of the body, the state's fields or the meaning of a code change. */
export const FORMAT = 2;

interface HeaderField {
  readonly name: HeaderName;
  readonly offset: number;
  /** In bytes: 4 for a u32, 8 for an integer below 2^53, else as they come. */
  readonly size: number;
  readonly meaning: string;
}

const ROWS = [
  ['magic', MAGIC.length, 'MAGIC'],
  ['format', 4, 'FORMAT'],
  ['headerLength', 4, 'HEADER_LENGTH: where the body begins'],
  ['layoutDigest', 32, 'STATE_LAYOUT_DIGEST'],
  ['worldDigest', 32, 'SHA-256 of the numbers of the world'],
  ['worldMajor', 4, 'version of the rules that the episodes follow'],
  ['worldMinor', 4, 'its second number'],
  ['worldPatch', 4, 'its third number'],
  ['numEnvs', 4, 'slots'],
  ['stateWords', 4, 'words of a state'],
  ['autoreset', 4, 'code of AUTORESET_MODES'],
  ['imagination', 4, '0 or 1'],
  ['seedLow', 4, 'the first seed of the range that new episodes draw from'],
  ['seedSize', 8, 'how many seeds the range has'],
  ['steps', 8, 'steps taken since the environment was opened'],
  ['episodes', 8, 'episodes finished since then'],
  ['bodyLength', 8, 'bytes after the header: words [numEnvs, stateWords], then episode numbers [numEnvs]'],
  ['reserved', 44, 'zero'],
  ['checksum', 4, 'CRC-32 of everything before it and of the body'],
] as const;

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
/** The same by name. */
export const HEADER = Object.fromEntries(HEADER_FIELDS.map((field) => [field.name, field])) as Readonly<
  Record<HeaderName, HeaderField>
>;
/** In bytes; a multiple of 64, so that the body begins on a cache line where the header does. */
export const HEADER_LENGTH = HEADER_FIELDS.reduce((bytes, field) => bytes + field.size, 0);

/**
 * SHA-256, hexadecimal, of the state's fields: what a snapshot's words depend on. The layout digest of `info` also
 * changes with what only compiled code assumes, and would refuse snapshots that are good.
 */
export const STATE_LAYOUT_DIGEST = bytesToHex(
  sha256(
    utf8ToBytes(
      JSON.stringify(STATE_FIELDS.map(({ name, offset, size, word }) => [name, offset, size, word])),
    ),
  ),
);

/** A number of the header. One of eight bytes that is too large for a double comes out as 2^53 or more. */
export function headerNumber(view: DataView, name: HeaderName): number {
  const { offset, size } = HEADER[name];
  const low = view.getUint32(offset, true);
  return size === 4 ? low : low + view.getUint32(offset + 4, true) * 2 ** 32;
}

export function putHeaderNumber(view: DataView, name: HeaderName, value: number): void {
  const { offset, size } = HEADER[name];
  // The remainder of 2^32 is what `>>> 0` keeps, for any integer below 2^53.
  view.setUint32(offset, value >>> 0, true);
  if (size === 8) view.setUint32(offset + 4, Math.floor(value / 2 ** 32), true);
}

/** The bytes of a header's field: a view. */
export function headerBytes(header: Uint8Array, name: HeaderName): Uint8Array {
  const { offset, size } = HEADER[name];
  return header.subarray(offset, offset + size);
}
