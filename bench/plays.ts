/** The ways of playing that are compared: whole runs, single steps, forks. */
import { loadAddon } from '../dist/backends/addon.js';
import type { RunPolicy, RunRequest } from '../dist/backends/backend.js';
import { nativeBackend } from '../dist/backends/native.js';
import { allocateOutputs, allocateTrajectory } from '../dist/backends/outputs.js';
import { createVecEnv } from '../dist/index.js';
import { heed } from '../dist/vec-env/requests.js';
import { NUM_STEPS } from '../dist/world/fields.js';
import { FORK_STEP, ROLLOUTS } from './names.js';
import { leftIn, openEpisodes, type Play, resetRequest, seedsOf, WORLD } from './rig.js';
import { rowsOf, stepsOf, tapeOf } from './tapes.js';

/** A run without beliefs, from where each slot is to its end. */
const plainRun = (policy: RunPolicy): RunRequest => ({
  policy,
  beliefs: null,
  stops: null,
  trajectory: null,
});

function runPlay(policyFor: (episodes: number) => RunPolicy, records = false): Play {
  return (setting) => {
    const { batch, outputs, reset } = openEpisodes(setting);
    const trajectory = records ? allocateTrajectory(setting.episodes) : null;
    const request = { ...plainRun(policyFor(setting.episodes)), trajectory };
    return {
      begin: reset,
      play(seen) {
        heed(batch.run(request));
        seen?.();
      },
      left: () => leftIn(outputs, trajectory),
      close: () => batch.close(),
    };
  };
}

const taped = (episodes: number): RunPolicy => ({ kind: 'tape', actions: tapeOf(episodes) });

export const random = runPlay(() => ({ kind: 'random', policySeeds: null }));
export const heuristic = runPlay(() => ({ kind: 'heuristic' }));
export const tape = runPlay(taped);
export const recordedTape = runPlay(taped, true);

/** The tape, one call of the seam a step. */
export const steps: Play = (setting) => {
  const { batch, outputs, reset } = openEpisodes(setting);
  const idle = { beliefs: null, given: null, stepMask: null, resetMask: null, resetSeeds: null };
  const requests = rowsOf(stepsOf(tapeOf(setting.episodes))).map((actions) => ({ actions, ...idle }));
  return {
    begin: reset,
    play(seen) {
      for (const request of requests) {
        heed(batch.submit(request));
        seen?.();
      }
    },
    left: () => leftIn(outputs),
    close: () => batch.close(),
  };
};

/** The same as anybody calls it: `VecEnv.step` with Uint8Array actions, all validation on. */
export const envSteps: Play = ({ backend, kernel, threads, episodes: numEnvs, layout }) => {
  const env = createVecEnv({ numEnvs, backend, kernel: kernel ?? undefined, threads, layout });
  const seed = seedsOf(numEnvs);
  let shown = env.reset({ seed });
  const rows = rowsOf(stepsOf(tapeOf(numEnvs)));
  return {
    begin() {
      shown = env.reset({ seed });
    },
    play(seen) {
      for (const actions of rows) {
        shown = env.step(actions);
        seen?.();
      }
    },
    left: () => leftIn(shown),
    close: () => env.close(),
  };
};

/** The same looped inside the addon: what `envSteps` would cost if calls cost nothing. */
export const addonSteps: Play = ({ kernel, threads, episodes, layout }) => {
  const { Batch: AddonBatch } = loadAddon();
  const columnMajor = layout === 'column-major';
  const outputs = allocateOutputs(episodes, { columnMajor, finalObservations: false }, nativeBackend.lead);
  const batch = new AddonBatch(kernel!, WORLD.words, false, episodes, threads, outputs);
  const actions = stepsOf(tapeOf(episodes));
  const { mask, seeds, modes, profiles, graders } = resetRequest(seedsOf(episodes));
  return {
    begin: () => batch.reset(mask, seeds, modes, profiles, graders),
    play(seen) {
      heed(batch.stepEach(actions, NUM_STEPS));
      seen?.();
    },
    left: () => leftIn(outputs),
    close: () => batch.close(),
  };
};

/** The state from which a rollout begins. */
const sourceOf = (rollout: number): number => Math.floor(rollout / ROLLOUTS);

/** Rollouts of a tape from states at FORK_STEP, ROLLOUTS of each. */
export const fork: Play = (setting) => {
  const sources = setting.episodes / ROLLOUTS;
  const source = openEpisodes({ ...setting, episodes: sources });
  source.reset();
  heed(source.batch.run({ ...plainRun(taped(sources)), stops: new Uint8Array(sources).fill(FORK_STEP) }));
  const target = openEpisodes(setting);
  const indices = Uint32Array.from({ length: setting.episodes }, (_, i) => sourceOf(i));
  const request = { ...plainRun(taped(setting.episodes)), from: { source: source.batch, indices } };
  return {
    // Each play takes all states anew.
    begin() {},
    play(seen) {
      heed(target.batch.run(request));
      seen?.();
    },
    left: () => leftIn(target.outputs),
    close() {
      source.batch.close();
      target.batch.close();
    },
  };
};

/** What forked rollouts must come to, without a fork: each lives its source's week, then its own. */
export const forkUnforked: Play = (setting) => {
  const { episodes } = setting;
  const sourceSeeds = seedsOf(episodes / ROLLOUTS);
  const sourceTape = tapeOf(episodes / ROLLOUTS);
  const actions = tapeOf(episodes);
  for (let i = 0; i < episodes; i++) {
    const from = sourceOf(i) * NUM_STEPS;
    actions.set(sourceTape.subarray(from, from + FORK_STEP), i * NUM_STEPS);
  }
  const seeds = Uint32Array.from({ length: episodes }, (_, i) => sourceSeeds[sourceOf(i)]);
  const { batch, outputs, reset } = openEpisodes(setting, seeds);
  return {
    begin: reset,
    play(seen) {
      heed(batch.run(plainRun({ kind: 'tape', actions })));
      seen?.();
    },
    left: () => leftIn(outputs),
    close: () => batch.close(),
  };
};
