/** Byte order and checksum of a snapshot. */
import crc32 from 'crc-32';
import { HEADER } from './format.js';

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
