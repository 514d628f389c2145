/** The player (trajectory-episode.ts) of a language model's episodes, and the check of the model's name. */

import type { Player } from '../../rollouts/trajectories/trajectory-episode.js';
import { InputError } from '../../shared/errors.js';
import { isModelName, MODEL_NAME } from '../../shared/printable-names.js';
import { describe } from '../../shared/values.js';

/** Returns the player of a model, which has no objective. */
export const modelPlayer = (model: string): Player => ({
  teacher: 'llm',
  model,
  objective: null,
  oracle: false,
});

/**
 * Checks that files with this model's name can be read again. Call it before the first request.
 * @param where the place of the name for the error text, such as "after llm:". @throws InputError `unknown_name`.
 */
export function checkModelName(name: string, where: string): void {
  if (isModelName(name)) return;
  throw new InputError(
    'unknown_name',
    `Expected a model name of ${MODEL_NAME} ${where}, got ${describe(name)}. Serve the model under such a name, and pass that name.`,
  );
}
