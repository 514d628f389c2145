/** Decides which answers become training rows. */
import type { TrajectoryStep } from './trajectory-episode.js';

/** A lone surrogate, which UTF-8 cannot encode. Readers of JSON lines refuse a file with a lone surrogate. */
export const LONE_SURROGATE = /\p{Cs}/u;

/** Returns whether an answer becomes a row: it has a prompt, an action and a belief, and no lone surrogate. */
export const isUsableAnswer = ({ prompt, completion, parsed, belief }: TrajectoryStep): boolean =>
  prompt !== null && completion !== null && parsed && belief !== null && !LONE_SURROGATE.test(completion);
