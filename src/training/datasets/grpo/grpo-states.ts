/** The programming interface for the rows of a dataset for GRPO. */
import type { ChatMessage } from '../../../rollouts/text/prompt.js';
import type { Engine } from '../state-sampler.js';
import { type DatasetOptions, toPlan } from './grpo-options.js';
import { grpoRows, grpoRowsAsync } from './grpo-rows.js';

/** A state to train on: its prompt, and what reproduces it. Its fields are the columns of `dataset grpo`. */
export interface GrpoState {
  readonly prompt: readonly ChatMessage[];
  readonly seed: number;
  /** 'sampled', 'discrete' or a profile's name. */
  readonly profile_mode: string;
  /** The number of steps before the state. */
  readonly step_index: number;
  /** Names of the actions before the state. */
  readonly action_history: readonly string[];
  /** The policy that chose these actions. */
  readonly policy: string;
}

/**
 * Yields the rows of `rhythm-vec dataset grpo` in batches of up to 2,048.
 * @param engine the backend, kernel and threads that compute the rows. They change no row.
 * @throws InputError `out_of_range`, `wrong_type`, `wrong_length`, `unknown_name`, or `bad_seed` for evaluation seeds;
 *   the errors of `createVecEnv`.
 */
export function grpoStates(options: DatasetOptions, engine: Engine = {}): Generator<GrpoState[]> {
  return grpoRows(toPlan(options), engine);
}

/** Does the same as `grpoStates` on any backend, such as webgpu. */
export function grpoStatesAsync(options: DatasetOptions, engine: Engine = {}): AsyncGenerator<GrpoState[]> {
  return grpoRowsAsync(toPlan(options), engine);
}
