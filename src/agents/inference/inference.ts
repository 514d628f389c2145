/** Inference from observations: a posterior over the 16 floats of a profile, for many profiles at once. */

import { beliefTarget } from '../../engine/reference/profile.js';
import { fieldOfEach, RowRules } from '../../engine/validate/observations.js';
import { InputError } from '../../shared/errors.js';
import {
  checkInteger,
  checkLength,
  checkName,
  checkOptions,
  isFloats,
  kindOf,
  wrongType,
} from '../../shared/values.js';
import {
  MAX_ENVS,
  MAX_U32,
  NUM_ACTIONS,
  NUM_BELIEFS,
  NUM_STEPS,
  OBSERVATION,
  OBSERVATION_FIELDS,
  OBSERVATION_SIZE,
  PROFILE_SIZE,
} from '../../world/fields.js';
import type { World } from '../../world/world.js';
import { Evidence, Responses } from './evidence.js';
import { type InferenceReport, Reporter, statisticsOf, type TargetStatistics } from './inference-report.js';
import { PosteriorSamples, ProfilePosterior } from './posterior.js';
import { Probes } from './probes.js';
import { BELIEF_ERRORS, type BeliefError, InferenceDraws, priorWeights, sortSamples } from './samples.js';
import { Scratch } from './weights.js';

/** Options of an `Inference`. */
export interface InferenceOptions {
  /** The number of posterior samples, 16 to 2^16. More samples take more time and memory. Default 256. */
  samples?: number;
  /** u32: seed of the draws. Default 0. */
  seed?: number;
}

/** The names of the options, for their validation. */
export const OPTIONS: readonly (keyof InferenceOptions)[] = ['samples', 'seed'];
const DEFAULT_SAMPLES = 256;
const [MIN_SAMPLES, MAX_SAMPLES] = [16, 2 ** 16];
/** The number that `InferenceDraws.begin` takes for the prior, which belongs to no step. */
const PRIOR_STEP = NUM_STEPS + 1;

/**
 * Infers `numEnvs` profiles at once. Each inference uses only the observations of its own environment. The posterior
 * assumes uniform noise of known amplitude. The posterior is a function of the observations, the number of
 * samples and the seed of the inference: equal inputs yield equal bits in any batch, environment and process. Noise is
 * modelled as continuous; the actual noise has 1024 values, amplitude / 512 apart.
 */
export class Inference {
  /** The world whose profiles are inferred. */
  readonly world: World;
  /** The number of episodes that are observed at once. */
  readonly numEnvs: number;
  /** The number of posterior samples. */
  readonly samples: number;
  readonly #draws: InferenceDraws;
  readonly #evidence: Evidence;
  readonly #posteriorSamples: PosteriorSamples;
  readonly #probes: Probes;
  readonly #reporter: Reporter;
  readonly #posteriors: ProfilePosterior[];
  /** By environment, statistics of the three numbers of the belief target; null if they must be computed again. */
  readonly #statistics: (TargetStatistics[] | null)[];
  /** The hidden numbers that the belief target depends on. */
  readonly #sources: ReadonlySet<number>;
  /** f32 [samples, 16], of which only `#sources` are written, and f32 [16]. Both are reused. */
  readonly #profiles: Float32Array;
  readonly #profile = new Float32Array(PROFILE_SIZE);
  readonly #target = new Float32Array(NUM_BELIEFS);
  /** f32 [samples] for each number of the belief target. */
  readonly #targets: readonly Float32Array[];

