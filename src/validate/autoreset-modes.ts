/** What may follow an episode's end. */
export const AUTORESET_MODES = Object.freeze(['disabled', 'same-step', 'next-step'] as const);
/**
 * As Gymnasium's `AutoresetMode`: nothing, until `reset`; a reset within the step that ended the episode, whose last
 * observation is kept; or a reset in place of the slot's next step.
 */
export type AutoresetMode = (typeof AUTORESET_MODES)[number];
