/** Records rollouts step by step. */

import { NO_ACTION } from '../../engine/validate/actions.js';
import { BackendError } from '../../shared/errors.js';
import { NUM_BELIEFS, NUM_STEPS, OBSERVATION, OBSERVATION_SIZE } from '../../world/fields.js';
import { putReturns } from '../advantages/returns.js';
import type { ActiveRollouts } from './active-rollouts.js';
import type { PolicyAnswer } from './group-step.js';

/**
 * Rollouts in groups, frozen. All arrays are newly allocated and row-major. The first have the shape [groups,
 * groupSize, 28, ...], by absolute step; the last have one entry or row per rollout.
 */
export interface RolloutGroups {
  /** How many groups there are. */
  readonly groups: number;
  /** Rollouts of a group. */
  readonly groupSize: number;
  /** Steps of an episode: 28. */
  readonly steps: number;
  /** f32 [.., 28, 22]: the observation before each action, fields as in OBSERVATION_FIELDS; 0 for steps not taken. */
  readonly observations: Float32Array;
  /** i8 [.., 28]: action codes; -1 for steps not taken. */
  readonly actions: Int8Array;
  /** f32 [.., 28, 3]: beliefs as given, before clamping; NaN for none. */
  readonly beliefs: Float32Array;
  /** f32 [.., 28]: 0 for steps not taken, also in `returns`. */
  readonly rewards: Float32Array;
  /** f32 [.., 28]: the discounted sum of this step's reward and all later ones, in float64, rounded once. */
  readonly returns: Float32Array;
  /** f32 [.., 28]: NaN where none was given; null if the policy gave none at all. */
  readonly logProbs: Float32Array | null;
  /** u64 [.., 28]: the hash of the state before each action; 0 for steps not taken. */
  readonly stateHashes: BigUint64Array;
  /** u8: the index of each rollout's first step; 28 if its episode was already over. */
  readonly firstSteps: Uint8Array;
  /** u32: the seed of each episode. */
  readonly seeds: Uint32Array;
  /** f32 [..]: the grade of each episode, as in a StepResult. */
  readonly finalScores: Float32Array;
  /** f32 [.., 6]: the components of the grade. */
  readonly components: Float32Array;
  /** f32 [..]: mean absolute error of the last belief. */
  readonly beliefMae: Float32Array;
  /** f32 [..]: sum of the rewards of the whole episode. */
  readonly episodeReturns: Float32Array;
  /** f32 [..]: mean reward of the first half, without noise. */
  readonly firstHalfMeans: Float32Array;
  /** f32 [..]: mean reward of the second half, without noise. */
  readonly secondHalfMeans: Float32Array;
}

export class GroupRecorder {
  readonly #playing: ActiveRollouts;
  readonly #firstSteps: Uint8Array;
  readonly #observations: Float32Array;
  readonly #actions: Int8Array;
  readonly #beliefs: Float32Array;
  readonly #rewards: Float32Array;
  #logProbs: Float32Array | null = null;
  /** Two u32 per hash: allocating a bigint per step would be slow. */
  readonly #hashes: Uint32Array;

  /** @throws BackendError `out_of_memory`. */
  constructor(playing: ActiveRollouts) {
    const rollouts = playing.steps.length;
    const steps = rollouts * NUM_STEPS;
    this.#playing = playing;
    this.#firstSteps = playing.steps.slice();
    try {
      this.#observations = new Float32Array(steps * OBSERVATION_SIZE);
      this.#actions = new Int8Array(steps).fill(NO_ACTION);
      this.#beliefs = new Float32Array(steps * NUM_BELIEFS).fill(Number.NaN);
      this.#rewards = new Float32Array(steps);
      this.#hashes = new Uint32Array(2 * steps);
    } catch (cause) {
      throw orOutOfMemory(cause, rollouts);
    }
  }

  /** Records the observations and state hashes before a step. */
  see(): void {
    const { started, steps, mask } = this.#playing;
    const { observations } = started.shown;
    const hashes = new Uint32Array(started.env.stateHash().buffer);
    for (let i = 0; i < mask.length; i++) {
      if (mask[i] === 0) continue;
      const at = i * NUM_STEPS + steps[i];
      copyRow(observations, i, this.#observations, at, OBSERVATION_SIZE);
      copyRow(hashes, i, this.#hashes, at, 2);
    }
  }

  /** Records actions, rewards, beliefs and log-probabilities of a step, before `advance` counts it. */
  act({ beliefs, logProbs }: PolicyAnswer): void {
    const { started, steps, mask } = this.#playing;
    const { observations, rewards } = started.shown;
    if (logProbs !== null) this.#logProbs ??= new Float32Array(this.#rewards.length).fill(Number.NaN);
    for (let i = 0; i < mask.length; i++) {
      if (mask[i] === 0) continue;
      const at = i * NUM_STEPS + steps[i];
      this.#actions[at] = observations[i * OBSERVATION_SIZE + OBSERVATION.lastAction];
      this.#rewards[at] = rewards[i];
      if (beliefs !== null) copyRow(beliefs, i, this.#beliefs, at, NUM_BELIEFS);
      if (logProbs !== null && this.#logProbs !== null) this.#logProbs[at] = logProbs[i];
    }
  }

  finish(gamma: number): RolloutGroups {
    const { env, groups, groupSize, shown } = this.#playing.started;
    return Object.freeze({
      ...{ groups, groupSize, steps: NUM_STEPS },
      observations: this.#observations,
      actions: this.#actions,
      beliefs: this.#beliefs,
      rewards: this.#rewards,
      returns: returnsToGo(this.#rewards, this.#firstSteps, gamma),
      logProbs: this.#logProbs,
      stateHashes: new BigUint64Array(this.#hashes.buffer),
      firstSteps: this.#firstSteps,
      seeds: env.seeds.slice(),
      finalScores: shown.finalScores.slice(),
      components: shown.components.slice(),
      beliefMae: shown.beliefMae.slice(),
      episodeReturns: shown.episodeReturns.slice(),
      firstHalfMeans: shown.firstHalfMeans.slice(),
      secondHalfMeans: shown.secondHalfMeans.slice(),
    });
  }
}

type Row = Float32Array | Uint32Array;

/** Copies a row in a loop. For so few numbers, creating views would take longer. */
function copyRow(from: Row, row: number, to: Row, at: number, width: number): void {
  for (let k = 0; k < width; k++) to[at * width + k] = from[row * width + k];
}

function returnsToGo(rewards: Float32Array, firstSteps: Uint8Array, gamma: number): Float32Array {
  const returns = new Float32Array(rewards.length);
  for (let i = 0; i < firstSteps.length; i++) {
    putReturns(returns, rewards, i * NUM_STEPS + firstSteps[i], (i + 1) * NUM_STEPS, gamma);
  }
  return returns;
}

function orOutOfMemory(cause: unknown, rollouts: number): unknown {
  if (!(cause instanceof RangeError)) return cause;
  return new BackendError(
    'out_of_memory',
    `Expected memory for the steps of ${rollouts} rollouts, got none. ${cause.message} Ask for fewer at a time.`,
    { cause },
  );
}
