/** POST /v1/prompts: writes prompts for a language model, each after a history of actions. */
import { z } from 'zod';
import type { WrittenColumns } from '../../rollouts/replay/row-objects.js';
import { ResizableEnv } from '../../rollouts/resizable-env.js';
import { prompts } from '../../rollouts/text/prompt.js';
import type { InputError } from '../../shared/errors.js';
import { NUM_STEPS } from '../../world/fields.js';
import type { Route } from '../http/openapi.js';
import { BATCH_FAILURES, type BatchRunner } from './batch-runner.js';
import { readRows } from './json-columns.js';
import { checkRows, GRADER, graderOf, HISTORIES, PROFILE_MODES, SEEDS } from './schemas.js';

export const PROMPTS_REQUEST = z.strictObject({
  seeds: SEEDS,
  action_histories: HISTORIES,
  profile_modes: PROFILE_MODES,
  grader: GRADER,
});
type PromptsRequest = z.output<typeof PROMPTS_REQUEST>;

export const PROMPTS_RESPONSE = z.object({
  rows: z.int(),
  world_digest: z.string(),
  system: z.string().describe('the system message of every row'),
  users: z.array(z.string()).describe('the user message of each row'),
});

/** About the length of a user message with seven past steps, in characters. The estimate of an answer's length uses it. */
const TYPICAL_LENGTH = 900;
/** The maximum number of rows per turn of the event loop, about two milliseconds of work. */
const SLICE = 256;

export const promptsRoute = (runner: BatchRunner): Route => ({
  method: 'post',
  path: '/v1/prompts',
  summary: 'The chat messages for a language model, after the actions of each row.',
  request: PROMPTS_REQUEST,
  response: PROMPTS_RESPONSE,
  failures: BATCH_FAILURES,
  handle: (http) =>
    runner.answer(
      http,
      PROMPTS_REQUEST,
      (request, turn) => writeAnswer(request, runner, turn),
      ({ seeds }) => seeds.length * TYPICAL_LENGTH,
    ),
});

/**
 * Checks all rows, and returns the pieces of the JSON answer, which are computed while they are sent.
 * @throws InputError for the first invalid row.
 */
async function writeAnswer(
  request: PromptsRequest,
  runner: BatchRunner,
  turn: () => Promise<void>,
): Promise<AsyncIterable<string>> {
  const rows = request.seeds.length;
  checkRows(rows, request);
  const grader = graderOf(request.grader);
  const refuse = (_: number, fault: InputError): never => {
    throw fault;
  };
  const columns = await readRows(request, refuse, turn);
  return (async function* () {
    using envs = new ResizableEnv({ ...runner.engine, threads: 1, observation: { history: true } });
    const head = { rows, world_digest: runner.worldDigest };
    if (rows === 0) yield JSON.stringify({ ...head, system: '' }).slice(0, -1);
    for (let from = 0, to = 0; from < rows; from = to) {
      await turn();
      to = Math.min(from + SLICE, rows);
      const messages = prompts(observe(envs, columns, from, to), undefined, { grader });
      // The system message is the same for every row.
      if (from === 0) yield JSON.stringify({ ...head, system: messages[0][0].content }).slice(0, -1);
      yield (from === 0 ? ',"users":[' : ',') +
        messages.map(([, user]) => JSON.stringify(user.content)).join();
    }
    runner.count('prompts', rows);
    yield rows === 0 ? ',"users":[]}' : ']}';
  })();
}

/** Returns the observations after the rows' actions, f32 [n, 106], with the history at the end of each row. */
function observe(envs: ResizableEnv, columns: WrittenColumns, from: number, to: number): Float32Array {
  const { seeds, profiles, histories, stepIndices } = columns;
  const env = envs.of(to - from);
  env.reset({ seed: seeds.subarray(from, to), profiles: profiles.slice(from, to) });
  const stops = stepIndices.subarray(from, to);
  return env.run(histories.subarray(from * NUM_STEPS, to * NUM_STEPS), { stops }).observations;
}
