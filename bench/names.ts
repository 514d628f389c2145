/** What rows are called and at which sizes they are measured: by these, ratios find them. */

/** Episodes. */
export const SIZE = {
  /** Where the cost of a call shows. */
  small: 1024,
  /** Where the bars are set. */
  usual: 4096,
  /** More than a second-level cache holds. */
  large: 65_536,
  /** Enough for the reference, which is slow. */
  reference: 256,
} as const;

/** How many rollouts begin from each state, and at which step. */
export const ROLLOUTS = 16;
export const FORK_STEP = 14;

export const NAMES = {
  fused: 'fused random',
  heuristic: 'fused heuristic',
  tape: 'fused tape',
  recorded: 'fused tape, recorded',
  step: 'step',
  fork: `${ROLLOUTS} rollouts a state, forked at t = ${FORK_STEP}`,
  envStep: 'VecEnv.step',
  addonStep: 'step, looped in the addon',
} as const;
