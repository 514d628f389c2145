/** What is believed of people from what they showed: a posterior over the 16 hidden numbers, for many people at once. */
import { beliefTarget } from '../../reference/profile.js';
import { checkInteger, checkOptions } from '../../validate/values.js';
import {
  MAX_ENVS,
  MAX_U32,
  NUM_ACTIONS,
  NUM_BELIEFS,
  NUM_STEPS,
  OBSERVATION_SIZE,
  PROFILE_SIZE,
} from '../../world/fields.js';
import type { World } from '../../world/world.js';
import { Draws } from './draws.js';
import { Evidence } from './evidence.js';
import { People } from './people.js';
import { PersonBelief } from './person.js';
import { Probes } from './probes.js';
import { meanError, median } from './quantiles.js';
import { type InferenceReport, Reporter } from './report.js';
import { Responses } from './responses.js';
import { checkRows } from './rows.js';
import { priorWeights, Scratch } from './weights.js';

export interface InferenceOptions {
  /** How many people stand for a posterior, from 16 to 2^16. More cost time and memory. Default 256. */
  samples?: number;
  /** u32: seed of the draws. Default 0. */
  seed?: number;
}

export const OPTIONS: readonly (keyof InferenceOptions)[] = ['samples', 'seed'];
const DEFAULT_SAMPLES = 256;
const [MIN_SAMPLES, MAX_SAMPLES] = [16, 2 ** 16];
/** What the draws behind those of the steps are for. */
const PRIOR = NUM_STEPS + 1;

/**
 * What is believed of `numEnvs` people at once, each from its own stream of observations and nothing else: no seed, no
 * profile, no other slot. The posterior is that of a world whose luck is uniform, its amplitudes known and its draws not.
 * What a slot believes is a function of its stream, the samples and the seed of the inference: recorded observations give
 * the same bits in any batch, slot and process. Luck counts as continuous: that it lies on a lattice shows in bits alone
 * that no reader of two decimals has, and would tell of the generator rather than of the person.
 */
export class Inference {
  readonly world: World;
  readonly numEnvs: number;
  /** How many people stand for a posterior. */
  readonly samples: number;
  readonly #draws: Draws;
  readonly #evidence: Evidence;
  readonly #people: People;
  readonly #probes: Probes;
  readonly #reporter: Reporter;
  readonly #persons: PersonBelief[];
  readonly #beliefs: Float32Array;
  readonly #errors: Float32Array;
  /** u8 [numEnvs]: whose belief is older than what was observed. */
  readonly #stale: Uint8Array;
  readonly #profile = new Float32Array(PROFILE_SIZE);
  readonly #target = new Float32Array(NUM_BELIEFS);
  /** f32 [samples] each: the target's numbers, one person after the other. */
  readonly #targets: readonly Float32Array[];

