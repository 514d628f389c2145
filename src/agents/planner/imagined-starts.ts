/** Starts of imagined episodes: the observed past, with posterior samples as profiles. */
import type { ResetRequest } from '../../engine/backends/backend.js';
import { beliefTarget } from '../../engine/reference/profile.js';
import { type Draw, threefry } from '../../engine/reference/threefry.js';
import type { Params } from '../../world/block.js';
import {
  COMPONENT_NAMES,
  MODE,
  NUM_BELIEFS,
  NUM_COMPONENTS,
  NUM_METERS,
  NUM_TRAITS,
  PROFILE_SIZE,
} from '../../world/fields.js';
import type { EpisodeSums } from './episode-sums.js';

/** The stream of the seeds' draws, the second word of Threefry's key: "LUCK" in ASCII. It is none of the world's streams. */
const STREAM = 0x4c55434b;
const BELIEF_SKILL = COMPONENT_NAMES.indexOf('belief_skill');

/** The rows of a reset, written in place: one for each posterior sample of each episode. */
export class ImaginedStarts {
  readonly #samples: number;
  readonly #seed: number;
  readonly #params: Params;
  readonly #target = new Float32Array(NUM_BELIEFS);
  readonly #profiles: Float32Array;
  /** The request that resets the imagined episodes. `write` overwrites its arrays. */
  readonly reset: ResetRequest & Required<Pick<ResetRequest, 'start'>> & { readonly mask: Uint8Array };
  /** The step count, the same for all episodes. */
  #step = 0;

  /**
   * @param seed u32: draws the seeds of the imagined episodes.
   * @param grader f32 [8]. Imagined episodes state beliefs only if the grader's weight of `belief_skill` is not 0. Otherwise
   *   `belief_accuracy` is 0 in all of them.
   */
  constructor(params: Params, episodes: number, samples: number, seed: number, grader: Float32Array) {
    const numEnvs = episodes * samples;
    const graders = new Float32Array(numEnvs * NUM_COMPONENTS);
    for (let env = 0; env < numEnvs; env++) graders.set(grader, env * NUM_COMPONENTS);
    this.#samples = samples;
    this.#seed = seed;
    this.#params = params;
    this.#profiles = new Float32Array(numEnvs * PROFILE_SIZE);
    const hasBeliefs = grader[BELIEF_SKILL] !== 0;
    this.reset = {
      mask: new Uint8Array(numEnvs),
      seeds: new Uint32Array(numEnvs),
      modes: new Uint8Array(numEnvs).fill(MODE.given),
      profiles: this.#profiles,
      graders,
      start: {
        steps: new Uint8Array(numEnvs),
        meters: new Float32Array(numEnvs * NUM_METERS),
        early: new Float32Array(numEnvs),
        late: new Float32Array(numEnvs),
        returns: null,
        crashes: new Uint8Array(numEnvs),
        well: new Float32Array(numEnvs),
        skill: hasBeliefs ? new Float32Array(numEnvs) : null,
        beliefs: hasBeliefs ? new Float32Array(numEnvs * NUM_BELIEFS) : null,
        given: hasBeliefs ? new Uint8Array(numEnvs).fill(1) : null,
      },
    };
  }

  /**
   * Writes the rows of episodes that have all taken `step` steps, from the first row on.
   * @param episodes indices of `sums` and `profiles`. @param profiles f32 [n, samples, 16]: posterior samples.
   */
  write(step: number, episodes: readonly number[], sums: EpisodeSums, profiles: Float32Array): void {
    const numRows = episodes.length * this.#samples;
    const width = this.#samples * PROFILE_SIZE;
    this.#step = step;
    this.reset.mask.fill(1, 0, numRows).fill(0, numRows);
    this.#drawSeeds();
    episodes.forEach((i, k) => {
      this.#profiles.set(profiles.subarray(i * width, (i + 1) * width), k * width);
      this.#writeEpisode(i, sums, k * this.#samples);
    });
  }

  /** Draws the seeds: the same for all episodes, so that a decision does not depend on the index of an episode. */
  #drawSeeds(): void {
    const { seeds } = this.reset;
    const draw: Draw = { x0: 0, x1: 0 };
    for (let k = 0; k < this.#samples; k++) seeds[k] = threefry(this.#seed, STREAM, this.#step, k, draw).x0;
    for (let length = this.#samples; length < seeds.length; length *= 2) seeds.copyWithin(length, 0, length);
  }

  /** Writes the rows of episode i, one for each posterior sample. @param first the index of the first row. */
  #writeEpisode(i: number, sums: EpisodeSums, first: number): void {
    const { start } = this.reset;
    const meters = sums.meters.subarray(i * NUM_METERS, (i + 1) * NUM_METERS);
    for (let env = first; env < first + this.#samples; env++) {
      const weights = env * PROFILE_SIZE + NUM_TRAITS;
      start.steps[env] = this.#step;
      start.meters.set(meters, env * NUM_METERS);
      start.early![env] = sums.rewardSum(i, 0, this.#profiles, weights);
      start.late![env] = sums.rewardSum(i, 1, this.#profiles, weights);
      start.crashes![env] = sums.numCrashes(i);
      start.well![env] = sums.weightedMeterSum(i, this.#profiles, weights);
    }
    if (start.beliefs !== null) this.#writeBeliefs(i, sums, first);
  }

  /** Writes the belief stated at this step, which is kept to the end, and the `belief_skill` sum of earlier steps. */
  #writeBeliefs(i: number, sums: EpisodeSums, first: number): void {
    const { start } = this.reset;
    const belief = sums.beliefs.subarray(i * NUM_BELIEFS, (i + 1) * NUM_BELIEFS);
    for (let env = first; env < first + this.#samples; env++) {
      const profile = this.#profiles.subarray(env * PROFILE_SIZE, (env + 1) * PROFILE_SIZE);
      beliefTarget(this.#params, profile, this.#target);
      start.skill![env] = sums.skillSum(i, this.#target);
      start.beliefs!.set(belief, env * NUM_BELIEFS);
    }
  }
}
