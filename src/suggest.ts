/** "Did you mean": the known name that a guess is likely to stand for. */
import { distance } from 'fastest-levenshtein';

/** The words of a name, however it is written: `resetMask`, `reset_mask` and `RESET-MASK` have the same. */
const wordsOf = (name: string): string[] =>
  name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[\s_-]+/);

const plain = (name: string): string => wordsOf(name).join('');

/** Whoever misspells a name writes no more than this; how far a whole file is from one would take minutes to say. */
const MAX_GUESS = 100;

/** ` Did you mean "x"?`, or another remedy when nothing known is near. */
export function didYouMean(name: string, known: readonly string[], otherwise = ' Use one of these.'): string {
  if (name.length > MAX_GUESS) return otherwise;
  const meant = nearest(name, known) ?? within(name, known);
  return meant === undefined ? otherwise : ` Did you mean "${meant}"?`;
}

/** The name that a guess misspells. */
function nearest(name: string, known: readonly string[]): string | undefined {
  const guess = plain(name);
  let best: string | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const each of known) {
    const away = distance(guess, plain(each));
    if (away < least) [best, least] = [each, away];
  }
  return best !== undefined && least <= Math.max(2, best.length / 3) ? best : undefined;
}

/** The name that a guess says more of: `autoresetMode` has all words of `autoreset`. */
function within(name: string, known: readonly string[]): string | undefined {
  const words = wordsOf(name);
  return known.find((each) => wordsOf(each).every((word) => words.includes(word)));
}
