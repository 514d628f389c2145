/** Replays an episode from its seed in the worker, and infers the person from what the visitor sees. */
import { Inference } from '../../../src/agents/inference/inference.js';
import { errorCountedBy } from '../../../src/agents/inference/samples.js';
import { graderWeights, toGrader } from '../../../src/engine/graders/grader.js';
import { Episode } from '../../../src/engine/reference/episode.js';
import { effectAndResponse, rewardOf } from '../../../src/engine/reference/rules.js';
import {
  NUM_ACTIONS,
  NUM_METERS,
  NUM_SLOTS,
  NUM_STEPS,
  OBSERVATION_SIZE,
} from '../../../src/world/fields.js';
import { createWorld } from '../../../src/world/world.js';
import type { EpisodeReplay, EpisodeResult, EpisodeSetting, Move } from './episode.js';

/** The numbers of `typical` for one step. */
const TYPICAL_SIZE = NUM_ACTIONS * NUM_METERS;

/** Returns the first observation and that after each move; after the 28th move also the result. */
export function replayEpisode(setting: EpisodeSetting, moves: readonly Move[]): EpisodeReplay {
  const episode = begin(setting);
  const observations = new Float32Array((moves.length + 1) * OBSERVATION_SIZE);
  const typical = new Float32Array((moves.length + 1) * TYPICAL_SIZE);
  const rewards = new Float32Array(NUM_STEPS);
  for (let i = 0; ; i++) {
    episode.observe(observations, i * OBSERVATION_SIZE);
    writeTypical(episode, typical.subarray(i * TYPICAL_SIZE));
    if (i === moves.length) break;
    episode.step(moves[i].action, moves[i].belief);
    rewards[i] = rewardWithoutNoise(episode);
  }
  return { observations, typical, result: episode.terminated ? resultOf(episode, rewards) : null };
}

export const begin = ({ seed, profile, grader }: EpisodeSetting): Episode =>
  new Episode().reset(seed, { profile, grader });

/**
 * Writes the effect of each action on an average person: f32 [10, 5]. The effect on this person is this effect plus the
 * anomaly of the step. Neither has the decay, the event and the bounds of the meters (docs/world.md, rules 1 to 4).
 */
function writeTypical({ world: { params }, stepCount, meters }: Episode, out: Float32Array): void {
  for (let action = 0; action < NUM_ACTIONS; action++) {
    const effect = out.subarray(action * NUM_METERS, (action + 1) * NUM_METERS);
    effectAndResponse(params, params.traitNeutral, stepCount % NUM_SLOTS, action, meters, effect);
  }
}

function rewardWithoutNoise({ world: { params }, profile, deltas, meters }: Episode): number {
  const crashed = meters.filter((meter) => meter < params.crashThreshold).length;
  return rewardOf(params, profile, deltas, crashed);
}

/** Returns the mean of the weighted meters, from which the component `wellbeing` is computed. */
export const livedIn = ({ well }: Episode): number => well / NUM_STEPS;

function resultOf(episode: Episode, rewards: Float32Array): EpisodeResult {
  const { given, beliefMae, finalScore, firstHalfMean, secondHalfMean } = episode;
  const { profile, target, belief, components, grader: weights } = episode;
  return {
    ...{ given, beliefMae, finalScore, firstHalfMean, secondHalfMean, lived: livedIn(episode) },
    ...{ profile, target, belief, components, weights, rewards },
  };
}

/** Keeps the beliefs of one episode, so that a further step takes one update and an undone step none. */
export class Observer {
  readonly #inference = new Inference(createWorld(), 1);
  #observations: Float32Array = new Float32Array();
  #grader = '';
  readonly #beliefs: (readonly number[])[] = [];

  /** Returns the belief after each observation, as `planner` states it under the grader. @param observations f32 [n, 22]. */
  beliefs(observations: Float32Array, grader: string): readonly (readonly number[])[] {
    const common = Math.min(this.#observations.length, observations.length);
    const isContinued =
      grader === this.#grader &&
      this.#observations.subarray(0, common).every((number, k) => number === observations[k]);
    if (!isContinued) this.#beliefs.length = 0;
    const error = errorCountedBy(graderWeights(toGrader(grader)));
    for (let at = this.#beliefs.length * OBSERVATION_SIZE; at < observations.length; at += OBSERVATION_SIZE) {
      // An observation at step 0 begins anew.
      this.#inference.observe(observations.slice(at, at + OBSERVATION_SIZE));
      this.#beliefs.push(Array.from(this.#inference.beliefs(error)));
    }
    if (!isContinued || observations.length > common) this.#observations = observations;
    this.#grader = grader;
    return this.#beliefs.slice(0, observations.length / OBSERVATION_SIZE);
  }
}
