/** The properties that VecEnv and AsyncVecEnv share, and the spaces of observations and actions. */

import { checkInteger } from '../../shared/values.js';
import {
  ACTION_NAMES,
  type Field,
  MAX_ENVS,
  MAX_U32,
  NUM_ACTIONS,
  NUM_STEPS,
  sizeOf,
} from '../../world/fields.js';
import type { World } from '../../world/world.js';
import type { EncodedField } from '../observe/encoding.js';
import { below, type Draw, threefry } from '../reference/threefry.js';
import type { AutoresetMode } from './autoreset.js';
import type { Core } from './core.js';

/** The space of one environment's observations. */
export interface ObservationSpace {
  /** Gymnasium's Box. */
  readonly type: 'box';
  /** Always float32. */
  readonly dtype: 'float32';
  /** The size of an observation. */
  readonly shape: readonly [size: number];
  /** f32 [size]: lower bounds, inclusive. */
  readonly low: Float32Array;
  /** f32 [size]: upper bounds, inclusive. */
  readonly high: Float32Array;
}

/** The space of actions. */
export interface ActionSpace {
  /** Gymnasium's Discrete. */
  readonly type: 'discrete';
  /** The number of codes, which begin at 0: 10. */
  readonly n: number;
  /** Names by code. */
  readonly names: readonly string[];
  /**
   * Draws uniform random actions from a u32 seed. Without `n`, returns one code; with `n`, an array of codes, u8 [n],
   * newly allocated. Element i depends on the seed and i alone; element 0 equals the code without `n`. Pass another seed at
   * every step.
   * @throws InputError `wrong_type` or `out_of_range`.
   */
  readonly sample: typeof sampleActions;
}

/** Returns the space of observations with these fields. Frozen except for its two arrays, which are newly allocated. */
export function observationSpace(fields: readonly Field[]): ObservationSpace {
  const size = sizeOf(fields);
  const low = new Float32Array(size);
  const high = new Float32Array(size);
  for (const field of fields) {
    low.fill(field.low, field.offset, field.offset + field.size);
    high.fill(field.high, field.offset, field.offset + field.size);
  }
  return Object.freeze({ type: 'box', dtype: 'float32', shape: Object.freeze([size] as const), low, high });
}

/** The action space of every environment. */
export const ACTION_SPACE: ActionSpace = Object.freeze({
  type: 'discrete',
  n: NUM_ACTIONS,
  names: ACTION_NAMES,
  sample: sampleActions,
});

/** The second word of Threefry's key, "ACTS" in ASCII; the first is a seed. */
const STREAM = 0x41435453;
const draw: Draw = { x0: 0, x1: 0 };

/** Returns the action of a seed at an index. */
const actionAt = (seed: number, i: number): number =>
  below(threefry(seed, STREAM, i, 0, draw).x0, NUM_ACTIONS);

/** Returns one random action, a code. @param seed u32. @throws InputError `wrong_type` or `out_of_range`. */
function sampleActions(seed: number): number;
/** Returns random actions, u8 [n], newly allocated. Action i depends on the seed and i alone. @param n 0 to 2^24. */
function sampleActions(seed: number, n: number): Uint8Array<ArrayBuffer>;
function sampleActions(seed: number, n?: number): number | Uint8Array<ArrayBuffer> {
  checkInteger('seed', seed, 0, MAX_U32);
  if (n === undefined) return actionAt(seed, 0);
  return new Uint8Array(checkInteger('n', n, 0, MAX_ENVS)).map((_, i) => actionAt(seed, i));
}

/** The identity of an environment, fixed by the world's version, name and numbers. */
export interface EnvSpec {
  /** Always "rhythm". */
  readonly id: string;
  /** The world's version. A new version may have other episodes. */
  readonly version: string;
  /** The world's name, `WorldSpec.name`: "rhythm" for the published world. No part of the digest. */
  readonly worldName: string;
  /** SHA-256 of the world's numbers, hexadecimal. */
  readonly worldDigest: string;
  /** The length of an episode: 28. */
  readonly maxEpisodeSteps: number;
}

/** Counters of a batch since it was opened. `restore` sets them to the snapshot's. */
export interface Counters {
  /** Steps taken by all environments together. */
  readonly steps: number;
  /** Episodes that ended. */
  readonly episodes: number;
}

/** The base class of VecEnv and AsyncVecEnv. */
export class EnvProperties {
  /** The number of environments in the batch. */
  readonly numEnvs: number;
  /** The name of the backend in use. */
  readonly backend: string;
  /** The kernel in use; the backend's name if it has no kernels. */
  readonly kernel: string;
  /** The maximum number of threads. */
  readonly threads: number;
  /** The reason why this backend was chosen, with the backends tried before and why they cannot be used here. */
  readonly backendReason: string;
  /** The world that is played. */
  readonly world: World;
  /** The environment's identity: id; version, name and digest of the world; length of an episode. */
  readonly spec: EnvSpec;
  /** Whether noise and events come from the imagination streams. */
  readonly imagination: boolean;
  /** The autoreset mode, as in the `metadata` of Gymnasium's vector environments. */
  readonly metadata: { readonly autoresetMode: AutoresetMode };
  /** The fields of an observation: names, offsets, sizes, bounds, meaning. */
  readonly observationFields: readonly EncodedField[];
  /** The space of one environment's observation. */
  readonly observationSpace: ObservationSpace;
  /** The space of one action: codes, which begin at 0, and their names. */
  readonly actionSpace: ActionSpace = ACTION_SPACE;
  /**
   * u32 [numEnvs]: the seed of each environment's current episode. A view; calls update it. Autoreset computes the next
   * seeds from it.
   */
  readonly seeds: Uint32Array;
  /** u32 [numEnvs]: the number of autoresets of each environment since its last `reset`. A view; calls update it. */
  readonly episodeNumbers: Uint32Array;
  readonly #core: Core;

  constructor(core: Core) {
    const { batch, world, autoreset, stepOutputs, numEnvs, backendReason, seeds } = core;
    this.#core = core;
    this.numEnvs = numEnvs;
    this.backend = batch.backend;
    this.kernel = batch.kernel;
    this.threads = batch.threads;
    this.backendReason = backendReason;
    this.world = world;
    this.spec = Object.freeze({
      id: 'rhythm',
      version: world.spec.version,
      worldName: world.spec.name,
      worldDigest: world.digest,
      maxEpisodeSteps: NUM_STEPS,
    });
    this.imagination = core.imagination;
    this.metadata = Object.freeze({ autoresetMode: autoreset.mode });
    this.observationFields = stepOutputs.fields;
    this.observationSpace = observationSpace(stepOutputs.fields);
    this.seeds = seeds;
    this.episodeNumbers = autoreset.episodeNumbers;
  }

  /**
   * Counters since opening: steps of all environments together, and ended episodes. `restore` and `reopen` set them to the
   * snapshot's.
   */
  get counters(): Counters {
    const { steps, episodes } = this.#core.autoreset;
    return { steps, episodes };
  }

  /**
   * Whether the episodes depend on hidden state. If true, a policy that looks ahead in copies of the episodes is an oracle
   * (`Policy.usesHiddenState`). False only with `imagination` and without hidden profiles. Profiles are not hidden in forks
   * with `imagination: { profiles }`, in copies of such forks, and after a reset to named profiles or to floats. True again
   * after `restore`, because a snapshot does not store whether the caller gave its profiles.
   */
  get usesHiddenState(): boolean {
    return this.#core.usesHiddenState;
  }
}
