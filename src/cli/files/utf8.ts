/** Decodes bytes as UTF-8. */

const MARK = Buffer.from('\uFEFF');

/** Returns the text of UTF-8 bytes, including byte order marks; null for invalid bytes. */
export function decodeUtf8(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

/** Returns a text or a line without byte order marks at its beginning. Files that are joined have several. */
export const withoutMark = (text: string): string => text.replace(/^\uFEFF+/, '');

/** Returns the number of bytes of the byte order marks at the beginning of UTF-8. */
export function markLength(bytes: Buffer): number {
  let length = 0;
  while (MARK.equals(bytes.subarray(length, length + MARK.length))) length += MARK.length;
  return length;
}
