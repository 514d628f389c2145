/** Records rollouts step by step. */
import { HISTORY_STEPS, type HistoryStep } from '../../engine/observe/history.js';
import { type LaterStep, replayHistory } from '../../engine/reference/saved-states.js';
import { decodeSnapshot } from '../../engine/snapshot/codec.js';
import { NO_ACTION } from '../../engine/validate/steps.js';
import type { AsyncVecEnv } from '../../engine/vec-env/async-vec-env.js';
import { BackendError, StateError } from '../../shared/errors.js';
import { checkInteger } from '../../shared/values.js';
import { NUM_BELIEFS, NUM_STEPS, OBSERVATION, OBSERVATION_SIZE, STATE_WORDS } from '../../world/fields.js';
import { writeReturns } from '../advantages/step-advantages.js';
import type { GroupStart } from './group-start.js';

/** A policy's beliefs and log-probabilities for a step, each null if the policy returned none. */
export interface PolicyExtras {
  /** f32 [n, 3]: valid for rollouts that still play. */
  readonly beliefs: Float32Array | null;
  /** f32 [n]: NaN if unknown. */
  readonly logProbs: Float32Array | null;
}

/** All rollouts, and which of them still play. */
export class ActiveRollouts {
  readonly start: GroupStart;
  /** u8 [n]: the steps of each episode so far, including those before the rollout began. */
  readonly steps: Uint8Array;
  /** u8 [n]: 1 while the episode has steps left. */
  readonly mask: Uint8Array;
  /** The number of steps of all rollouts together, without those before the rollouts began. */
  readonly totalSteps: number;
  /** The number of these steps not yet taken. */
  stepsLeft: number;

  constructor(start: GroupStart) {
    const { observations } = start.outputs;
    this.start = start;
    this.steps = Uint8Array.from(
      { length: start.env.numEnvs },
      (_, i) => observations[i * OBSERVATION_SIZE + OBSERVATION.step],
    );
    this.mask = this.steps.map((steps) => Number(steps < NUM_STEPS));
    this.totalSteps = this.steps.reduce((sum, steps) => sum + NUM_STEPS - steps, 0);
    this.stepsLeft = this.totalSteps;
  }

  /** Counts one step of every rollout that still plays. */
  advance(): void {
    const { steps, mask } = this;
    for (let i = 0; i < steps.length; i++) {
      if (mask[i] === 0) continue;
      steps[i]++;
      this.stepsLeft--;
      if (steps[i] === NUM_STEPS) mask[i] = 0;
    }
  }
}

/** Replays rollouts from their first state and the actions taken since. */
export class RolloutHistories {
  readonly #env: AsyncVecEnv;
  /** u32 [n, STATE_WORDS]: the first states; or the error that `history` throws, if an episode cannot be replayed. */
  readonly #words: Uint32Array | StateError;
  /** The steps of each rollout since its first state. */
  readonly #later: readonly LaterStep[][];

  private constructor(env: AsyncVecEnv, words: Uint32Array | StateError) {
    this.#env = env;
    this.#words = words;
    this.#later = Array.from({ length: env.numEnvs }, () => []);
  }

  /** Reads the present states as the first states of the rollouts. */
  static async open(env: AsyncVecEnv): Promise<RolloutHistories> {
    try {
      return new RolloutHistories(env, decodeSnapshot(await env.snapshot()).words);
    } catch (error) {
      if (error instanceof StateError && error.code === 'foreign_past')
        return new RolloutHistories(env, error);
      throw error;
    }
  }

  /** Adds a step. @param beliefs f32 [n, 3]: NaN for no belief. @param mask u8 [n]: the rollouts that take it. */
  add(actions: Uint8Array, beliefs: Float32Array | null, mask: Uint8Array): void {
    for (const [i, steps] of this.#later.entries()) {
      if (mask[i] === 0) continue;
      const belief = beliefs?.slice(i * NUM_BELIEFS, (i + 1) * NUM_BELIEFS) ?? null;
      steps.push({ action: actions[i], belief: belief?.some(Number.isNaN) ? null : belief });
    }
  }

