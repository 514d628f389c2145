/** Rows of a dataset for GRPO: the prompt of a state, and the seed and actions that reproduce the state. */
import { z } from 'zod';
import { type EngineCalls, runAsync, runSync } from '../../../engine/engine-calls.js';
import { ResizableAnyEnv, ResizableEnv } from '../../../rollouts/resizable-env.js';
import { prompts } from '../../../rollouts/text/prompt.js';
import type { Columns } from '../../../shared/row-files/row-encoder.js';
import { ACTION_NAMES, MAX_U32, NUM_STEPS } from '../../../world/fields.js';
import { MIX_OF_POLICIES } from '../policy-mix.js';
import { type Engine, type StateBatch, StateSampler } from '../state-sampler.js';
import type { DatasetPlan } from './grpo-options.js';

const message = <Role extends string>(role: Role) =>
  z.strictObject({ role: z.literal(role), content: z.string().min(1) });

/** The schema of a row, in every format. */
export const GRPO_ROW = z
  .strictObject({
    /** The rules, then the observation. TRL reads this column. */
    prompt: z.tuple([message('system'), message('user')]),
    seed: z.int().min(0).max(MAX_U32),
    /** 'sampled', 'discrete' or a profile's name. */
    profile_mode: z.string(),
    /** The number of steps before the state. */
    step_index: z
      .int()
      .min(0)
      .max(NUM_STEPS - 1),
    /** Names of actions. Codes could differ between releases. */
    action_history: z.array(z.enum(ACTION_NAMES as [string, ...string[]])),
    /** The policy that chose these actions. */
    policy: z.enum(MIX_OF_POLICIES.map(({ name }) => name) as [string, ...string[]]),
  })
  .refine(({ step_index, action_history }) => action_history.length === step_index, {
    path: ['action_history'],
    error: 'Expected as many actions as step_index.',
  });

export type GrpoRow = z.infer<typeof GRPO_ROW>;

export const GRPO_COLUMNS: Columns<GrpoRow> = {
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
 * Yields the rows of a plan in batches. The same plan gives the same rows on every engine.
 * @param batchSize changes no row. @throws as `createVecEnv`.
 */
export function* grpoRows(plan: DatasetPlan, engine: Engine, batchSize = BATCH): Generator<GrpoRow[]> {
  using envs = new ResizableEnv(optionsOf(engine));
  for (const batch of batchesOf(plan, envs, batchSize, { first: 0, end: plan.rows })) yield runSync(batch);
}

/** Does the same as `grpoRows` on any backend. @param part the rows to yield. Default: all. */
export async function* grpoRowsAsync(
  plan: DatasetPlan,
  engine: Engine,
  batchSize = BATCH,
  part: RowPart = { first: 0, end: plan.rows },
): AsyncGenerator<GrpoRow[]> {
  await using envs = new ResizableAnyEnv(optionsOf(engine));
  for (const batch of batchesOf(plan, envs, batchSize, part)) yield await runAsync(batch);
}

/** The rows of a plan from index `first` to `end - 1`. */
export interface RowPart {
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
): Generator<EngineCalls<GrpoRow[]>> {
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
): EngineCalls<GrpoRow[]> {
  return rowsOf(plan, yield* sampler.sample(first, count));
}

function rowsOf({ grader }: DatasetPlan, { keys, policies, actions, observations }: StateBatch): GrpoRow[] {
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
