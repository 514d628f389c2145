/** Replaces words in a text regardless of letter width, accents, escapes and invisible characters. */

/** A global regular expression that matches the characters to drop. */
export type DroppedCharacters = RegExp;
/** Unicode's categories C (such as controls) and M (marks), and ignorable characters, except U+0009 to U+000D. */
export const INVISIBLE: DroppedCharacters = /(?![\t-\r])[\p{C}\p{M}\p{DI}]/gu;
/** The characters of INVISIBLE, all white space, and the blank of Braille. */
export const INVISIBLE_OR_SPACE: DroppedCharacters = /[\s\p{Z}\p{C}\p{M}\p{DI}\u2800]/gu;

/** An escape of JSON for a UTF-16 unit, a surrogate pair or a control character, or an escape of a URL. */
const ESCAPES = /\\ud[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2}|\\u[0-9a-f]{4}|\\[bfnrt]|%[0-9a-f]{2}/gi;
/**
 * Matches one of: a run of printable ASCII without space, \ and %, which folds to itself; an escape; any other character.
 */
const PIECES = new RegExp(`[!-$&-[\\]-~]+|${ESCAPES.source}|.`, 'gisu');
/** Matches a piece that is such a run of ASCII. */
const PLAIN = /^[!-$&-[\]-~]/;

/** Decodes an escape. @returns '' for a URL escape of a byte outside ASCII. */
function decode(code: string): string {
  if (code[0] === '\\') return JSON.parse(`"${code.toLowerCase()}"`);
  const byte = Number.parseInt(code.slice(1), 16);
  return byte < 128 ? String.fromCharCode(byte) : '';
}

/**
 * Returns the folded form of a text: escapes decoded, in Unicode form NFKD, without the dropped characters. NFKD turns
 * a full-width letter into the plain one and splits off accents, which are dropped. Folding the pieces (PIECES) of a
 * text one by one and joining the results gives the same folded form.
 */
export const folded = (text: string, dropped: DroppedCharacters): string =>
  text.replaceAll(ESCAPES, decode).normalize('NFKD').replaceAll(dropped, '');

/**
 * Replaces every passage whose folded form is one of the words. Overlapping occurrences become one replacement.
 * @param words folded, none of them empty.
 */
export function replaceFolded(
  source: string,
  words: readonly string[],
  replacement: string,
  dropped: DroppedCharacters,
): string {
  const text = folded(source, dropped);
  const present = words.filter((word) => text.includes(word));
  if (present.length === 0) return source;
  const ranges = rangesOf(present, source, dropped).sort((a, b) => a.from - b.from);
  let result = '';
  let copied = 0;
  for (const { from, to } of ranges) {
    if (from >= copied) result += source.slice(copied, from) + replacement;
    copied = Math.max(copied, to);
  }
  return result + source.slice(copied);
}

/** A range of a text, `to` excluded. */
interface TextRange {
  readonly from: number;
  readonly to: number;
}

function rangesOf(words: readonly string[], source: string, dropped: DroppedCharacters): TextRange[] {
  const { text, origins } = foldWithOrigins(source, dropped);
  return words.flatMap((word) => {
    const ranges: TextRange[] = [];
    for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + word.length)) {
      ranges.push({ from: origins[at].from, to: origins[at + word.length - 1].to });
    }
    return ranges;
  });
}

/** Returns the folded form, and for each of its UTF-16 units the range of the source from which it comes. */
function foldWithOrigins(source: string, dropped: DroppedCharacters): { text: string; origins: TextRange[] } {
  const origins: TextRange[] = [];
  const cache = new Map<string, string>();
  const foldOnce = (piece: string): string => {
    const cached = cache.get(piece);
    if (cached !== undefined) return cached;
    const result = folded(piece, dropped);
    cache.set(piece, result);
    return result;
  };
  let text = '';
  for (const { index, 0: piece } of source.matchAll(PIECES)) {
    const plain = PLAIN.test(piece);
    const units = plain ? piece : foldOnce(piece);
    for (let k = 0; k < units.length; k++) {
      origins.push(
        plain ? { from: index + k, to: index + k + 1 } : { from: index, to: index + piece.length },
      );
    }
    text += units;
  }
  return { text, origins };
}
