/** What a case plays on: open episodes that always begin alike, and how what they leave is looked at. */
import type { Batch, Outputs, Trajectory } from '../dist/backends/backend.js';
import { NODE } from '../dist/backends/node.js';
import { openBatch } from '../dist/backends/open.js';
import { OUTPUT_ARRAYS } from '../dist/backends/outputs.js';
import { toGraders, toProfiles } from '../dist/validate/persons.js';
import type { LAYOUTS } from '../dist/vec-env/options.js';
import { createWorld } from '../dist/world/world.js';

/** How a case runs. */
export interface Setting {
  readonly backend: 'native' | 'reference';
  /** Null for the reference, which has none. */
  readonly kernel: string | null;
  readonly threads: number;
  readonly episodes: number;
  readonly layout: (typeof LAYOUTS)[number];
}

export type Elements = Float32Array | Int32Array | Uint8Array | Int8Array;
/** Arrays by name, copies. */
export type Left = ReadonlyMap<string, Elements>;

export interface Rig {
  /** Brings all episodes to where a play begins. Not timed. */
  begin(): void;
  /** What is timed. @param seen called after each call that shows something; left out when timing. */
  play(seen?: () => void): void;
  /** What a caller can read now. */
  left(): Left;
  close(): void;
}

/** Opens what is to be played. */
export type Play = (setting: Setting) => Rig;

export const WORLD = createWorld();
const FIRST_SEED = 100;

/** u32 [episodes]: slot i plays `FIRST_SEED + i`. */
export const seedsOf = (episodes: number): Uint32Array =>
  Uint32Array.from({ length: episodes }, (_, i) => FIRST_SEED + i);

/** What every reset of a batch is given: sampled persons, graded as `createVecEnv` does by default. */
export function resetRequest(seeds: Uint32Array) {
  const { modes, floats } = toProfiles(WORLD, 'sampled', seeds.length);
  return { mask: null, seeds, modes, profiles: floats, graders: toGraders(WORLD, 'v2', seeds.length) };
}

export interface Episodes {
  readonly batch: Batch;
  readonly outputs: Outputs;
  reset(): void;
}

/** A batch at the seam, opened as VecEnv opens it: outputs begin on a cache line. */
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

/** Copies of all outputs, and of a trajectory if there is one. */
export function leftIn(outputs: Outputs, trajectory: Trajectory | null = null): Left {
  const names = Object.keys(OUTPUT_ARRAYS) as (keyof typeof OUTPUT_ARRAYS)[];
  const shown = names.map((name): [string, Elements | null] => [name, outputs[name]]);
  const recorded = Object.entries(trajectory ?? {}).map(([name, array]): [string, Elements] => [
    `trajectory.${name}`,
    array,
  ]);
  const arrays = [...shown, ...recorded].filter((entry): entry is [string, Elements] => entry[1] !== null);
  return new Map(arrays.map(([name, array]) => [name, array.slice()]));
}

/** Of row-major arrays of `episodes` slots each, the first `count` slots. */
export function firstSlots(left: Left, episodes: number, count: number): Left {
  const first = (array: Elements) => array.subarray(0, (array.length / episodes) * count);
  return new Map(Array.from(left, ([name, array]) => [name, first(array)]));
}
