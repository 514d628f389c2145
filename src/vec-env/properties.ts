/** What both faces of a vector environment tell of it. */
import type { EncodedField } from '../observe/fields.js';
import {
  ACTION_SPACE,
  type ActionSpace,
  type ObservationSpace,
  observationSpace,
} from '../observe/spaces.js';
import type { AutoresetMode } from '../validate/autoreset-modes.js';
import { NUM_STEPS } from '../world/fields.js';
import type { World } from '../world/world.js';
import type { Core } from './core.js';

/** What is fixed by the world's version and numbers. */
export interface EnvSpec {
  readonly id: string;
  /** Of the world: it rises when episodes change. */
  readonly version: string;
  /** SHA-256 of the world's numbers, hexadecimal. */
  readonly worldDigest: string;
  readonly maxEpisodeSteps: number;
}

/** What was done since an environment was opened. */
export interface Counters {
  /** Steps taken by all slots together. */
  readonly steps: number;
  /** Episodes that ended. */
  readonly episodes: number;
}

export class EnvProperties {
  readonly numEnvs: number;
  /** Which backend and kernel run, on how many threads at most, and why this backend. */
  readonly backend: string;
  readonly kernel: string;
  readonly threads: number;
  readonly backendReason: string;
  readonly world: World;
  readonly spec: EnvSpec;
  /** Whether luck and events are such as no real episode has. */
  readonly imagination: boolean;
  /** What follows an episode's end, under the name that Gymnasium's metadata has. */
  readonly metadata: { readonly autoresetMode: AutoresetMode };
  /** What one slot shows, number by number: names, offsets, sizes, bounds, meaning. */
  readonly observationFields: readonly EncodedField[];
  /** The space of one slot's observation. */
  readonly observationSpace: ObservationSpace;
  readonly actionSpace: ActionSpace = ACTION_SPACE;
  /** u32 [numEnvs]: the seed of each slot's present episode. A view, kept up to date: autoreset goes on from it. */
  readonly seeds: Uint32Array;
  /** u32 [numEnvs]: how many episodes each slot has begun by autoreset since its reset. A view, kept up to date. */
  readonly episodeNumbers: Uint32Array;

  constructor(core: Core) {
    const { batch, world, autoreset, shown, numEnvs, backendReason, seeds } = core;
    this.numEnvs = numEnvs;
    this.backend = batch.backend;
    this.kernel = batch.kernel;
    this.threads = batch.threads;
    this.backendReason = backendReason;
    this.world = world;
    this.spec = Object.freeze({
      id: 'rhythm',
      version: world.spec.version,
      worldDigest: world.digest,
      maxEpisodeSteps: NUM_STEPS,
    });
    this.imagination = core.imagination;
    this.metadata = Object.freeze({ autoresetMode: autoreset.mode });
    this.observationFields = shown.fields;
    this.observationSpace = observationSpace(shown.fields);
    this.seeds = seeds;
    this.episodeNumbers = autoreset.episodeNumbers;
  }
}

/** The counters of a core, as they are now. */
export const countersOf = ({ autoreset: { steps, episodes } }: Core): Counters => ({ steps, episodes });
