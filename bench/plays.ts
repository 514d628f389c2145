/** The work that the cases time, as an `OpenRig` (rig.ts) each: runs of whole episodes, single steps, forks. */
import { loadAddon } from '../dist/engine/backends/addon.js';
import type { RunPolicy, RunRequest } from '../dist/engine/backends/backend.js';
import { nativeBackend } from '../dist/engine/backends/native.js';
import { allocateOutputs, allocateTrajectory, TRAJECTORY_FIELDS } from '../dist/engine/backends/outputs.js';
import { throwIfRefused } from '../dist/engine/vec-env/run-requests.js';
import { createVecEnv } from '../dist/index.js';
import { NUM_STEPS } from '../dist/world/fields.js';
import { rowsOf, sequenceOf, stepsOf } from './action-sequences.js';
import { FORK_STEP, ROLLOUTS } from './names.js';
import { copyOutputs, type OpenRig, openEpisodes, resetRequest, seedsOf, WORLD } from './rig.js';

/** Returns the request of a run without beliefs, from the current state to the end of the episode. */
const plainRun = (policy: RunPolicy): RunRequest => ({
  policy,
  beliefs: null,
  stops: null,
  trajectory: null,
});

/** Returns work that runs whole episodes in one call. `records`: whether the run records a trajectory. */
function runPlay(policyFor: (episodes: number) => RunPolicy, { records = false } = {}): OpenRig {
  return (setting) => {
    const { batch, outputs, reset } = openEpisodes(setting);
    const columnMajor = setting.layout === 'column-major';
    const trajectory = records ? allocateTrajectory(setting.episodes, TRAJECTORY_FIELDS, columnMajor) : null;
    const request = { ...plainRun(policyFor(setting.episodes)), trajectory };
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

export const random = runPlay(() => ({ kind: 'random', policySeeds: null }));
export const heuristic = runPlay(() => ({ kind: 'heuristic' }));
export const sequence = runPlay(sequencePolicy);
export const recordedSequence = runPlay(sequencePolicy, { records: true });

/** Plays action sequences with one call of the backend interface per step. */
export const steps: OpenRig = (setting) => {
  const { batch, outputs, reset } = openEpisodes(setting);
  const unused = { beliefs: null, given: null, stepMask: null, resetMask: null, resetSeeds: null };
  const requests = rowsOf(stepsOf(sequenceOf(setting.episodes))).map((actions) => ({ actions, ...unused }));
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
export const addonSteps: OpenRig = ({ kernel, threads, episodes, layout }) => {
  const { Batch: AddonBatch } = loadAddon();
  const columnMajor = layout === 'column-major';
  const outputs = allocateOutputs(
    episodes,
    { columnMajor, finalObservations: false },
    nativeBackend.bytesToCacheLine,
  );
  const batch = new AddonBatch(kernel!, WORLD.words, false, episodes, threads, outputs);
  const actions = stepsOf(sequenceOf(episodes));
  const request = resetRequest(seedsOf(episodes));
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
  const sources = setting.episodes / ROLLOUTS;
  const source = openEpisodes({ ...setting, episodes: sources });
  source.reset();
  throwIfRefused(
    source.batch.run({
      ...plainRun(sequencePolicy(sources)),
      stops: new Uint8Array(sources).fill(FORK_STEP),
    }),
  );
  const target = openEpisodes(setting);
  const indices = Uint32Array.from({ length: setting.episodes }, (_, i) => sourceOf(i));
  const request = { ...plainRun(sequencePolicy(setting.episodes)), from: { source: source.batch, indices } };
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
export const forkFromReset: OpenRig = (setting) => {
  const { episodes } = setting;
  const sourceSeeds = seedsOf(episodes / ROLLOUTS);
  const sourceSequence = sequenceOf(episodes / ROLLOUTS);
  const actions = sequenceOf(episodes);
  for (let i = 0; i < episodes; i++) {
    const from = sourceOf(i) * NUM_STEPS;
    actions.set(sourceSequence.subarray(from, from + FORK_STEP), i * NUM_STEPS);
  }
  const seeds = Uint32Array.from({ length: episodes }, (_, i) => sourceSeeds[sourceOf(i)]);
  const { batch, outputs, reset } = openEpisodes(setting, seeds);
  return {
    begin: reset,
    play(onOutputs) {
      throwIfRefused(batch.run(plainRun({ kind: 'sequence', actions })));
      onOutputs?.();
    },
    outputs: () => copyOutputs(outputs),
    close: () => batch.close(),
  };
};