  /** Does the same as `VecEnv.history`. */
  history(i: number, last = HISTORY_STEPS): HistoryStep[] {
    const { numEnvs, world, imagination } = this.#env;
    checkInteger('i', i, 0, numEnvs - 1);
    checkInteger('last', last, 0, NUM_STEPS);
    if (this.#words instanceof StateError) throw this.#words;
    const words = this.#words.subarray(i * STATE_WORDS, (i + 1) * STATE_WORDS);
    return replayHistory(world, imagination, words, last, this.#later[i]);
  }
}

/**
 * Rollouts in groups. The object is frozen; all arrays are newly allocated and row-major. Arrays per step have the shape
 * [groups, groupSize, 28, ...], by step of the episode. Arrays per rollout have the shape [groups, groupSize, ...]. Below, `..`
 * stands for `groups, groupSize`.
 */
export interface RolloutGroups {
  /** The number of groups. */
  readonly groups: number;
  /** The number of rollouts in a group. */
  readonly groupSize: number;
  /** Steps of an episode: 28. */
  readonly steps: number;
  /** f32 [.., 28, 22]: the observation before each action, by OBSERVATION_FIELDS; 0 for steps not taken. */
  readonly observations: Float32Array;
  /** i8 [.., 28]: action codes; -1 for steps not taken. */
  readonly actions: Int8Array;
  /** f32 [.., 28, 3]: beliefs as given by the policy, before clamping; NaN for no belief. */
  readonly beliefs: Float32Array;
  /** f32 [.., 28]: the reward of each step; 0 for steps not taken. */
  readonly rewards: Float32Array;
  /**
   * f32 [.., 28]: the return to go, which is the discounted sum of this step's reward and all later ones, computed in
   * float64 and rounded once; 0 for steps not taken.
   */
  readonly returns: Float32Array;
  /** f32 [.., 28]: log-probabilities of the actions; NaN if unknown. Null if the policy returned none. */
  readonly logProbs: Float32Array | null;
  /** u64 [.., 28]: the hash of the state before each action; 0 for steps not taken. */
  readonly stateHashes: BigUint64Array;
  /** u8 [..]: the index of each rollout's first step; 28 if its episode was over from the start. */
  readonly firstSteps: Uint8Array;
  /** u32 [..]: the seed of each episode. */
  readonly seeds: Uint32Array;
  /** f32 [..]: the final score of each episode, as in a StepResult. */
  readonly finalScores: Float32Array;
  /** f32 [.., 8]: the components of the grade, by COMPONENT_FIELDS. */
  readonly components: Float32Array;
  /** f32 [..]: the mean absolute error of the last belief. */
  readonly beliefMae: Float32Array;
  /** f32 [..]: sum of the rewards of the whole episode. */
  readonly episodeReturns: Float32Array;
  /** f32 [..]: mean reward of the first half, without noise. */
  readonly firstHalfMeans: Float32Array;
  /** f32 [..]: mean reward of the second half, without noise. */
  readonly secondHalfMeans: Float32Array;
}

/** Records all rollouts. For each step call `recordBefore`, then `recordAfter`. */
export class GroupRecorder {
  readonly #active: ActiveRollouts;
  readonly #firstSteps: Uint8Array;
  readonly #observations: Float32Array;
  readonly #actions: Int8Array;
  readonly #beliefs: Float32Array;
  readonly #rewards: Float32Array;
  #logProbs: Float32Array | null = null;
  /** The hashes, as two u32 each: allocating a bigint per step would be slow. */
  readonly #hashes: Uint32Array;

  /** Allocates memory for all steps. @throws BackendError `out_of_memory`. */
  constructor(active: ActiveRollouts) {
    const numRollouts = active.steps.length;
    const steps = numRollouts * NUM_STEPS;
    this.#active = active;
    this.#firstSteps = active.steps.slice();
    try {
      this.#observations = new Float32Array(steps * OBSERVATION_SIZE);
      this.#actions = new Int8Array(steps).fill(NO_ACTION);
      this.#beliefs = new Float32Array(steps * NUM_BELIEFS).fill(Number.NaN);
      this.#rewards = new Float32Array(steps);
      this.#hashes = new Uint32Array(2 * steps);
    } catch (cause) {
      throw toMemoryError(cause, numRollouts);
    }
  }

  /** Records the observations and state hashes before a step. */
  async recordBefore(): Promise<void> {
    const { start, steps, mask } = this.#active;
    const { observations } = start.outputs;
    const hashes = new Uint32Array((await start.env.stateHash()).buffer);
    for (let i = 0; i < mask.length; i++) {
      if (mask[i] === 0) continue;
      const at = i * NUM_STEPS + steps[i];
      copyRow(observations, i, this.#observations, at, OBSERVATION_SIZE);
      copyRow(hashes, i, this.#hashes, at, 2);
    }
  }

  /** Records actions, rewards, beliefs and log-probabilities after a step. Call it before `active.advance()`. */
  recordAfter({ beliefs, logProbs }: PolicyExtras): void {
    const { start, steps, mask } = this.#active;
    const { observations, rewards } = start.outputs;
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

  /** Returns all rollouts. @param gamma the discount of returns to go. */
  finish(gamma: number): RolloutGroups {
    const { env, groups, groupSize, outputs } = this.#active.start;
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
      finalScores: outputs.finalScores.slice(),
      components: outputs.components.slice(),
      beliefMae: outputs.beliefMae.slice(),
      episodeReturns: outputs.episodeReturns.slice(),
      firstHalfMeans: outputs.firstHalfMeans.slice(),
      secondHalfMeans: outputs.secondHalfMeans.slice(),
    });
  }
}

type Row = Float32Array | Uint32Array;

/** Copies a row in a loop: for few numbers this is faster than `subarray` and `set`. */
function copyRow(from: Row, row: number, to: Row, at: number, width: number): void {
  for (let k = 0; k < width; k++) to[at * width + k] = from[row * width + k];
}

/** Computes the return to go of each step. */
function returnsToGo(rewards: Float32Array, firstSteps: Uint8Array, gamma: number): Float32Array {
  const returns = new Float32Array(rewards.length);
  for (let i = 0; i < firstSteps.length; i++) {
    writeReturns(returns, rewards, i * NUM_STEPS + firstSteps[i], (i + 1) * NUM_STEPS, gamma);
  }
  return returns;
}

/** Converts the RangeError of a failed allocation to a BackendError. Returns other errors unchanged. */
function toMemoryError(cause: unknown, numRollouts: number): unknown {
  if (!(cause instanceof RangeError)) return cause;
  return new BackendError(
    'out_of_memory',
    `Expected memory for the steps of ${numRollouts} rollouts, got none: ${cause.message}. Pass fewer groups, or a smaller groupSize.`,
    { cause },
  );
}
