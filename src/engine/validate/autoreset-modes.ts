/** The autoreset modes. */
export const AUTORESET_MODES = Object.freeze(['disabled', 'same-step', 'next-step'] as const);
/**
 * An autoreset mode, as in Gymnasium's `AutoresetMode`. 'disabled': a finished environment waits for `reset`.
 * 'same-step': the step that ends an episode also resets the environment; `finalObservations` has the last observation of
 * the episode. 'next-step': the environment's next step is a reset.
 */
export type AutoresetMode = (typeof AUTORESET_MODES)[number];
