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
import { Responses } from './responses.js';
import { checkRows } from './rows.js';
import { priorWeights, Scratch } from './weights.js';

export interface InferenceOptions {
  /** How many people stand for a posterior, from 16 to 2^16. More cost time and memory. Default 256. */
  samples?: number;
  /** u32: seed of the draws. Default 0. */
  seed?: number;
}

const OPTIONS: readonly (keyof InferenceOptions)[] = ['samples', 'seed'];
const DEFAULT_SAMPLES = 256;
/** What the draws behind the last step are for. */
const PRIOR = NUM_STEPS + 1;

export class Inference {
  readonly world: World;
  readonly numEnvs: number;
  readonly samples: number;
  readonly #draws: Draws;
  readonly #evidence: Evidence;
  readonly #probes: Probes;
  readonly #people: People;
  readonly #persons: PersonBelief[];
  readonly #beliefs: Float32Array;
  readonly #errors: Float32Array;
  /** u8 [numEnvs]: whose belief is older than what is known. */
  readonly #stale: Uint8Array;
  readonly #profile = new Float32Array(PROFILE_SIZE);
  readonly #target = new Float32Array(NUM_BELIEFS);
  readonly #targets: Float32Array[];

  constructor(world: World, numEnvs: number, options: InferenceOptions = {}) {
    checkOptions('options', options, OPTIONS);
    this.world = world;
    this.numEnvs = checkInteger('numEnvs', numEnvs, 1, MAX_ENVS);
    this.samples = checkInteger('samples', options.samples ?? DEFAULT_SAMPLES, 16, 2 ** 16);
    this.#draws = new Draws(checkInteger('seed', options.seed ?? 0, 0, MAX_U32));
    const responses = new Responses(world.params);
    this.#evidence = new Evidence(world.params, responses);
    this.#probes = new Probes(world.params, responses);
    this.#draws.begin(PRIOR);
    this.#people = new People(world.params, this.samples, this.#draws);
    const prior = priorWeights(this.samples, this.#draws);
    const scratch = new Scratch(this.samples);
    this.#persons = Array.from({ length: numEnvs }, () => new PersonBelief(world.params, prior, scratch));
    this.#beliefs = new Float32Array(numEnvs * NUM_BELIEFS);
    this.#errors = new Float32Array(numEnvs * NUM_BELIEFS);
    this.#stale = new Uint8Array(numEnvs).fill(1);
    this.#targets = Array.from({ length: NUM_BELIEFS }, () => new Float32Array(this.samples));
  }

  observe(observations: Float32Array, playing: Uint8Array | null = null): void {
    const { numEnvs } = this;
    checkRows(observations, playing, numEnvs);
    for (let i = 0; i < numEnvs; i++) {
      if (playing !== null && playing[i] === 0) continue;
      const base = i * OBSERVATION_SIZE;
      if (this.#persons[i].observe(observations, base, this.#evidence, this.#draws)) this.#stale[i] = 1;
    }
  }

  beliefs(): Float32Array {
    this.#freshen();
    return this.#beliefs.slice();
  }

  /** f32 [numEnvs, 3]: how far each belief is expected to be from the truth, the mean of |belief - target|. */
  expectedErrors(): Float32Array {
    this.#freshen();
    return this.#errors.slice();
  }

  /** f32 [numEnvs, 10]: by how much each action, taken now, is expected to reduce the mean of a slot's expected errors. */
  probeValues(): Float32Array {
    this.#freshen();
    const out = new Float32Array(this.numEnvs * NUM_ACTIONS);
    for (let i = 0; i < this.numEnvs; i++)
      this.#probes.write(this.#persons[i], this.#errors, i * NUM_BELIEFS, out, i * NUM_ACTIONS);
    return out;
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
    const half = this.samples / 2;
    for (let k = 0; k < NUM_BELIEFS; k++) {
      const sorted = this.#targets[k].sort();
      const median = Math.fround(0.5 * (sorted[Math.ceil(half) - 1] + sorted[Math.floor(half)]));
      let error = 0;
      for (let p = 0; p < this.samples; p++) error += Math.abs(sorted[p] - median);
      this.#beliefs[i * NUM_BELIEFS + k] = median;
      this.#errors[i * NUM_BELIEFS + k] = error / this.samples;
    }
  }

  #drawTargets(person: PersonBelief): void {
    for (let p = 0; p < this.samples; p++) {
      this.#people.write(person, p, this.#profile, 0);
      beliefTarget(this.world.params, this.#profile, this.#target);
      for (let k = 0; k < NUM_BELIEFS; k++) this.#targets[k][p] = this.#target[k];
    }
  }

  people(count: number): Float32Array {
    checkInteger('count', count, 1, MAX_ENVS);
    const out = new Float32Array(this.numEnvs * count * PROFILE_SIZE);
    for (let i = 0; i < this.numEnvs; i++)
      this.#people.writeMany(this.#persons[i], count, out, i * count * PROFILE_SIZE);
    return out;
  }

  /** @internal */
  person(i: number): PersonBelief {
    return this.#persons[i];
  }

  /** @internal f32 [samples] each, sorted. */
  targets(i: number): Float32Array[] {
    this.#drawTargets(this.#persons[i]);
    return this.#targets.map((t) => t.slice().sort());
  }
}
