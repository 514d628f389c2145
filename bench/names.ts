/** The names and sizes of the measured cases. */

/** Numbers of episodes. */
export const SIZE = {
  /** A size at which the cost of a call is a visible part of the time. */
  small: 1024,
  /** The size of most cases. */
  usual: 4096,
  /** A size that exceeds the second-level cache. */
  large: 65_536,
  /** Small, because the reference is slow. */
  reference: 256,
} as const;

/** The number of rollouts from each state, and the step of that state. */
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
