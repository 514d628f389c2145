/** Opens the episodes of a case, and copies their outputs. */
import type { Batch, Outputs, Trajectory } from '../dist/engine/backends/backend.js';
import { NODE } from '../dist/engine/backends/node.js';
import { openBatch } from '../dist/engine/backends/open-batch.js';
import { OUTPUT_ARRAYS, TRAJECTORY_FIELDS } from '../dist/engine/backends/outputs.js';
import { toGraders, toProfiles } from '../dist/engine/validate/profiles.js';
import type { LAYOUTS } from '../dist/engine/vec-env/vec-env-options.js';
import { createWorld } from '../dist/world/world.js';

/** The setting of a case. */
export interface Setting {
  readonly backend: 'native' | 'reference';
  /** Null for the reference. */
  readonly kernel: string | null;
  readonly threads: number;
  readonly episodes: number;
  readonly layout: (typeof LAYOUTS)[number];
}

export type Elements = Float32Array | Int32Array | Uint8Array | Int8Array;
/** Copies of arrays, by name. */
export type OutputCopies = ReadonlyMap<string, Elements>;

/** The opened episodes of a case, ready to play and to time. */
export interface Rig {
  /** Brings all episodes to the start of a play. Not timed. */
  begin(): void;
  /** The timed work. @param onOutputs called after each call that writes outputs; absent during timing. */
  play(onOutputs?: () => void): void;
  /** Copies the current outputs. */
  outputs(): OutputCopies;
  close(): void;
}

/** Opens the episodes that a case plays. */
export type OpenRig = (setting: Setting) => Rig;

export const WORLD = createWorld();
/** Chosen by hand; any seed would do. */
const FIRST_SEED = 100;

/** u32 [episodes]: environment i plays `FIRST_SEED + i`. */
export const seedsOf = (episodes: number): Uint32Array =>
  Uint32Array.from({ length: episodes }, (_, i) => FIRST_SEED + i);

/** The reset request of every batch: sampled profiles and the default grader. */
export function resetRequest(seeds: Uint32Array) {
  const { modes, floats } = toProfiles(WORLD, 'sampled', seeds.length);
  return { mask: null, seeds, modes, profiles: floats, graders: toGraders(WORLD, 'v2', seeds.length) };
}

export interface Episodes {
  readonly batch: Batch;
  readonly outputs: Outputs;
  reset(): void;
}

/** Opens a batch of the backend interface as VecEnv does. */
export function openEpisodes(setting: Setting, seeds: Uint32Array = seedsOf(setting.episodes)): Episodes {
  const { backend, kernel, threads, episodes: numEnvs, layout } = setting;
  const { batch, outputs } = openBatch(
    NODE,
    { backend, kernel: kernel ?? undefined },
    {
      numEnvs,
      world: WORLD,
      imagination: false,
      threads,
      layout: { columnMajor: layout === 'column-major', finalObservations: false },
    },
  );
  const request = resetRequest(seeds);
  return { batch, outputs, reset: () => batch.reset(request) };
}

/** Copies all outputs, and the trajectory if there is one, by name. */
export function copyOutputs(outputs: Outputs, trajectory: Trajectory | null = null): OutputCopies {
  const names = Object.keys(OUTPUT_ARRAYS) as (keyof typeof OUTPUT_ARRAYS)[];
  const current = names.map((name): [string, Elements | null] => [name, outputs[name]]);
  const recorded = TRAJECTORY_FIELDS.map((name): [string, Elements | null] => [
    `trajectory.${name}`,
    trajectory === null ? null : trajectory[name],
  ]);
  const arrays = [...current, ...recorded].filter((entry): entry is [string, Elements] => entry[1] !== null);
  return new Map(arrays.map(([name, array]) => [name, array.slice()]));
}

/** Returns the first `count` environments of row-major arrays of `episodes` environments. */
export function firstEnvs(outputs: OutputCopies, episodes: number, count: number): OutputCopies {
  const first = (array: Elements) => array.subarray(0, (array.length / episodes) * count);
  return new Map(Array.from(outputs, ([name, array]) => [name, first(array)]));
}
