/** The provenance of a dataset for SFT. It has no date, no machine and no file names. */

import { SCHEMAS, type Schema } from '../../../shared/schemas.js';
import { packageVersion } from '../../../shared/version.js';
import { createWorld } from '../../../world/world.js';
import { type SelectionProvenance, selectionProvenance } from '../episode-filters.js';
import { filterTexts } from './sft-filters.js';
import type { SftPlan } from './sft-options.js';

/** The provenance, in snake_case as it is written. */
export interface SftProvenance extends SelectionProvenance {
  readonly schema: Schema;
  /** The version of the package. */
  readonly version: string;
  readonly world_digest: string;
  /** The teachers' objective; null for teachers without one. */
  readonly objective: string | null;
}

/** Returns the provenance of a plan. */
export const sftProvenanceOf = (plan: SftPlan): SftProvenance => ({
  schema: SCHEMAS.sftDataset,
  version: packageVersion(),
  world_digest: createWorld().digest,
  objective: plan.objective === 'none' ? null : plan.objective,
  ...selectionProvenance(plan, filterTexts(plan)),
});
