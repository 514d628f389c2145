/** Suggests the known name that an unknown name probably means ("Did you mean"). */
import { distance } from 'fastest-levenshtein';

/** Splits a name into lower-case words. `resetMask`, `reset_mask` and `RESET-MASK` give the same words. */
const wordsOf = (name: string): string[] =>
  name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[\s_-]+/);

const plain = (name: string): string => wordsOf(name).join('');

/**
 * Longer texts get no suggestion: they are not misspelled names, and the edit distance of a whole file takes minutes. Chosen
 * by hand.
 */
const MAX_GUESS = 100;

/** Returns ` Did you mean "x"?`, or `otherwise` if no known name is near. */
export function didYouMean(
  name: string,
  known: readonly string[],
  otherwise = ' Use one of these names.',
): string {
  if (name.length > MAX_GUESS) return otherwise;
  const suggestion = nearest(name, known) ?? containedName(name, known);
  return suggestion === undefined ? otherwise : ` Did you mean "${suggestion}"?`;
}

/**
 * Returns the known name with the smallest edit distance, if no other is as near, and if the distance is at most half of the
 * known name's length, and at most 2 or a third of that length. The bounds are chosen by hand.
 */
function nearest(name: string, known: readonly string[]): string | undefined {
  const guess = plain(name);
  const [best, edits] = onlyBest(known, (candidate) => -distance(guess, plain(candidate)));
  if (best === undefined) return undefined;
  const { length } = plain(best);
  return -edits <= Math.min(length / 2, Math.max(2, length / 3)) ? best : undefined;
}

/**
 * Returns the known name whose words all occur in the unknown name: `autoreset` for `autoresetMode`. If there are several,
 * returns the one with the most words.
 */
function containedName(name: string, known: readonly string[]): string | undefined {
  const words = wordsOf(name);
  const contained = known.filter((candidate) => wordsOf(candidate).every((word) => words.includes(word)));
  return onlyBest(contained, (candidate) => wordsOf(candidate).length)[0];
}

/** Returns the name with the highest rank, and the rank; undefined for a name if several have this rank. */
function onlyBest(
  names: readonly string[],
  rankOf: (name: string) => number,
): [name: string | undefined, rank: number] {
  const ranks = names.map(rankOf);
  const highest = Math.max(...ranks);
  const at = ranks.indexOf(highest);
  return [ranks.lastIndexOf(highest) === at ? names[at] : undefined, highest];
}
