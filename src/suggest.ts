/** "Did you mean": the known name that a misspelt one is nearest to. */
import { distance, closest as nearest } from 'fastest-levenshtein';

/** ` Did you mean "x"?`, or '' when nothing known is near. */
export function didYouMean(name: string, known: readonly string[]): string {
  if (known.length === 0) return '';
  const best = nearest(name.toLowerCase(), known);
  const near = distance(name.toLowerCase(), best.toLowerCase()) <= Math.max(2, best.length / 3);
  return near ? ` Did you mean "${best}"?` : '';
}
