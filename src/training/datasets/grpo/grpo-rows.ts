/** Rows of a dataset for GRPO: a prompt and the data for its replay. */
import { z } from 'zod';
import { prompts } from '../../../rollouts/text/prompt.js';
import { ACTION_NAMES, MAX_U32, NUM_STEPS } from '../../../world/fields.js';
import type { Columns } from '../encoder.js';
import { MIX_OF_POLICIES } from '../policy-mix.js';
import { type Engine, type States, Weeks } from '../states.js';
import type { DatasetPlan } from './grpo-options.js';

const message = <Role extends string>(role: Role) =>
  z.strictObject({ role: z.literal(role), content: z.string().min(1) });

/** What a row is, in every format. */
export const GRPO_ROW = z
  .strictObject({
    /** The rules, then the state: what the model is asked with. */
    messages: z.tuple([message('system'), message('user')]),
    seed: z.int().min(0).max(MAX_U32),
    /** 'sampled', 'discrete' or a profile's name. */
    profile_mode: z.string(),
    /** Steps taken before. */
    step_index: z
      .int()
      .min(0)
      .max(NUM_STEPS - 1),
    /** Names, not codes: these say the same to every reader and release. */
    action_history: z.array(z.enum(ACTION_NAMES as [string, ...string[]])),
    /** Who took these steps. */
    policy: z.enum(MIX_OF_POLICIES.map(({ name }) => name) as [string, ...string[]]),
  })
  .refine(({ step_index, action_history }) => action_history.length === step_index, {
    path: ['action_history'],
    error: 'Expected as many actions as step_index says.',
  });

export type GrpoRow = z.infer<typeof GRPO_ROW>;

export const GRPO_COLUMNS: Columns<GrpoRow> = {
  messages: { holds: 'messages' },
  seed: { holds: 'integer' },
  profile_mode: { holds: 'text' },
  step_index: { holds: 'integer' },
  action_history: { holds: 'texts' },
  policy: { holds: 'text' },
};

/** Rows made together: a few megabytes of text. */
const BATCH = 2048;

/**
 * The rows of a plan, in batches. The same plan gives the same rows, however they are computed.
 * @param batchSize changes no row. @throws as `createVecEnv`.
 */
export function* grpoRows(plan: DatasetPlan, engine: Engine, batchSize = BATCH): Generator<GrpoRow[]> {
  using weeks = new Weeks(plan, engine);
  for (let first = 0; first < plan.rows; first += batchSize) {
    yield rowsOf(weeks.reach(first, Math.min(batchSize, plan.rows - first)));
  }
}

function rowsOf({ cells, policies, histories, observations }: States): GrpoRow[] {
  const asked = prompts(observations);
  return cells.map(({ seed, profile, stepIndex }, i) => {
    const taken = histories.subarray(i * NUM_STEPS, i * NUM_STEPS + stepIndex);
    return {
      messages: [...asked[i]],
      seed,
      profile_mode: profile,
      step_index: stepIndex,
      action_history: Array.from(taken, (code) => ACTION_NAMES[code]),
      policy: policies[i].name,
    };
  });
}
