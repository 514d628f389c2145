/** What a case plays on: an open batch, its seeds, and tapes of actions. */
import type { Batch, Outputs, Trajectory } from '../dist/backends/backend.js';
import { chooseBackend } from '../dist/backends/choose.js';
import { allocateOutputs, allocateTrajectory } from '../dist/backends/outputs.js';
import { below, threefry } from '../dist/reference/threefry.js';
import { MODE, NUM_ACTIONS, NUM_STEPS } from '../dist/world/fields.js';
import { resolveGrader } from '../dist/world/resolve.js';
import { createWorld } from '../dist/world/world.js';

const FIRST_SEED = 100;
/** A key of its own, so that tapes are no stream of the world. */
const TAPE_STREAM = 1;

export interface Rig {
  readonly batch: Batch;
  readonly outputs: Outputs;
  /** u8 [episodes, 28]. */
  readonly tape: Uint8Array;
  /** The same by step: 28 of u8 [episodes]. */
  readonly columns: readonly Uint8Array[];
  readonly trajectory: Trajectory;
  /** Begins all episodes anew. Not timed. */
  readonly reset: () => void;
}

/** u8 [episodes, 28] of uniform actions. */
export function tapeOf(episodes: number): Uint8Array {
  const draw = { x0: 0, x1: 0 };
  return Uint8Array.from({ length: episodes * NUM_STEPS }, (_, i) =>
    below(threefry(i, TAPE_STREAM, 0, 0, draw).x0, NUM_ACTIONS),
  );
}

export function openRig(options: {
  backend: string;
  kernel: string | null;
  threads: number;
  episodes: number;
}): Rig {
  const { episodes: numEnvs, kernel, threads } = options;
  const world = createWorld();
  const outputs = allocateOutputs(numEnvs);
  const { backend } = chooseBackend(options.backend, kernel);
  const batch = backend.open({ numEnvs, world, imagination: false, threads, kernel, outputs });
  const tape = tapeOf(numEnvs);
  const columns = Array.from({ length: NUM_STEPS }, (_, t) =>
    Uint8Array.from({ length: numEnvs }, (_, i) => tape[i * NUM_STEPS + t]),
  );
  const seeds = Uint32Array.from({ length: numEnvs }, (_, i) => FIRST_SEED + i);
  const modes = new Uint8Array(numEnvs).fill(MODE.sampled);
  const weights = Array.from(resolveGrader(world, 'v2'));
  const graders = Float32Array.from(
    { length: numEnvs * weights.length },
    (_, i) => weights[i % weights.length],
  );
  const reset = () => batch.reset({ mask: null, seeds, modes, profiles: null, graders });
  return { batch, outputs, tape, columns, trajectory: allocateTrajectory(numEnvs), reset };
}
