/** Builds the manifest of a trained student. It imports no Node module, because the demo page trains students too. */
import type { StudentManifest } from '../../agents/student/student-file.js';
import type { Trained } from './train.js';
import { type TrainRequest, toJson } from './train-options.js';

/**
 * Returns the manifest without `evaluation`, which the caller adds, and `featuresVersion`, which `encodeStudent` adds.
 * @param version of the package.
 */
export function manifestOf(
  request: TrainRequest,
  { figures, refinement, world }: Pick<Trained, 'figures' | 'refinement' | 'world'>,
  version: string,
): Omit<StudentManifest, 'featuresVersion' | 'evaluation'> {
  const last = refinement.at(-1);
  return {
    version,
    worldDigest: world.digest,
    grader: request.grader,
    training: { ...toJson(request), ...figures.at(-1), ...(last && { refinement: last }) },
  };
}
