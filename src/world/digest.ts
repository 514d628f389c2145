/** The two digests: of the layout, which code is compiled against, and of a world's numbers. */
import { sha256 } from '@noble/hashes/sha2';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils';
import { LAYOUT } from './layout.js';

/**
 * SHA-256, hexadecimal, of everything that compiled code assumes. It is compiled into the addon; one that was built
 * for another layout refuses to open.
 */
export function layoutDigest(): string {
  return bytesToHex(sha256(utf8ToBytes(JSON.stringify(LAYOUT))));
}

/** SHA-256, hexadecimal, of a world block's 32-bit words in little-endian order. */
export function worldDigest(words: Uint32Array): string {
  const bytes = new Uint8Array(words.length * 4);
  const view = new DataView(bytes.buffer);
  words.forEach((word, index) => {
    view.setUint32(index * 4, word, true);
  });
  return bytesToHex(sha256(bytes));
}
