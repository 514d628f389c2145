/** Reduces episodes to the data that pairs need. */

import type { TrajectoryEpisode } from '../../../rollouts/trajectories/trajectory-episode.js';
import { isUsableAnswer } from '../../../rollouts/trajectories/usable-answer.js';
import type { Criterion } from './dpo-options.js';

/** The prompt and the answer of a step. */
interface AnswerText {
  readonly prompt: string;
  readonly completion: string;
}

/** An episode whose answers may become pairs. */
export interface Candidate {
  readonly seed: number;
  readonly profileMode: string;
  readonly teacher: string;
  readonly model: string | null;
  /** The system message of its prompts. */
  readonly system: string;
  /** A key of the episode's start: seed, profile, grader and system message. */
  readonly start: string;
  /** [28]: names of actions. */
  readonly actions: readonly string[];
  /** [28]: the answer of each step; null for an answer that is not usable as a row (see `isUsableAnswer`). */
  readonly answers: readonly (AnswerText | null)[];
  /** f64 [28]: by the criterion 'score' the final score at every step, else the sum of rewards from each step on. */
  readonly values: Float64Array;
}

/** Returns the candidate of an episode; null for an episode without prompts. @param score the final score of its replay. */
export function toCandidate(episode: TrajectoryEpisode, by: Criterion, score: number): Candidate | null {
  const { seed, profile_mode: profileMode, teacher, model, system, grader, steps } = episode;
  if (system === null) return null;
  return {
    seed,
    profileMode,
    teacher,
    model,
    system,
    start: JSON.stringify([seed, profileMode, grader, system]),
    actions: steps.map(({ action }) => action),
    answers: steps.map((step) => {
      const { prompt, completion } = step;
      return isUsableAnswer(step) ? { prompt: prompt!, completion: completion! } : null;
    }),
    values: by === 'score' ? new Float64Array(steps.length).fill(score) : returnsToGo(episode),
  };
}

/** Returns the sum of the rewards from each step on, f64 [28]. */
function returnsToGo({ steps }: TrajectoryEpisode): Float64Array {
  const sums = new Float64Array(steps.length);
  let sum = 0;
  for (let t = steps.length - 1; t >= 0; t--) {
    sum += steps[t].reward;
    sums[t] = sum;
  }
  return sums;
}
