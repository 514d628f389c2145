/** Rows of a dataset for GRPO: the prompt of a state, and the seed and actions that reproduce the state. */

import { type EngineCalls, runAsync, runSync } from '../../../engine/engine-calls.js';
import type { GraderWeights } from '../../../engine/graders/grader.js';
import { ResizableAnyEnv, ResizableEnv } from '../../../rollouts/resizable-env.js';
import { type ChatMessage, prompts } from '../../../rollouts/text/prompt.js';
import type { Columns } from '../../../shared/row-files/row-encoder.js';
import { SCHEMAS, type Schema } from '../../../shared/schemas.js';
import { packageVersion } from '../../../shared/version.js';
import { evalSeedsIn, rangeText } from '../../../world/conditions.js';
import { ACTION_NAMES, NUM_STEPS } from '../../../world/fields.js';
import { createWorld } from '../../../world/world.js';
import {
  type DatasetOptions,
  type DatasetPlan,
  type Engine,
  type StateBatch,
  StateSampler,
  toPlan,
} from '../state-sampler.js';

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

/** The provenance, in the order in which it is written, snake_case. */
export interface Provenance {
  readonly schema: Schema;
  /** The version of the package. */
  readonly version: string;
  readonly world_digest: string;
  readonly rows: number;
  readonly seeds: string;
  readonly profile_modes: readonly string[];
  readonly steps: string;
  /** The seed of the selection of states. */
  readonly seed: number;
  /** The grader that the system message describes. */
  readonly grader: { readonly name: string; readonly weights: GraderWeights };
  /** The option `allowEvalSeeds`. */
  readonly eval_seeds_allowed: boolean;
  /** The evaluation seeds in `seeds`, as ranges. */
  readonly eval_seeds: readonly string[];
}

/** Returns the provenance of a plan. */
export const provenanceOf = (plan: DatasetPlan): Provenance => ({
  schema: SCHEMAS.grpoDataset,
  version: packageVersion(),
  world_digest: createWorld().digest,
  rows: plan.rows,
  seeds: rangeText(plan.seeds),
  profile_modes: plan.profiles,
  steps: rangeText(plan.steps),
  seed: plan.seed,
  grader: { name: plan.grader.name, weights: plan.grader.weights },
  eval_seeds_allowed: plan.allowEvalSeeds,
  eval_seeds: evalSeedsIn(plan.seeds).map(rangeText),
});

/** @internal The columns of a file of rows. */
export const GRPO_COLUMNS: Columns<GrpoState> = {
  prompt: { type: 'messages' },
  seed: { type: 'integer' },
  profile_mode: { type: 'text' },
  step_index: { type: 'integer' },
  action_history: { type: 'list', of: { type: 'text' } },
  policy: { type: 'text' },
};

/** The default batch size, and the number of rows in a row group of Parquet: a few megabytes of text. */
export const BATCH = 2048;

/**
 * @internal Yields the rows of a plan in batches. The same plan gives the same rows on every engine.
 * @param batchSize changes no row. @throws as `createVecEnv`.
 */
export function* grpoRows(plan: DatasetPlan, engine: Engine, batchSize = BATCH): Generator<GrpoState[]> {
  using envs = new ResizableEnv(optionsOf(engine));
  for (const batch of batchesOf(plan, envs, batchSize, { first: 0, end: plan.rows })) yield runSync(batch);
}

/** @internal Does the same as `grpoRows` on any backend. @param part the rows to yield. Default: all. */
export async function* grpoRowsAsync(
  plan: DatasetPlan,
  engine: Engine,
  batchSize = BATCH,
  part: RowPart = { first: 0, end: plan.rows },
): AsyncGenerator<GrpoState[]> {
  await using envs = new ResizableAnyEnv(optionsOf(engine));
  for (const batch of batchesOf(plan, envs, batchSize, part)) yield await runAsync(batch);
}

/** @internal The rows of a plan from index `first` to `end - 1`. */
interface RowPart {
  readonly first: number;
  readonly end: number;
}

const optionsOf = ({ backend, kernel, threads }: Engine) => ({
  backend,
  kernel,
  threads,
  observation: { history: true },
});

/** Yields the computation of each batch. */
function* batchesOf(
  plan: DatasetPlan,
  envs: ResizableEnv | ResizableAnyEnv,
  batchSize: number,
  part: RowPart,
): Generator<EngineCalls<GrpoState[]>> {
  const sampler = new StateSampler(plan, envs);
  for (let { first } = part; first < part.end; first += batchSize) {
    yield batchOf(plan, sampler, first, Math.min(batchSize, part.end - first));
  }
}

function* batchOf(
  plan: DatasetPlan,
  sampler: StateSampler,
  first: number,
  count: number,
): EngineCalls<GrpoState[]> {
  return rowsOf(plan, yield* sampler.sample(first, count));
}

function rowsOf({ grader }: DatasetPlan, { keys, policies, actions, observations }: StateBatch): GrpoState[] {
  const pairs = prompts(observations, undefined, { grader });
  return keys.map(({ seed, profile, stepIndex }, i) => {
    const history = actions.subarray(i * NUM_STEPS, i * NUM_STEPS + stepIndex);
    return {
      prompt: [...pairs[i]],
      seed,
      profile_mode: profile,
      step_index: stepIndex,
      action_history: Array.from(history, (code) => ACTION_NAMES[code]),
      policy: policies[i].name,
    };
  });
}
