/** Who plays, where a language model does. */
import { InputError } from '../errors.js';
import type { Player } from '../trajectory/episode.js';
import { isModelName, MODEL_NAME } from '../validate/names.js';
import { describe } from '../validate/values.js';

/** As files call it: nobody knows what a language model wants. */
export const modelPlayer = (model: string): Player => ({
  teacher: 'llm',
  model,
  objective: null,
  oracle: false,
});

/** Refuses, before anything is paid for, a name with which no file could be read again. @throws InputError `unknown_name`. */
export function checkModelName(name: string, where: string): void {
  if (isModelName(name)) return;
  throw new InputError(
    'unknown_name',
    `Expected the name of a model of ${MODEL_NAME} ${where}, got ${describe(name)}. Serve it under such a name, and pass that.`,
  );
}
