/** 32-bit words as a snapshot's body has them, and the checksum over header and body. */
import crc32 from 'crc-32';
import { HEADER } from './format.js';

const LITTLE_ENDIAN = new Uint8Array(Uint32Array.of(1).buffer)[0] === 1;

/** A view of the memory that words lie in. */
export const bytesOf = (words: Uint32Array): Uint8Array =>
  new Uint8Array(words.buffer, words.byteOffset, words.byteLength);

/** Turns words, in place, from this machine's order of bytes into the body's, or back: nothing on most machines. */
export function reorderBytes(words: Uint32Array, littleEndian = LITTLE_ENDIAN): void {
  if (littleEndian) return;
  const view = new DataView(words.buffer, words.byteOffset, words.byteLength);
  for (let i = 0; i < words.length; i++) view.setUint32(4 * i, view.getUint32(4 * i, true), false);
}

/** CRC-32 (that of zip and PNG), u32, of a header without its checksum and of the parts of its body. */
export function checksumOf(header: Uint8Array, ...parts: readonly Uint8Array[]): number {
  const sum = parts.reduce(
    (crc, part) => crc32.buf(part, crc),
    crc32.buf(header.subarray(0, HEADER.checksum.offset)),
  );
  return sum >>> 0;
}
