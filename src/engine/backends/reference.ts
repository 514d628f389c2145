/** The reference backend: one `Episode` object per environment. It is slow, readable and always available. */

import { BackendError } from '../../shared/errors.js';
import {
  NUM_ACTIONS,
  NUM_COMPONENTS,
  NUM_STEPS,
  OBSERVATION_SIZE,
  PROFILE_SIZE,
  STATE_WORDS,
} from '../../world/fields.js';
import { Episode } from '../reference/episode.js';
import { startAt } from '../reference/episode-state.js';
import { loadEpisode, saveEpisode } from '../reference/saved-states.js';
import type {
  Batch,
  BatchOptions,
  Origin,
  Outputs,
  Refusal,
  ReplayRequest,
  ResetRequest,
  RunRequest,
  StepRequest,
  SyncBackend,
  SyncBatch,
} from './backend.js';
import { copyOutputs } from './outputs.js';
import { beliefAt, chooseAction, recordStep, replayRows, rowAt } from './reference-run.js';
import { findSequenceRefusal } from './refusals.js';

/** The backend in TypeScript. */
export const referenceBackend: SyncBackend = {
  name: 'reference',
  availability: () => ({ name: 'reference', available: true }),
  kernels: () => [],
  open: (options) => new ReferenceBatch(options),
};

/**
 * The largest number of environments. Each is an `Episode` of about 4 kB. More could exhaust JavaScript's heap and
 * crash the process.
 */
const MAX_EPISODES = 2 ** 18;

class ReferenceBatch implements SyncBatch {
  readonly backend = 'reference';
  readonly kernel = 'reference';
  readonly threads = 1;
  readonly episodes: Episode[];
  readonly outputs: Outputs;
  /** The episode that replays rows. */
  readonly #replayEpisode: Episode;
  readonly #observation = new Float32Array(OBSERVATION_SIZE);

  constructor({ numEnvs, world, imagination, outputs }: BatchOptions) {
    if (numEnvs > MAX_EPISODES) {
      throw new BackendError(
        'out_of_memory',
        `Expected at most ${MAX_EPISODES} environments with the reference backend, got ${numEnvs}. Lower numEnvs, or ` +
          'use another backend.',
      );
    }
    this.episodes = Array.from({ length: numEnvs }, () => new Episode({ world, imagination }));
    this.#replayEpisode = new Episode({ world, imagination });
    this.outputs = outputs;
  }

  reset({ mask, seeds, modes, profiles, graders, start }: ResetRequest): void {
    this.episodes.forEach((episode, i) => {
      if (mask !== null && mask[i] === 0) return;
      const floats = profiles?.subarray(i * PROFILE_SIZE, (i + 1) * PROFILE_SIZE) ?? null;
      const grader = graders?.subarray(i * NUM_COMPONENTS, (i + 1) * NUM_COMPONENTS) ?? episode.grader;
      episode.begin(seeds[i], modes?.[i] ?? episode.mode, floats, grader, start && startAt(start, i));
      this.#observe(i);
      this.outputs.rewards[i] = 0;
      this.#writeGrade(i);
    });
    this.outputs.finalMask.fill(0);
  }

  submit(request: StepRequest): Refusal | null {
    const { actions, beliefs, given, stepMask, resetMask, resetSeeds } = request;
    const refusal = this.#findStepRefusal(actions, stepMask);
    if (refusal !== null) return refusal;
    this.episodes.forEach((episode, i) => {
      this.outputs.rewards[i] = 0;
      const isStepped = stepMask === null || stepMask[i] !== 0;
      if (isStepped) {
        const belief = given?.[i] ? rowAt(beliefs!, i) : null;
        this.outputs.rewards[i] = episode.advance(actions[i], belief);
        this.#observe(i);
      }
      this.outputs.finalMask[i] = Number(isStepped && episode.terminated);
      this.#clearFinalObservation(i);
      const isReset = resetMask !== null && resetMask[i] !== 0;
      // If an environment steps and is reset, the outputs keep the grade of the ended episode.
      if (!isReset || isStepped) this.#writeGrade(i);
      if (isReset) this.#resetAfterStep(i, resetSeeds![i], isStepped);
    });
    return null;
  }

