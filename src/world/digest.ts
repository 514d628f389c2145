/** Digests of the layout that code is compiled for, and of a world's numbers. */
import { sha256 } from '@noble/hashes/sha2';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils';
import { LAYOUT } from './layout.js';

/**
 * Returns the SHA-256, hexadecimal, of everything that compiled code assumes. The addon contains it; an addon that was
 * built for another layout is refused.
 */
export function layoutDigest(): string {
  return bytesToHex(sha256(utf8ToBytes(JSON.stringify(LAYOUT))));
}

/** Returns the SHA-256, hexadecimal, of the 32-bit words of a world's block (block.ts), in little-endian order. */
export function worldDigest(words: Uint32Array): string {
  const bytes = new Uint8Array(words.length * 4);
  const view = new DataView(bytes.buffer);
  words.forEach((word, index) => {
    view.setUint32(index * 4, word, true);
  });
  return bytesToHex(sha256(bytes));
}
