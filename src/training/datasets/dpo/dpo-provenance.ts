/** The provenance of a dataset for DPO. It has no date, no machine and no file names. */
import { SCHEMAS, type Schema } from '../../../shared/schemas.js';
import { packageVersion } from '../../../shared/version.js';
import { createWorld } from '../../../world/world.js';
import { type SelectionProvenance, selectionProvenance } from '../episode-filters.js';
import { dpoFilterTexts } from './dpo-filters.js';
import type { DpoPlan } from './dpo-options.js';

/** The provenance, in the order in which it is written, snake_case. */
export interface DpoProvenance extends SelectionProvenance {
  readonly schema: Schema;
  /** The version of the package. */
  readonly version: string;
  readonly world_digest: string;
  /** What decides which answer is better: "score" or "return". */
  readonly by: string;
}

/** Returns the provenance of a plan. */
export const dpoProvenanceOf = (plan: DpoPlan): DpoProvenance => ({
  schema: SCHEMAS.dpoDataset,
  version: packageVersion(),
  world_digest: createWorld().digest,
  by: plan.by,
  ...selectionProvenance(plan, dpoFilterTexts(plan)),
});
