/** The work that the cases time, as an `OpenRig` each: runs of whole episodes, single steps, forks; and its inputs. */
import { loadAddon } from '../dist/engine/backends/addon.js';
import type { Outputs, RunPolicy, RunRequest, Trajectory } from '../dist/engine/backends/backend.js';
import { nativeBackend } from '../dist/engine/backends/native.js';
import { NODE } from '../dist/engine/backends/node.js';
import { openSyncBatch } from '../dist/engine/backends/open-batch.js';
import {
  allocateOutputs,
  allocateTrajectory,
  OUTPUT_ARRAYS,
  TRAJECTORY_FIELDS,
} from '../dist/engine/backends/outputs.js';
import { below, threefry } from '../dist/engine/reference/threefry.js';
import { toGraders, toProfiles } from '../dist/engine/validate/profiles.js';
import { throwIfRefused } from '../dist/engine/vec-env/runs.js';
import type { LAYOUTS } from '../dist/engine/vec-env/vec-env-options.js';
import { createVecEnv, createWorld } from '../dist/index.js';
import { NUM_ACTIONS, NUM_STEPS } from '../dist/world/fields.js';
import { FORK_STEP, ROLLOUTS } from './ratios.js';
import type { Playable } from './runner.js';

/** The setting of a case. */
export interface Setting {
  readonly backend: 'native' | 'wasm' | 'reference';
  /** Null without kernels. */
  readonly kernel: string | null;
  readonly threads: number;
  readonly episodes: number;
  readonly layout: (typeof LAYOUTS)[number];
}

export type Elements = Float32Array | Int32Array | Uint8Array | Int8Array;
/** Copies of arrays, by name. */
export type OutputCopies = ReadonlyMap<string, Elements>;

