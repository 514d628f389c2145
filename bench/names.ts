/** The names and sizes of the measured cases. */

/** Numbers of episodes. */
export const SIZE = {
  /** A small batch, for the cases that measure the cost of a call. */
  small: 1024,
  /** The size of most cases. Chosen by hand. */
  usual: 4096,
  /** A batch whose states exceed the second-level cache. */
  large: 65_536,
  /** Small, because the reference is slow. */
  reference: 256,
} as const;

/** The number of rollouts from each state, and the step of that state. Chosen by hand: step 14 is the middle of an episode. */
export const ROLLOUTS = 16;
export const FORK_STEP = 14;

/** The names of cases. "fused" stands for whole episodes in one `run`. */
export const NAMES = {
  fused: 'fused random',
  heuristic: 'fused heuristic',
  sequence: 'fused action sequence',
  recorded: 'fused action sequence, recorded',
  step: 'step',
  fork: `${ROLLOUTS} rollouts a state, forked at t = ${FORK_STEP}`,
  envStep: 'VecEnv.step',
  addonStep: 'step, looped in the addon',
} as const;
