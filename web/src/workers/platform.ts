/**
 * The backends of the page's workers: WebAssembly, else the reference; and how policies play in their environments. vite.config.ts
 * replaces src/engine/backends/node.ts, which planners, searches and the training of students reach, with this file. A worker
 * awaits `loadWasm` (./wasm.ts) first.
 */

import { setArrays } from '../../../src/engine/arrays.js';
import type { Outputs } from '../../../src/engine/backends/backend.js';
import type { Platform } from '../../../src/engine/backends/open-batch.js';
import { referenceBackend } from '../../../src/engine/backends/reference.js';
import { openWasmArrays } from '../../../src/engine/backends/wasm/wasm-arrays.js';
import { wasmBackend } from '../../../src/engine/backends/wasm/wasm-backend.js';
import type { PolicyPlayer } from '../../../src/engine/policy/policy.js';
import { replayHistory } from '../../../src/engine/reference/saved-states.js';
import type { Env } from '../../../src/engine/vec-env/async-vec-env.js';
import { openVecEnv, type VecEnv } from '../../../src/engine/vec-env/vec-env.js';
import type { VecEnvOptions } from '../../../src/engine/vec-env/vec-env-options.js';
import { NUM_STEPS } from '../../../src/world/fields.js';

setArrays(openWasmArrays);

const backends = [wasmBackend, referenceBackend];
export const NODE: Platform = { backends, asyncBackends: backends, replayHistory };

/** Creates an environment like the package's `createVecEnv`. */
export const createVecEnv = (options: VecEnvOptions): VecEnv => openVecEnv(NODE, options);

/** Refuses to give a policy the hidden profiles, which no player of the page gets. */
export function refuseProfiles(): never {
  throw new Error(
    'Expected a policy that does not use the hidden profile, got an oracle. Choose another policy.',
  );
}

/** Returns `count` seeds from `first` on. */
export const seedsFrom = (first: number, count: number): Uint32Array =>
  Uint32Array.from({ length: count }, (_, i) => first + i);

/**
 * Plays a whole episode in each environment.
 * @param onStep is called with the actions and the outputs of each step. @returns the outputs of the last step.
 */
export async function playSteps(
  env: Env,
  player: PolicyPlayer,
  episodes: { readonly seed: Uint32Array; readonly profiles?: string },
  onStep: (actions: ArrayLike<number>, outputs: Outputs, step: number) => void | Promise<void> = () => {},
): Promise<Outputs> {
  const playing = new Uint8Array(env.numEnvs).fill(1);
  await player.reset?.({ mask: playing, seeds: episodes.seed, profiles: refuseProfiles });
  let outputs: Outputs | null = null;
  let { observations } = await env.reset(episodes);
  for (let step = 0; step < NUM_STEPS; step++) {
    const steps = new Uint8Array(env.numEnvs).fill(step);
    const { actions, beliefs } = await player.act({ observations, playing, steps });
    outputs = await env.step(actions, { beliefs: beliefs ? Float32Array.from(beliefs) : undefined });
    ({ observations } = outputs);
    await onStep(actions as ArrayLike<number>, outputs, step);
  }
  return outputs!;
}
