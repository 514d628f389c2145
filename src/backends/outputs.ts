/** Allocation of what a batch writes: one ArrayBuffer that JavaScript owns, so views outlive the batch. */
import { NUM_COMPONENTS, NUM_METERS, NUM_STEPS, OBSERVATION_SIZE } from '../world/fields.js';
import type { Outputs, Trajectory } from './backend.js';

/** Views start at multiples of a cache line, which wide stores want. */
const LINE = 64;
const align = (bytes: number): number => Math.ceil(bytes / LINE) * LINE;

/** Zeroed outputs for `numEnvs` slots. */
export function allocateOutputs(numEnvs: number): Outputs {
  const floats = [numEnvs * OBSERVATION_SIZE, numEnvs, numEnvs, numEnvs * NUM_COMPONENTS, numEnvs];
  const bytes = floats.reduce((sum, length) => sum + align(length * 4), align(numEnvs));
  const buffer = new ArrayBuffer(bytes);
  let offset = 0;
  const [observations, rewards, finalScores, components, beliefMae] = floats.map((length) => {
    const view = new Float32Array(buffer, offset, length);
    offset += align(length * 4);
    return view;
  });
  const terminated = new Uint8Array(buffer, offset, numEnvs);
  return { observations, rewards, terminated, finalScores, components, beliefMae };
}

/** A trajectory in which no step was taken: -1 for actions and events, 0 elsewhere. */
export function allocateTrajectory(numEnvs: number): Trajectory {
  const steps = numEnvs * NUM_STEPS;
  return {
    actions: new Int8Array(steps).fill(-1),
    events: new Int8Array(steps).fill(-1),
    rewards: new Float32Array(steps),
    meters: new Float32Array(steps * NUM_METERS),
    deltas: new Float32Array(steps * NUM_METERS),
    anomalies: new Float32Array(steps * NUM_METERS),
  };
}
