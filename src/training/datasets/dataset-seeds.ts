/** Checks the seeds of a dataset, and finds the evaluation seeds among them. */

import { InputError } from '../../shared/errors.js';
import { checkInteger } from '../../shared/values.js';
import { type SeedRange, TRAINING_SEEDS } from '../../world/conditions.js';

/** Consecutive integers, both ends included. */
export type Range = SeedRange;

/** Formats a range as in options, such as 100-9999. */
export const rangeText = ({ first, last }: Range): string => `${first}-${last}`;

/** Returns the evaluation seeds in a range: all seeds below and above the training seeds. */
export function evalSeedsIn({ first, last }: Range): Range[] {
  const below = { first, last: Math.min(last, TRAINING_SEEDS.first - 1) };
  const above = { first: Math.max(first, TRAINING_SEEDS.last + 1), last };
  return [below, above].filter((range) => range.first <= range.last);
}

/** Refuses a range that has evaluation seeds. @throws InputError `bad_seed`. */
export function refuseEvalSeeds(seeds: Range): void {
  const evalSeeds = evalSeedsIn(seeds).map(rangeText);
  if (evalSeeds.length === 0) return;
  throw new InputError(
    'bad_seed',
    `Expected seeds among ${rangeText(TRAINING_SEEDS)}, got ${rangeText(seeds)}, where ${evalSeeds.join(' and ')} ` +
      'are kept for evaluation: a model that was trained on them must not be evaluated on them. Leave them out, or pass ' +
      '--allow-eval-seeds, which the card notes.',
  );
}

/** Validates a range in [0, max]. @throws InputError `wrong_type` or `out_of_range`. */
export function checkRange(what: string, { first, last }: Range, max: number): Range {
  checkInteger(`the first of ${what}`, first, 0, max);
  return { first, last: checkInteger(`the last of ${what}`, last, first, max) };
}
