/** The provenance of a dataset for SFT. It has no date, no machine and no file names. */

import type { GraderWeights } from '../../../engine/graders/grader.js';
import { SCHEMAS, type Schema } from '../../../shared/schemas.js';
import { packageVersion } from '../../../shared/version.js';
import { createWorld } from '../../../world/world.js';
import { evalSeedsIn, rangeText } from '../dataset-seeds.js';
import { filterTexts } from './filters.js';
import type { SftPlan } from './sft-options.js';

/** The provenance, in the order in which it is written, snake_case. */
export interface SftProvenance {
  readonly schema: Schema;
  /** The version of the package. */
  readonly version: string;
  readonly world_digest: string;
  /** The teachers' objective; null for teachers without one. */
  readonly objective: string | null;
  readonly grader: { readonly name: string; readonly weights: GraderWeights };
  readonly seeds: string;
  readonly steps: string;
  readonly filters: readonly string[];
  readonly validation_share: number;
  readonly split_seed: number;
  readonly oracle_allowed: boolean;
  /** Whether --allow-eval-seeds was given. */
  readonly eval_seeds_allowed: boolean;
  /** The evaluation seeds in `seeds`, as ranges. */
  readonly eval_seeds: readonly string[];
}

/** Returns the provenance of a plan. */
export const sftProvenanceOf = (plan: SftPlan): SftProvenance => ({
  schema: SCHEMAS.sftDataset,
  version: packageVersion(),
  world_digest: createWorld().digest,
  objective: plan.objective === 'none' ? null : plan.objective,
  grader: { name: plan.grader.name, weights: plan.grader.weights },
  seeds: rangeText(plan.seeds),
  steps: rangeText(plan.steps),
  filters: filterTexts(plan),
  validation_share: plan.validation,
  split_seed: plan.splitSeed,
  oracle_allowed: plan.allowOracle,
  eval_seeds_allowed: plan.allowEvalSeeds,
  eval_seeds: evalSeedsIn(plan.seeds).map(rangeText),
});
