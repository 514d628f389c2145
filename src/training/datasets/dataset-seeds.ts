/** Chooses and checks the seeds of a dataset. */

import { TRAINING_SEEDS } from '../../agents/search/search-seeds.js';
import { InputError } from '../../shared/errors.js';
import { checkInteger } from '../../shared/values.js';
import type { SeedRange } from '../../world/conditions.js';

/** Consecutive integers, both ends included. */
export type Range = SeedRange;

/** A range as options spell it. */
export const rangeText = ({ first, last }: Range): string => `${first}-${last}`;

/**
 * Those of a range of seeds that results are reported on, or kept for that: all below and above the training seeds.
 */
export function evalSeedsIn({ first, last }: Range): Range[] {
  const below = { first, last: Math.min(last, TRAINING_SEEDS.first - 1) };
  const above = { first: Math.max(first, TRAINING_SEEDS.last + 1), last };
  return [below, above].filter((range) => range.first <= range.last);
}

/** @throws InputError `bad_seed` for a range with seeds that results are reported on. */
export function refuseEvalSeeds(seeds: Range): void {
  const held = evalSeedsIn(seeds).map(rangeText);
  if (held.length === 0) return;
  throw new InputError(
    'bad_seed',
    `Expected seeds from ${rangeText(TRAINING_SEEDS)}, got ${rangeText(seeds)}, where ${held.join(' and ')} ` +
      'are kept for evaluation: what was trained on them is no result. Leave them out, or pass --allow-eval-seeds; ' +
      'the card will say so.',
  );
}

/** @throws InputError `wrong_type` or `out_of_range`. */
export function checkRange(what: string, { first, last }: Range, most: number): Range {
  checkInteger(`the first of ${what}`, first, 0, most);
  return { first, last: checkInteger(`the last of ${what}`, last, first, most) };
}
