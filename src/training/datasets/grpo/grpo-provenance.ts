/** The provenance of a dataset for GRPO. It has no date and no machine: the same plan gives the same bytes. */

import type { GraderWeights } from '../../../engine/graders/grader.js';
import { SCHEMAS, type Schema } from '../../../shared/schemas.js';
import { packageVersion } from '../../../shared/version.js';
import { createWorld } from '../../../world/world.js';
import { evalSeedsIn, rangeText } from '../dataset-seeds.js';
import type { DatasetPlan } from './grpo-options.js';

/** The provenance, in the order in which it is written, snake_case. */
export interface Provenance {
  readonly schema: Schema;
  /** The version of the package. */
  readonly version: string;
  readonly world_digest: string;
  readonly rows: number;
  readonly seeds: string;
  readonly profile_modes: readonly string[];
  readonly steps: string;
  /** The seed of the selection of states. */
  readonly seed: number;
  /** The grader that the system message describes. */
  readonly grader: { readonly name: string; readonly weights: GraderWeights };
  /** The option `allowEvalSeeds`. */
  readonly eval_seeds_allowed: boolean;
  /** The evaluation seeds in `seeds`, as ranges. */
  readonly eval_seeds: readonly string[];
}

/** Returns the provenance of a plan. */
export const provenanceOf = (plan: DatasetPlan): Provenance => ({
  schema: SCHEMAS.grpoDataset,
  version: packageVersion(),
  world_digest: createWorld().digest,
  rows: plan.rows,
  seeds: rangeText(plan.seeds),
  profile_modes: plan.profiles,
  steps: rangeText(plan.steps),
  seed: plan.seed,
  grader: { name: plan.grader.name, weights: plan.grader.weights },
  eval_seeds_allowed: plan.allowEvalSeeds,
  eval_seeds: evalSeedsIn(plan.seeds).map(rangeText),
});