  #resetAfterStep(i: number, seed: number, hasStepped: boolean): void {
    const episode = this.episodes[i];
    if (hasStepped) this.#writeFinalObservation(i);
    episode.begin(seed, episode.mode, null, episode.grader);
    this.#observe(i);
    if (!hasStepped) this.#writeGrade(i);
  }

  #findStepRefusal(actions: Uint8Array, stepMask: Uint8Array | null): Refusal | null {
    for (const [index, episode] of this.episodes.entries()) {
      if (stepMask !== null && stepMask[index] === 0) continue;
      if (actions[index] >= NUM_ACTIONS) return { code: 'illegal_action', index, value: actions[index] };
      if (episode.terminated) return { code: 'episode_over', index };
    }
    return null;
  }

  run({ policy, beliefs, stops, slice, from, trajectory }: RunRequest): Refusal | null {
    const { first, end } = slice ?? { first: 0, end: this.episodes.length };
    const starts = from === undefined ? this.episodes : originsOf(from);
    // The first slice checks the sequences of all environments.
    const refusal =
      policy.kind === 'sequence' && first === 0
        ? findSequenceRefusal(policy.actions, stops, (i) => starts[i].stepCount)
        : null;
    if (refusal !== null) return refusal;
    if (from !== undefined) this.#copy(from.source, from.indices, first, end);
    this.episodes.slice(first, end).forEach((episode, k) => {
      const i = first + k;
      const stop = stops?.[i] ?? NUM_STEPS;
      this.outputs.finalMask[i] = Number(!episode.terminated && stop === NUM_STEPS);
      this.#clearFinalObservation(i);
      while (episode.stepCount < stop) {
        const t = episode.stepCount;
        episode.advance(chooseAction(policy, episode, i), beliefAt(beliefs, i * NUM_STEPS + t));
        if (trajectory !== null) recordStep(trajectory, i, t, episode);
        if (episode.stepCount === stop) this.#writeOutputs(i);
      }
      this.#writeGrade(i);
    });
    return null;
  }

  /** Does nothing: outputs are written when they are computed. */
  read(): void {}

  gather(source: Batch, indices: Uint32Array): void {
    this.#copy(source, indices, 0, indices.length);
  }

  /** Makes environment i a copy of environment indices[i] of `source`, for i from `first` to `end - 1`. */
  #copy(source: Batch, indices: Uint32Array, first: number, end: number): void {
    const origins = indices.subarray(first, end);
    const states = (source as ReferenceBatch).save(origins);
    for (let i = first; i < end; i++) loadEpisode(this.episodes[i], states, i - first);
    copyOutputs((source as ReferenceBatch).outputs, this.outputs, indices, first, end);
  }

  save(indices?: Uint32Array): Uint32Array {
    const episodes = indices === undefined ? this.episodes : Array.from(indices, (i) => this.episodes[i]);
    const words = new Uint32Array(episodes.length * STATE_WORDS);
    episodes.forEach((episode, i) => {
      saveEpisode(episode, words, i);
    });
    return words;
  }

  load(words: Uint32Array, keepsOutputs = false): void {
    this.episodes.forEach((episode, i) => {
      loadEpisode(episode, words, i);
      if (keepsOutputs) return;
      this.#writeOutputs(i);
      this.outputs.finalMask[i] = 0;
      this.#clearFinalObservation(i);
    });
  }

  stateHash(): BigUint64Array {
    return BigUint64Array.from(this.episodes, (episode) => episode.stateHash());
  }

  beliefTargets(): Float32Array {
    return Float32Array.from(this.episodes.flatMap(({ target }) => Array.from(target)));
  }

  replay(request: ReplayRequest): Refusal | null {
    return replayRows(this.#replayEpisode, request);
  }

  close(): void {
    this.episodes.length = 0;
  }

  #writeOutputs(i: number): void {
    this.#observe(i);
    this.outputs.rewards[i] = this.episodes[i].reward;
    this.#writeGrade(i);
  }

  #observe(i: number): void {
    this.episodes[i].observe(this.#observation);
    this.#put(this.outputs.observations, i, this.#observation);
  }

  /** Writes an environment's numbers to an output, in its layout. */
  #put(array: Float32Array, i: number, numbers: Float32Array): void {
    const { columnStride } = this.outputs;
    if (columnStride === 0) array.set(numbers, i * numbers.length);
    else for (let k = 0; k < numbers.length; k++) array[k * columnStride + i] = numbers[k];
  }

  /** Writes an environment's observation to the final observations. */
  #writeFinalObservation(i: number): void {
    if (this.outputs.finalObservations === null) return;
    this.episodes[i].observe(this.#observation);
    this.#put(this.outputs.finalObservations, i, this.#observation);
  }

  #clearFinalObservation(i: number): void {
    if (this.outputs.finalObservations === null) return;
    this.#put(this.outputs.finalObservations, i, this.#observation.fill(0));
  }

  /** Writes an environment's grade; zeros if its episode has not ended. */
  #writeGrade(i: number): void {
    const episode = this.episodes[i];
    const { terminated } = episode;
    this.outputs.terminated[i] = Number(terminated);
    this.outputs.finalScores[i] = episode.finalScore;
    this.outputs.beliefMae[i] = episode.beliefMae;
    this.outputs.firstHalfMeans[i] = episode.firstHalfMean;
    this.outputs.secondHalfMeans[i] = episode.secondHalfMean;
    this.outputs.episodeReturns[i] = terminated ? episode.return : 0;
    this.outputs.episodeLengths[i] = terminated ? NUM_STEPS : 0;
    this.#put(this.outputs.components, i, episode.components);
  }
}

/** Returns the episodes that a run copies before it begins. */
function originsOf({ source, indices }: Origin): Episode[] {
  return Array.from(indices, (index) => (source as ReferenceBatch).episodes[index]);
}
