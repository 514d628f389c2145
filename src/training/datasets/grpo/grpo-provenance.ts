/** The provenance of a dataset. Contains neither date nor machine: the same plan gives the same bytes. */

import { SCHEMAS, type Schema } from '../../../shared/schemas.js';
import { packageVersion } from '../../../shared/version.js';
import { createWorld } from '../../../world/world.js';
import { evalSeedsIn, rangeText } from '../dataset-seeds.js';
import type { DatasetPlan } from './grpo-options.js';

/** In the order in which it is written, snake_case. */
export interface Provenance {
  readonly schema: Schema;
  /** The package's. */
  readonly version: string;
  readonly world_digest: string;
  readonly rows: number;
  readonly seeds: string;
  readonly profile_modes: readonly string[];
  readonly steps: string;
  /** Of the draw. */
  readonly seed: number;
  /** Whether the flag was given. */
  readonly eval_seeds_allowed: boolean;
  /** Those that `seeds` holds. */
  readonly eval_seeds: readonly string[];
}

export const provenanceOf = (plan: DatasetPlan): Provenance => ({
  schema: SCHEMAS.grpoDataset,
  version: packageVersion(),
  world_digest: createWorld().digest,
  rows: plan.rows,
  seeds: rangeText(plan.seeds),
  profile_modes: plan.profiles,
  steps: rangeText(plan.steps),
  seed: plan.seed,
  eval_seeds_allowed: plan.allowEvalSeeds,
  eval_seeds: evalSeedsIn(plan.seeds).map(rangeText),
});