  /**
   * @param world whose people they are. @param numEnvs slots; some 15 kB each.
   * @throws InputError `unknown_option`, `wrong_type` or `out_of_range`.
   */
  constructor(world: World, numEnvs: number, options: InferenceOptions = {}) {
    checkOptions('options', options, OPTIONS);
    const { samples = DEFAULT_SAMPLES, seed = 0 } = options;
    this.world = world;
    this.numEnvs = checkInteger('numEnvs', numEnvs, 1, MAX_ENVS);
    this.samples = checkInteger('samples', samples, MIN_SAMPLES, MAX_SAMPLES);
    this.#draws = new Draws(checkInteger('seed', seed, 0, MAX_U32)).begin(PRIOR);
    const { params } = world;
    const responses = new Responses(params);
    this.#evidence = new Evidence(params, responses);
    this.#probes = new Probes(params, responses);
    this.#people = new People(params, this.samples, this.#draws);
    const prior = priorWeights(this.samples, this.#draws);
    const scratch = new Scratch(this.samples);
    const nobody = () => new PersonBelief(params, prior, scratch);
    this.#reporter = new Reporter(world, this.#people, nobody());
    this.#persons = Array.from({ length: this.numEnvs }, nobody);
    this.#beliefs = new Float32Array(this.numEnvs * NUM_BELIEFS);
    this.#errors = new Float32Array(this.numEnvs * NUM_BELIEFS);
    this.#stale = new Uint8Array(this.numEnvs).fill(1);
    this.#targets = Array.from({ length: NUM_BELIEFS }, () => new Float32Array(this.samples));
  }

  /**
   * Takes in what the agents see. A row at step 0, or at an earlier step than the slot's last one, is another episode,
   * of which nothing is known; one at the same step shows nothing new; one later by several steps tells of its last step.
   * What contradicts all that was seen before (another world's, or tampered with) widens what is believed until both are
   * possible, as far as it goes, and the report says so.
   * @param observations f32 [numEnvs, 22], raw, by OBSERVATION_FIELDS. @param playing u8 [numEnvs]: slots with 0 are left
   *   as they are; null for all.
   * @throws InputError `wrong_type`, `wrong_length`, or `out_of_range` for numbers that no observation holds. Nothing was
   *   taken in then.
   */
  observe(observations: Float32Array, playing: Uint8Array | null = null): void {
    checkRows(observations, playing, this.numEnvs);
    for (let i = 0; i < this.numEnvs; i++) {
      if (playing !== null && playing[i] === 0) continue;
      const base = i * OBSERVATION_SIZE;
      if (this.#persons[i].observe(observations, base, this.#evidence, this.#draws)) this.#stale[i] = 1;
    }
  }

  /** f32 [numEnvs, 3] in [0, 1], newly allocated: the posterior median of each number of the target. */
  beliefs(): Float32Array {
    this.#freshen();
    return this.#beliefs.slice();
  }

  /** f32 [numEnvs, 3], newly allocated: how far each belief is expected to be off, the mean of |belief - target|. */
  expectedErrors(): Float32Array {
    this.#freshen();
    return this.#errors.slice();
  }

  /**
   * f32 [numEnvs, 10], newly allocated: by how much each action, taken now, is expected to reduce a slot's expected errors,
   * on the mean of the three. An estimate from the ranges of the traits and the spread of the weights; 0 when the last
   * action is due, of which no belief can learn, and after it.
   */
  probeValues(): Float32Array {
    this.#freshen();
    const worth = new Float32Array(this.numEnvs * NUM_ACTIONS);
    for (const [i, person] of this.#persons.entries())
      this.#probes.write(person, this.#errors, i * NUM_BELIEFS, worth, i * NUM_ACTIONS);
    return worth;
  }

  /**
   * People drawn from the posterior: f32 [numEnvs, count, 16], newly allocated, each a valid profile. Up to `samples` of
   * them are different people, evenly spread; the same call gives the same people.
   * @throws InputError `wrong_type` or `out_of_range`.
   */
  people(count: number): Float32Array {
    checkInteger('count', count, 1, MAX_ENVS);
    const people = new Float32Array(this.numEnvs * count * PROFILE_SIZE);
    for (const [i, person] of this.#persons.entries())
      this.#people.writeMany(person, count, people, i * count * PROFILE_SIZE);
    return people;
  }

  /** What it would say of a slot, in numbers. @throws InputError `wrong_type` or `out_of_range`. */
  explain(i: number): InferenceReport {
    return this.#reporter.report(this.#persons[checkInteger('i', i, 0, this.numEnvs - 1)]);
  }

  #freshen(): void {
    for (let i = 0; i < this.numEnvs; i++) {
      if (this.#stale[i] === 0) continue;
      this.#believe(i);
      this.#stale[i] = 0;
    }
  }

  #believe(i: number): void {
    this.#drawTargets(this.#persons[i]);
    for (const [k, drawn] of this.#targets.entries()) {
      const belief = median(drawn.sort());
      this.#beliefs[i * NUM_BELIEFS + k] = belief;
      this.#errors[i * NUM_BELIEFS + k] = meanError(drawn, belief);
    }
  }

  #drawTargets(person: PersonBelief): void {
    for (let p = 0; p < this.samples; p++) {
      this.#people.write(person, p, this.#profile, 0);
      beliefTarget(this.world.params, this.#profile, this.#target);
      for (let k = 0; k < NUM_BELIEFS; k++) this.#targets[k][p] = this.#target[k];
    }
  }
}
