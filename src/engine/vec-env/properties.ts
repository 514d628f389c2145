/** The properties that VecEnv and AsyncVecEnv share. */

import { NUM_STEPS } from '../../world/fields.js';
import type { World } from '../../world/world.js';
import type { EncodedField } from '../observe/encoding.js';
import {
  ACTION_SPACE,
  type ActionSpace,
  type ObservationSpace,
  observationSpace,
} from '../observe/spaces.js';
import type { AutoresetMode } from './autoreset.js';
import type { Core } from './core.js';

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
