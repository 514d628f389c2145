/** Bytes as text. */

const BOM = '\uFEFF';

/** What bytes say in UTF-8, a byte order mark included; null for bytes that say nothing. */
export function decodeUtf8(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

/** The beginning of a file without its byte order mark. */
export const withoutMark = (text: string): string => (text.startsWith(BOM) ? text.slice(1) : text);
