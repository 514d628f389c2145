/** Options of a dataset for GRPO, and their validation. */

import { type Grader, toGrader } from '../../../engine/graders/grader.js';
import { InputError } from '../../../shared/errors.js';
import { checkBoolean, checkInteger, describe } from '../../../shared/values.js';
import { TRAINING_SEEDS } from '../../../world/conditions.js';
import { MAX_U32, NUM_STEPS } from '../../../world/fields.js';
import { type ProfileKindName, resolveProfile } from '../../../world/resolve-names.js';
import { createWorld } from '../../../world/world.js';
import { checkRange, type Range, refuseEvalSeeds } from '../dataset-seeds.js';

/** Options of a dataset for GRPO. */
export interface DatasetOptions {
  /** The number of rows, 1 to 2^32 - 1. */
  readonly rows: number;
  /** Seeds of the episodes. Default 100-9999, the training seeds. */
  readonly seeds?: Range;
  /** 'sampled', 'discrete', names of profiles, or 'mix' for sampled and discrete; all equally often. Default sampled. */
  readonly profiles?: readonly (ProfileKindName | typeof MIX)[];
  /** The range of `step_index`: steps before a row's state. Default 0-27. */
  readonly steps?: Range;
  /** u32, the seed of the selection of states. Default 0. */
  readonly seed?: number;
  /** The grader that the system message describes. It changes no state. Default v2. */
  readonly grader?: Grader;
  /** Whether `seeds` may include evaluation seeds. Default false. */
  readonly allowEvalSeeds?: boolean;
}

/** Options with all defaults filled in. The same plan gives the same rows. */
export interface DatasetPlan extends Required<Omit<DatasetOptions, 'profiles'>> {
  /** 'sampled', 'discrete' and names of profiles, each once. */
  readonly profiles: readonly string[];
}

/** The name that stands for the profiles of MIXED. */
export const MIX = 'mix';
const MIXED = ['sampled', 'discrete'];
const ALL_STEPS: Range = { first: 0, last: NUM_STEPS - 1 };

/**
 * Validates options.
 * @throws InputError `out_of_range`, `wrong_type`, `wrong_length`, `unknown_name`, or `bad_seed` for evaluation seeds.
 */
export function toPlan(options: DatasetOptions): DatasetPlan {
  const { seeds = TRAINING_SEEDS, profiles = ['sampled'], steps = ALL_STEPS } = options;
  const allowEvalSeeds = checkBoolean('allowEvalSeeds', options.allowEvalSeeds ?? false);
  const plan: DatasetPlan = {
    rows: checkInteger('rows', options.rows, 1, MAX_U32),
    seeds: checkRange('seeds', seeds, MAX_U32),
    profiles: toProfiles(profiles),
    steps: checkRange('steps', steps, ALL_STEPS.last),
    seed: checkInteger('seed', options.seed ?? 0, 0, MAX_U32),
    grader: options.grader ?? toGrader('v2'),
    allowEvalSeeds,
  };
  if (!allowEvalSeeds) refuseEvalSeeds(plan.seeds);
  return plan;
}

function toProfiles(names: readonly string[]): readonly string[] {
  const profiles = new Set(names.flatMap((name) => (name === MIX ? MIXED : [name])));
  if (profiles.size === 0) {
    throw new InputError(
      'wrong_length',
      `Expected at least one profile, got ${describe(names)}. Pass the name of a profile.`,
    );
  }
  const world = createWorld();
  for (const name of profiles) resolveProfile(world, name);
  return [...profiles];
}
