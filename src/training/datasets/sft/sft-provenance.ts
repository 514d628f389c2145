/** What a dataset for SFT says of where it comes from. It holds neither date nor machine nor file names. */

import type { GraderWeights } from '../../../engine/graders/grader.js';
import { SCHEMAS, type Schema } from '../../../shared/schemas.js';
import { packageVersion } from '../../../shared/version.js';
import { createWorld } from '../../../world/world.js';
import { evalSeedsIn, rangeText } from '../dataset-seeds.js';
import { filtersSaid } from './filters.js';
import type { SftPlan } from './sft-options.js';

/** In the order in which it is written, snake_case. */
export interface SftProvenance {
  readonly schema: Schema;
  /** The package's. */
  readonly version: string;
  readonly world_digest: string;
  /** What the teachers wanted; null for those that want nothing by name. */
  readonly objective: string | null;
  readonly grader: { readonly name: string; readonly weights: GraderWeights };
  readonly seeds: string;
  readonly steps: string;
  readonly filters: readonly string[];
  readonly validation_share: number;
  readonly split_seed: number;
  readonly oracle_allowed: boolean;
  /** Whether the flag was given. */
  readonly eval_seeds_allowed: boolean;
  /** Those that `seeds` may hold. */
  readonly eval_seeds: readonly string[];
}

export const sftProvenanceOf = (plan: SftPlan): SftProvenance => ({
  schema: SCHEMAS.sftDataset,
  version: packageVersion(),
  world_digest: createWorld().digest,
  objective: plan.objective === 'none' ? null : plan.objective,
  grader: { name: plan.grader.name, weights: plan.grader.weights },
  seeds: rangeText(plan.seeds),
  steps: rangeText(plan.steps),
  filters: filtersSaid(plan),
  validation_share: plan.validation,
  split_seed: plan.splitSeed,
  oracle_allowed: plan.allowOracle,
  eval_seeds_allowed: plan.allowEvalSeeds,
  eval_seeds: evalSeedsIn(plan.seeds).map(rangeText),
});