  /**
   * Begins with the prior of each profile.
   * @param world the world of the profiles. @param numEnvs the number of environments. An environment takes about 20 kB with
   *   256 samples, and 40 bytes more for each further sample.
   * @throws InputError `unknown_option`, `wrong_type` or `out_of_range`.
   */
  constructor(world: World, numEnvs: number, options: InferenceOptions = {}) {
    checkOptions('options', options, OPTIONS);
    const { samples = DEFAULT_SAMPLES, seed = 0 } = options;
    this.world = world;
    this.numEnvs = checkInteger('numEnvs', numEnvs, 1, MAX_ENVS);
    this.samples = checkInteger('samples', samples, MIN_SAMPLES, MAX_SAMPLES);
    this.#draws = new InferenceDraws(checkInteger('seed', seed, 0, MAX_U32)).begin(PRIOR_STEP);
    const { params } = world;
    const responses = new Responses(params);
    this.#evidence = new Evidence(params, responses);
    this.#probes = new Probes(params, responses, this.samples);
    this.#posteriorSamples = new PosteriorSamples(params, this.samples, this.#draws);
    const prior = priorWeights(this.samples, this.#draws);
    const scratch = new Scratch(this.samples);
    const newPosterior = () => new ProfilePosterior(params, prior, scratch);
    this.#sources = new Set(Array.from(params.beliefSource));
    this.#profiles = new Float32Array(this.samples * PROFILE_SIZE);
    this.#targets = Array.from({ length: NUM_BELIEFS }, () => new Float32Array(this.samples));
    const before = newPosterior();
    const priorTargets = this.#drawTargets(before).map((samples) => samples.slice());
    this.#reporter = new Reporter(world, this.#posteriorSamples, before, priorTargets);
    this.#posteriors = Array.from({ length: this.numEnvs }, newPosterior);
    this.#statistics = Array(this.numEnvs).fill(null);
  }

  /**
   * Updates the posteriors with observations. A row at step 0, or at an earlier step than the environment's last row,
   * starts another episode with the prior. A second row at the same step is ignored, except at step 0. If steps were
   * skipped, only the last step counts as evidence. An observation of another world, or an altered one, can contradict earlier
   * observations. A contradicting anomaly or change of a meter widens the bounds of the trait that affects it, within the
   * trait's range; a contradicting reward bounds the weights less tightly than a consistent one. `explain` reports
   * contradictions.
   * @param observations f32 [numEnvs, 22], raw, by OBSERVATION_FIELDS. @param playing u8 [numEnvs]: environments with 0
   *   are not changed; null for all.
   * @throws InputError `wrong_type`, `wrong_length`, or `out_of_range` for invalid numbers. An error changes nothing.
   */
  observe(observations: Float32Array, playing: Uint8Array | null = null): void {
    checkObservations(observations, playing, this.numEnvs);
    for (let i = 0; i < this.numEnvs; i++) {
      if (playing !== null && playing[i] === 0) continue;
      const base = i * OBSERVATION_SIZE;
      if (this.#posteriors[i].observe(observations, base, this.#evidence, this.#draws))
        this.#statistics[i] = null;
    }
  }

  /**
   * Returns the belief with the smallest expected error, for each number of the belief target: f32 [numEnvs, 3] in [0, 1],
   * newly allocated. @param error 'absolute' (default) returns the posterior median, 'squared' the posterior mean.
   * @throws InputError `unknown_name` or `wrong_type` for another error.
   */
  beliefs(error: BeliefError = 'absolute'): Float32Array {
    return this.#tableOf(error, 'median', 'mean');
  }

  /**
   * Returns the expected error of each belief, the mean of |belief - target| or of its square: f32 [numEnvs, 3], newly
   * allocated. @param error as for `beliefs`.
   */
  expectedErrors(error: BeliefError = 'absolute'): Float32Array {
    return this.#tableOf(error, 'error', 'variance');
  }

  /**
   * Returns by how much each action is expected to reduce the mean expected error: f32 [numEnvs, 10], newly allocated.
   * Estimates the values from the ranges of the traits and the spread of the weights. All values are 0 before the first
   * observation, and if at most one step is left, because no graded belief can follow. @param error as for `beliefs`.
   */
  probeValues(error: BeliefError = 'absolute'): Float32Array {
    const errors = this.expectedErrors(error);
    const values = new Float32Array(this.numEnvs * NUM_ACTIONS);
    for (const [i, posterior] of this.#posteriors.entries())
      this.#probes.write(posterior, error, errors, i * NUM_BELIEFS, values, i * NUM_ACTIONS);
    return values;
  }

  /**
   * Draws valid profiles from the posteriors: f32 [numEnvs, count, 16], newly allocated. At most `samples` of an
   * environment's profiles differ. A smaller `count` takes evenly spaced samples. Without a new observation, the same call
   * returns the same profiles.
   * @throws InputError `wrong_type` or `out_of_range`.
   */
  posteriorSamples(count: number): Float32Array {
    checkInteger('count', count, 1, MAX_ENVS);
    const profiles = new Float32Array(this.numEnvs * count * PROFILE_SIZE);
    for (const [i, posterior] of this.#posteriors.entries())
      this.#posteriorSamples.writeMany(posterior, count, profiles, i * count * PROFILE_SIZE);
    return profiles;
  }

  /** Returns a report on the posterior of environment i. @throws InputError `wrong_type` or `out_of_range`. */
  explain(i: number): InferenceReport {
    const posterior = this.#posteriors[checkInteger('i', i, 0, this.numEnvs - 1)];
    return this.#reporter.report(posterior, this.#statisticsOf(i));
  }

  /**
   * Checks the name of an error, and returns a statistic of each number of each belief target: f32 [numEnvs, 3].
   * @param absolute the statistic for the absolute error. @param squared the statistic for the squared error.
   */
  #tableOf(
    error: BeliefError,
    absolute: keyof TargetStatistics,
    squared: keyof TargetStatistics,
  ): Float32Array {
    const name = checkName('error', error, BELIEF_ERRORS) === 'absolute' ? absolute : squared;
    const table = new Float32Array(this.numEnvs * NUM_BELIEFS);
    for (let i = 0; i < this.numEnvs; i++)
      for (let k = 0; k < NUM_BELIEFS; k++) table[i * NUM_BELIEFS + k] = this.#statisticsOf(i)[k][name];
    return table;
  }

  #statisticsOf(i: number): TargetStatistics[] {
    this.#statistics[i] ??= this.#drawTargets(this.#posteriors[i]).map(statisticsOf);
    return this.#statistics[i];
  }

  /** Returns sorted samples of each number of a posterior's target, valid until the next call. */
  #drawTargets(posterior: ProfilePosterior): readonly Float32Array[] {
    this.#posteriorSamples.writeMany(posterior, this.samples, this.#profiles, 0, this.#sources);
    for (let p = 0; p < this.samples; p++) {
      for (let k = 0; k < PROFILE_SIZE; k++) this.#profile[k] = this.#profiles[p * PROFILE_SIZE + k];
      beliefTarget(this.world.params, this.#profile, this.#target);
      for (let k = 0; k < NUM_BELIEFS; k++) this.#targets[k][p] = this.#target[k];
    }
    for (const samples of this.#targets) sortSamples(samples);
    return this.#targets;
  }
}

const RULES = new RowRules(fieldOfEach(OBSERVATION_FIELDS));

/**
 * Checks rows f32 [numEnvs, 22]. @param playing u8 [numEnvs]: rows where it is 0 are not checked; null checks all rows.
 * @throws InputError `wrong_type`, `wrong_length` or `out_of_range`.
 */
export function checkObservations(observations: unknown, playing: unknown, numEnvs: number): void {
  if (!isFloats(observations)) {
    throw wrongType('observations', 'a Float32Array', observations, 'Pass raw observations, row-major.');
  }
  checkLength(
    'numbers in observations',
    observations.length,
    numEnvs * OBSERVATION_SIZE,
    `${numEnvs} x ${OBSERVATION_SIZE}, raw`,
  );
  if (playing !== null) {
    if (kindOf(playing) !== 'Uint8Array')
      throw wrongType('playing', 'a Uint8Array', playing, 'Pass a Uint8Array, or null for all environments.');
    checkLength('entries in playing', (playing as Uint8Array).length, numEnvs, 'numEnvs');
  }
  for (let i = 0; i < numEnvs; i++) {
    if (playing === null || (playing as Uint8Array)[i] !== 0) checkRow(observations, i);
  }
}

function checkRow(rows: Float32Array, i: number): void {
  const base = i * OBSERVATION_SIZE;
  const field = RULES.firstWrong(rows, base);
  if (field >= 0) refuse(rows[base + field], field, i);
  // The inference needs the last action of a row after step 0. So the first observation of an episode that begins at a later
  // step is refused too.
  if (rows[base + OBSERVATION.step] > 0 && rows[base + OBSERVATION.lastAction] < 0)
    refuse(
      -1,
      OBSERVATION.lastAction,
      i,
      `an integer from 0 to ${NUM_ACTIONS - 1} (last_action), because step is above 0,`,
    );
}

function refuse(value: number, k: number, i: number, expected = RULES.expectedAt(k)): never {
  throw new InputError('out_of_range', {
    expected: `${expected} at observations[${i * OBSERVATION_SIZE + k}], row ${i}`,
    got: String(value),
    remedy: 'Pass raw observations, neither scaled nor one-hot.',
  });
}
