/** Options of a dataset, and its allowed seeds. */

import { TRAINING_SEEDS } from '../../../agents/search/search-seeds.js';
import { InputError } from '../../../shared/errors.js';
import { checkBoolean, checkInteger, describe } from '../../../shared/values.js';
import { MAX_U32, NUM_STEPS } from '../../../world/fields.js';
import { resolveProfile } from '../../../world/resolve-names.js';
import { createWorld } from '../../../world/world.js';
import { checkRange, type Range, refuseEvalSeeds } from '../dataset-seeds.js';

export interface DatasetOptions {
  /** How many rows. */
  readonly rows: number;
  /** Whose weeks. Default 100-9999: what is left for training. */
  readonly seeds?: Range;
  /** 'sampled', 'discrete', profiles' names, or 'mix' for sampled and discrete; as often each. Default sampled. */
  readonly profiles?: readonly string[];
  /** Steps taken before a row's moment. Default 0-27. */
  readonly steps?: Range;
  /** u32, of the draw. Default 0. */
  readonly seed?: number;
  /** Whether `seeds` may hold those that results are reported on. Default false. */
  readonly allowEvalSeeds?: boolean;
}

/** Options with nothing left open. The same plan gives the same rows. */
export interface DatasetPlan extends Required<Omit<DatasetOptions, 'profiles'>> {
  /** 'sampled', 'discrete' and profiles' names, each once. */
  readonly profiles: readonly string[];
}

export const MIX = 'mix';
const MIXED = ['sampled', 'discrete'];
const ALL_STEPS: Range = { first: 0, last: NUM_STEPS - 1 };

/** @throws InputError `out_of_range`, `unknown_name`, or `bad_seed` for seeds that results are reported on. */
export function toPlan(options: DatasetOptions): DatasetPlan {
  const { seeds = TRAINING_SEEDS, profiles = ['sampled'], steps = ALL_STEPS } = options;
  const allowEvalSeeds = checkBoolean('allowEvalSeeds', options.allowEvalSeeds ?? false);
  const plan: DatasetPlan = {
    rows: checkInteger('rows', options.rows, 1, MAX_U32),
    seeds: checkRange('seeds', seeds, MAX_U32),
    profiles: toProfiles(profiles),
    steps: checkRange('steps', steps, ALL_STEPS.last),
    seed: checkInteger('seed', options.seed ?? 0, 0, MAX_U32),
    allowEvalSeeds,
  };
  if (!allowEvalSeeds) refuseEvalSeeds(plan.seeds);
  return plan;
}

function toProfiles(names: readonly string[]): readonly string[] {
  const profiles = new Set(names.flatMap((name) => (name === MIX ? MIXED : [name])));
  if (profiles.size === 0) {
    throw new InputError('wrong_length', `Expected at least one profile, got ${describe(names)}. Pass one.`);
  }
  const world = createWorld();
  for (const name of profiles) resolveProfile(world, name);
  return [...profiles];
}
