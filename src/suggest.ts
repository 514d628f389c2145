/** "Did you mean": the known name that a misspelt one is nearest to. */
import { distance, closest as nearest } from 'fastest-levenshtein';

/** ` Did you mean "x"?`, or another remedy when nothing known is near. */
export function didYouMean(name: string, known: readonly string[], otherwise = ' Use one of these.'): string {
  if (known.length === 0) return otherwise;
  const best = nearest(name.toLowerCase(), known);
  const near = distance(name.toLowerCase(), best.toLowerCase()) <= Math.max(2, best.length / 3);
  return near ? ` Did you mean "${best}"?` : otherwise;
}
