/** Decodes bytes as UTF-8. */

const BOM = '\uFEFF';

/** Returns the text of UTF-8 bytes, including a byte order mark; null for invalid bytes. */
export function decodeUtf8(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

/** Returns a text without the byte order mark at its beginning, if it has one. */
export const withoutMark = (text: string): string => (text.startsWith(BOM) ? text.slice(1) : text);
