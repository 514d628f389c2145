/** What rollouts leave, written down step by step. */
import { BackendError } from '../../errors.js';
import { NO_ACTION } from '../../validate/actions.js';
import { NUM_BELIEFS, NUM_STEPS, OBSERVATION, OBSERVATION_SIZE } from '../../world/fields.js';
import { putReturns } from '../returns.js';
import type { Playing } from './playing.js';
import type { Said } from './turn.js';

/**
 * Rollouts in groups, frozen. All arrays are newly allocated and row-major: [groups, groupSize, steps, ...] by absolute
 * step, then those of one entry or row for each rollout.
 */
export interface RolloutGroups {
  readonly groups: number;
  readonly groupSize: number;
  /** 28: steps of an episode. */
  readonly steps: number;
  /** f32 [.., 28, 22]: what was seen before each action, fields as in OBSERVATION_FIELDS; 0 where no step was taken. */
  readonly observations: Float32Array;
  /** i8 [.., 28]: codes; -1 where no step was taken. */
  readonly actions: Int8Array;
  /** f32 [.., 28, 3]: as given, before they are clamped; NaN where none was. */
  readonly beliefs: Float32Array;
  /** f32 [.., 28]: 0 where no step was taken, and so are returns. */
  readonly rewards: Float32Array;
  /** f32 [.., 28]: the discounted sum of the rewards from this step on, in float64, rounded once. */
  readonly returns: Float32Array;
  /** f32 [.., 28]: NaN where none was given; null if none was anywhere. */
  readonly logProbs: Float32Array | null;
  /** u64 [.., 28]: of the state in which the action is taken; 0 where none was. */
  readonly stateHashes: BigUint64Array;
  /** u8: the step that each rollout took first; 28 if its episode was over before. */
  readonly firstSteps: Uint8Array;
  /** u32: of each episode. */
  readonly seeds: Uint32Array;
  /** f32 each, and components [.., 6]: how each episode ended, as in a StepResult. */
  readonly finalScores: Float32Array;
  readonly components: Float32Array;
  readonly beliefMae: Float32Array;
  readonly episodeReturns: Float32Array;
  readonly earlyMeans: Float32Array;
  readonly lateMeans: Float32Array;
}

export class Recording {
  readonly #playing: Playing;
  readonly #firstSteps: Uint8Array;
  readonly #observations: Float32Array;
  readonly #actions: Int8Array;
  readonly #beliefs: Float32Array;
  readonly #rewards: Float32Array;
  #logProbs: Float32Array | null = null;
  /** Two words each: a bigint for every step would be garbage. */
  readonly #hashes: Uint32Array;

  /** @throws BackendError `out_of_memory`. */
  constructor(playing: Playing) {
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

  /** Notes what is seen before a step. */
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

  /** Notes what was done, before rollouts are said to be a step further. */
  act({ beliefs, logProbs }: Said): void {
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
      earlyMeans: shown.earlyMeans.slice(),
      lateMeans: shown.lateMeans.slice(),
    });
  }
}

type Row = Float32Array | Uint32Array;

/** A loop: views of so few numbers would take longer than the numbers. */
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
