/** POST /v1/prompts: writes prompts for a language model, each after a history of actions. */
import { z } from 'zod';
import type { WrittenColumns } from '../../rollouts/replay/row-objects.js';
import { ResizableEnv } from '../../rollouts/resizable-env.js';
import { prompts } from '../../rollouts/text/prompt.js';
import { systemText } from '../../rollouts/text/prompt-text.js';
import type { InputError } from '../../shared/errors.js';
import { NUM_STEPS } from '../../world/fields.js';
import type { BatchContext, BatchRoute } from './batch-runner.js';
import { readRows } from './json-columns.js';
import { checkRows, GRADER, graderOf, HISTORIES, PROFILE_MODES, SEEDS } from './schemas.js';

const REQUEST = z.strictObject({
  seeds: SEEDS,
  action_histories: HISTORIES,
  profile_modes: PROFILE_MODES,
  grader: GRADER,
});

/** About the length of a user message with seven past steps, in characters. The estimate of an answer's length uses it. */
const TYPICAL_LENGTH = 900;
/** The maximum number of rows per turn of the event loop, about two milliseconds of work. */
const SLICE = 256;

export const PROMPTS: BatchRoute<typeof REQUEST> = {
  path: '/v1/prompts',
  summary: 'The chat messages for a language model, after the actions of each row.',
  request: REQUEST,
  response: z.object({
    rows: z.int(),
    world_digest: z.string(),
    system: z.string().describe('the system message of every row'),
    users: z.array(z.string()).describe('the user message of each row'),
  }),
  lengthOf: ({ seeds }) => seeds.length * TYPICAL_LENGTH,
  answer: async (request, context) => {
    const rows = request.seeds.length;
    checkRows(rows, request);
    const grader = graderOf(request.grader);
    const refuse = (_: number, fault: InputError): never => {
      throw fault;
    };
    const columns = await readRows(request, refuse, context.turn);
    const system = rows === 0 ? '' : systemText(grader);
    return { rows, world_digest: context.worldDigest, system, users: usersText(columns, grader, context) };
  },
};

/** Yields the text of a list of user messages, which are computed while they are sent. */
async function* usersText(
  columns: WrittenColumns,
  grader: Float32Array,
  { engine, count, turn }: BatchContext,
): AsyncGenerator<string> {
  using envs = new ResizableEnv({ ...engine, threads: 1, observation: { history: true } });
  const rows = columns.seeds.length;
  for (let from = 0; from < rows; from += SLICE) {
    await turn();
    const observations = observe(envs, columns, from, Math.min(from + SLICE, rows));
    const users = prompts(observations, undefined, { grader }).map(([, user]) =>
      JSON.stringify(user.content),
    );
    yield (from === 0 ? '[' : ',') + users.join();
  }
  count('prompts', rows);
  yield rows === 0 ? '[]' : ']';
}

/** Returns the observations after the rows' actions, f32 [n, 106], with the history at the end of each row. */
function observe(envs: ResizableEnv, columns: WrittenColumns, from: number, to: number): Float32Array {
  const { seeds, profiles, histories, stepIndices } = columns;
  const env = envs.of(to - from);
  env.reset({ seed: seeds.subarray(from, to), profiles: profiles.slice(from, to) });
  const stops = stepIndices.subarray(from, to);
  return env.run(histories.subarray(from * NUM_STEPS, to * NUM_STEPS), { stops }).observations;
}