/** The opened episodes of a case, ready to play and to time. `begin` brings all episodes to the start of a play. */
export interface Rig extends Playable {
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

/** The second word of the key of random actions. It differs from all streams of the world. */
const SEQUENCE_STREAM = 1;
/** The number of different action sequences, chosen by hand. Drawing a million would take longer than playing them. */
export const SEQUENCE_ROWS = 4096;

let drawn = new Uint8Array(0);

/** Returns uniformly random actions, u8 [count], the same in every call. Do not change them. */
export function randomActions(count: number): Uint8Array {
  if (drawn.length < count) {
    const draw = { x0: 0, x1: 0 };
    drawn = Uint8Array.from({ length: count }, (_, i) =>
      below(threefry(i, SEQUENCE_STREAM, 0, 0, draw).x0, NUM_ACTIONS),
    );
  }
  return drawn.subarray(0, count);
}

/** Returns uniformly random action sequences, u8 [episodes, 28]. Rows repeat after SEQUENCE_ROWS. */
export function sequenceOf(episodes: number): Uint8Array {
  const cached = randomActions(SEQUENCE_ROWS * NUM_STEPS);
  const sequence = new Uint8Array(episodes * NUM_STEPS);
  for (let offset = 0; offset < sequence.length; offset += cached.length) {
    sequence.set(cached.subarray(0, Math.min(cached.length, sequence.length - offset)), offset);
  }
  return sequence;
}

/** Transposes u8 [episodes, 28] to u8 [28, episodes]. */
export function stepsOf(sequence: Uint8Array): Uint8Array {
  const episodes = sequence.length / NUM_STEPS;
  const steps = new Uint8Array(sequence.length);
  for (let i = 0; i < episodes; i++) {
    for (let t = 0; t < NUM_STEPS; t++) steps[t * episodes + i] = sequence[i * NUM_STEPS + t];
  }
  return steps;
}

/** Returns the rows of u8 [28, episodes], as views. */
export function rowsOf(steps: Uint8Array): Uint8Array[] {
  const episodes = steps.length / NUM_STEPS;
  return Array.from({ length: NUM_STEPS }, (_, t) => steps.subarray(t * episodes, (t + 1) * episodes));
}

/** The reset request of every batch: sampled profiles and the default grader. */
export function resetRequest(episodes: number, seeds = seedsOf(episodes)) {
  const { modes, floats } = toProfiles(WORLD, 'sampled', episodes);
  return { mask: null, seeds, modes, profiles: floats, graders: toGraders(WORLD, 'v2', episodes) };
}

const layoutOf = ({ layout }: Setting) => ({
  columnMajor: layout === 'column-major',
  finalObservations: false,
});

/** Opens a batch of the backend interface as VecEnv does. */
export function openEpisodes(setting: Setting, seeds?: Uint32Array) {
  const { backend, kernel, threads, episodes: numEnvs } = setting;
  const shape = { numEnvs, world: WORLD, imagination: false, threads, layout: layoutOf(setting) };
  const { batch, outputs } = openSyncBatch(NODE, { backend, kernel: kernel ?? undefined }, shape);
  const request = resetRequest(numEnvs, seeds);
  return { batch, outputs, reset: () => batch.reset(request) };
}

/** Copies all outputs, and the trajectory if there is one, by name. */
export function copyOutputs(outputs: Outputs, trajectory: Trajectory | null = null): OutputCopies {
  const names = Object.keys(OUTPUT_ARRAYS) as (keyof typeof OUTPUT_ARRAYS)[];
  const arrays = [
    ...names.map((name): [string, Elements | null] => [name, outputs[name]]),
    ...TRAJECTORY_FIELDS.map((name): [string, Elements | null] => [
      `trajectory.${name}`,
      trajectory === null ? null : trajectory[name],
    ]),
  ];
  return new Map(arrays.flatMap(([name, array]) => (array === null ? [] : [[name, array.slice()]])));
}

/** Returns the request of a run without beliefs, from the current state to the end of the episode. */
export const plainRun = (policy: RunPolicy): RunRequest => {
  return { policy, beliefs: null, stops: null, trajectory: null };
};

/** Returns work that runs whole episodes in one call. `records`: whether the run records a trajectory. */
function runPlay(
  policyFor: (episodes: number) => RunPolicy,
  { records = false, seedsFor = seedsOf } = {},
): OpenRig {
  return (setting) => {
    const { episodes } = setting;
    const { batch, outputs, reset } = openEpisodes(setting, seedsFor(episodes));
    const { columnMajor } = layoutOf(setting);
    const trajectory = records ? allocateTrajectory(episodes, TRAJECTORY_FIELDS, columnMajor) : null;
    const request = { ...plainRun(policyFor(episodes)), trajectory };
    return {
      begin: reset,
      play(onOutputs) {
        throwIfRefused(batch.run(request));
        onOutputs?.();
      },
      outputs: () => copyOutputs(outputs, trajectory),
      close: () => batch.close(),
    };
  };
}

const sequencePolicy = (episodes: number): RunPolicy => ({ kind: 'sequence', actions: sequenceOf(episodes) });

export const RANDOM: RunPolicy = { kind: 'random', policySeeds: null };
export const random = runPlay(() => RANDOM);
export const sequence = runPlay(sequencePolicy);
export const recordedSequence = runPlay(sequencePolicy, { records: true });

/** The inputs of a step that only plays actions. */
export const NO_INPUTS = { beliefs: null, given: null, stepMask: null, resetMask: null, resetSeeds: null };

/** Plays action sequences with one call of the backend interface per step. */
export const steps: OpenRig = (setting) => {
  const { batch, outputs, reset } = openEpisodes(setting);
  const rows = rowsOf(stepsOf(sequenceOf(setting.episodes)));
  const requests = rows.map((actions) => ({ actions, ...NO_INPUTS }));
  return {
    begin: reset,
    play(onOutputs) {
      for (const request of requests) {
        throwIfRefused(batch.submit(request));
        onOutputs?.();
      }
    },
    outputs: () => copyOutputs(outputs),
    close: () => batch.close(),
  };
};

/** Plays action sequences through the public API: `VecEnv.step` with Uint8Array actions and validation. */
export const envSteps: OpenRig = ({ backend, kernel, threads, episodes: numEnvs, layout }) => {
  const env = createVecEnv({ numEnvs, backend, kernel: kernel ?? undefined, threads, layout });
  const seed = seedsOf(numEnvs);
  let result = env.reset({ seed });
  const rows = rowsOf(stepsOf(sequenceOf(numEnvs)));
  return {
    begin() {
      result = env.reset({ seed });
    },
    play(onOutputs) {
      for (const actions of rows) {
        result = env.step(actions);
        onOutputs?.();
      }
    },
    outputs: () => copyOutputs(result),
    close: () => env.close(),
  };
};

/** Plays action sequences in a loop inside the addon: the work of `envSteps` with a single call. */
export const addonSteps: OpenRig = (setting) => {
  const { kernel, threads, episodes } = setting;
  const { Batch: AddonBatch } = loadAddon();
  const outputs = allocateOutputs(episodes, layoutOf(setting), nativeBackend.placeOutputs);
  const batch = new AddonBatch(kernel!, WORLD.words, false, episodes, threads, outputs);
  const actions = stepsOf(sequenceOf(episodes));
  const request = resetRequest(episodes);
  return {
    begin: () => batch.reset(request),
    play(onOutputs) {
      throwIfRefused(batch.stepEach(actions, NUM_STEPS));
      onOutputs?.();
    },
    outputs: () => copyOutputs(outputs),
    close: () => batch.close(),
  };
};

/** Returns the index of the state from which a rollout begins. */
const sourceOf = (rollout: number): number => Math.floor(rollout / ROLLOUTS);

/** Plays rollouts of action sequences from states at FORK_STEP, ROLLOUTS per state. */
export const fork: OpenRig = (setting) => {
  const { episodes } = setting;
  const sources = episodes / ROLLOUTS;
  const source = openEpisodes({ ...setting, episodes: sources });
  source.reset();
  const stops = new Uint8Array(sources).fill(FORK_STEP);
  throwIfRefused(source.batch.run({ ...plainRun(sequencePolicy(sources)), stops }));
  const target = openEpisodes(setting);
  const indices = Uint32Array.from({ length: episodes }, (_, i) => sourceOf(i));
  const request = { ...plainRun(sequencePolicy(episodes)), from: { source: source.batch, indices } };
  return {
    // Each play copies all states again.
    begin() {},
    play(onOutputs) {
      throwIfRefused(target.batch.run(request));
      onOutputs?.();
    },
    outputs: () => copyOutputs(target.outputs),
    close() {
      source.batch.close();
      target.batch.close();
    },
  };
};

/**
 * Computes the expected outputs of `fork` without a fork: from the reset, each episode plays its source's actions, then its
 * own.
 */
export const forkFromReset = runPlay(
  (episodes) => {
    const sources = sequenceOf(episodes / ROLLOUTS);
    const actions = sequenceOf(episodes);
    for (let i = 0; i < episodes; i++) {
      const from = sourceOf(i) * NUM_STEPS;
      actions.set(sources.subarray(from, from + FORK_STEP), i * NUM_STEPS);
    }
    return { kind: 'sequence', actions };
  },
  { seedsFor: (episodes) => seedsOf(episodes).map((_, i) => FIRST_SEED + sourceOf(i)) },
);
