/** Finds texts regardless of spelling: width, accents, escapes and invisible characters. */

/** A global regular expression: the characters that a folded text leaves out. */
export type Dropped = RegExp;
/** Zero-width and format characters, soft hyphens, variation selectors, marks, and controls other than white space. */
export const UNSEEN: Dropped = /(?![\t-\r])[\p{C}\p{M}\p{DI}]/gu;
/** The characters of UNSEEN, and all white space. */
export const UNSEEN_OR_BLANK: Dropped = /[\s\p{Z}\p{C}\p{M}\p{DI}\u2800]/gu;

/** An escape of JSON (a surrogate pair counts as one) or of a URL. */
const ESCAPES = /\\ud[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2}|\\u[0-9a-f]{4}|\\[bfnrt]|%[0-9a-f]{2}/gi;
/**
 * Matches one of: a run of printable ASCII that begins no escape and folds to itself; an escape; any other character.
 */
const PIECES = new RegExp(`[!-$&-[\\]-~]+|${ESCAPES.source}|.`, 'gisu');
const PLAIN = /^[!-$&-[\]-~]/;

/** Decodes an escape. @returns '' for a URL escape of a byte outside ASCII. */
function decode(code: string): string {
  if (code[0] === '\\') return JSON.parse(`"${code.toLowerCase()}"`);
  const byte = Number.parseInt(code.slice(1), 16);
  return byte < 128 ? String.fromCharCode(byte) : '';
}

/**
 * Returns the folded form of a text: escapes decoded, in Unicode form NFKD, without the dropped characters. NFKD turns
 * a full-width letter into the plain one and splits off accents, which are dropped. Each piece folds independently of
 * its neighbours.
 */
export const folded = (text: string, dropped: Dropped): string =>
  text.replaceAll(ESCAPES, decode).normalize('NFKD').replaceAll(dropped, '');

/**
 * Replaces every passage whose folded form is one of the words.
 * @param words folded, none of them ''. Overlapping occurrences become one replacement.
 */
export function replaceFolded(
  source: string,
  words: readonly string[],
  instead: string,
  dropped: Dropped,
): string {
  const text = folded(source, dropped);
  const hidden = words.filter((word) => text.includes(word));
  if (hidden.length === 0) return source;
  const found = placesOf(hidden, source, dropped).sort((a, b) => a.from - b.from);
  let result = '';
  let copied = 0;
  for (const { from, to } of found) {
    if (from >= copied) result += source.slice(copied, from) + instead;
    copied = Math.max(copied, to);
  }
  return result + source.slice(copied);
}

/** A range of a text, `to` excluded. */
interface Place {
  readonly from: number;
  readonly to: number;
}

function placesOf(words: readonly string[], source: string, dropped: Dropped): Place[] {
  const { text, places } = foldWithPlaces(source, dropped);
  return words.flatMap((word) => {
    const found: Place[] = [];
    for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + word.length)) {
      found.push({ from: places[at].from, to: places[at + word.length - 1].to });
    }
    return found;
  });
}

/** Returns the folded form, and for each of its UTF-16 units the range of the source that it came from. */
function foldWithPlaces(source: string, dropped: Dropped): { text: string; places: Place[] } {
  const places: Place[] = [];
  const known = new Map<string, string>();
  const foldOnce = (piece: string): string => {
    const before = known.get(piece);
    if (before !== undefined) return before;
    const now = folded(piece, dropped);
    known.set(piece, now);
    return now;
  };
  let text = '';
  for (const { index, 0: piece } of source.matchAll(PIECES)) {
    const plain = PLAIN.test(piece);
    const units = plain ? piece : foldOnce(piece);
    for (let k = 0; k < units.length; k++) {
      places.push(plain ? { from: index + k, to: index + k + 1 } : { from: index, to: index + piece.length });
    }
    text += units;
  }
  return { text, places };
}
