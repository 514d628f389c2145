/** Suggests the known name that an unknown name probably means ("Did you mean"). */
import { distance } from 'fastest-levenshtein';
import { renamed } from './former-names.js';

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

/** Returns ` Did you mean "x"?`, ` Use "x", its new name.` for a former name, or `otherwise` if no known name is near. */
export function didYouMean(
  name: string,
  known: readonly string[],
  otherwise = ' Use one of these names.',
): string {
  const newName = renamed(name);
  if (newName !== undefined && known.includes(newName)) return ` Use "${newName}", its new name.`;
  if (name.length > MAX_GUESS) return otherwise;
  const suggestion = nearest(name, known) ?? containedName(name, known);
  return suggestion === undefined ? otherwise : ` Did you mean "${suggestion}"?`;
}

/**
 * Returns the known name with the smallest edit distance, if that is at most 2 or a third of the known name's length. Both
 * bounds are chosen by hand.
 */
function nearest(name: string, known: readonly string[]): string | undefined {
  const guess = plain(name);
  let best: string | undefined;
  let smallest = Number.POSITIVE_INFINITY;
  for (const candidate of known) {
    const edits = distance(guess, plain(candidate));
    if (edits < smallest) [best, smallest] = [candidate, edits];
  }
  return best !== undefined && smallest <= Math.max(2, best.length / 3) ? best : undefined;
}

/** Returns a known name whose words all occur in the unknown name: `autoreset` for `autoresetMode`. */
function containedName(name: string, known: readonly string[]): string | undefined {
  const words = wordsOf(name);
  return known.find((candidate) => wordsOf(candidate).every((word) => words.includes(word)));
}
