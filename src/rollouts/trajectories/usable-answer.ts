/** Decides which answers can become training data. */
import type { TrajectoryStep } from './trajectory-episode.js';

/** A lone surrogate, which UTF-8 cannot encode. */
export const LONE_SURROGATE = /\p{Cs}/u;

/** Returns whether an answer can become training data: it has a prompt, an action and a belief, and no lone surrogate. */
export const isUsableAnswer = ({ prompt, completion, parsed, belief }: TrajectoryStep): boolean =>
  prompt !== null && completion !== null && parsed && belief !== null && !LONE_SURROGATE.test(completion);
