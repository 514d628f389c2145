/** POST /v1/prompts: what a language model is asked after some actions of some weeks. */
import { z } from 'zod';
import { InputError } from '../../errors.js';
import { EnvOfSize } from '../../evaluate/env-of-size.js';
import { toColumns } from '../../rollout/replay/objects.js';
import { prompts } from '../../text/prompt.js';
import type { Route } from '../http/routes.js';
import { BATCH_FAILURES, type Batches } from './batches.js';
import { namingColumns, rowsOf } from './rows.js';
import { checkRows, HISTORIES, PROFILE_MODES, refusing, SEEDS } from './schemas.js';

export const PROMPTS_REQUEST = z.strictObject({
  seeds: SEEDS,
  action_histories: HISTORIES,
  profile_modes: PROFILE_MODES,
});
type PromptsRequest = z.output<typeof PROMPTS_REQUEST>;

export const PROMPTS_RESPONSE = z.object({
  rows: z.int(),
  world_digest: z.string(),
  system: z.string().describe('the system message of every row'),
  users: z.array(z.string()).describe('the user message of each'),
});

/** Rows of a request: all of their text is one answer. */
const MOST_PROMPTS = 2 ** 17;
/** Of a user message, in characters. */
const USUAL_LENGTH = 900;
/** Rows between two turns: some two milliseconds' of them. */
const SLICE = 256;

export const promptsRoute = (batches: Batches): Route => ({
  method: 'post',
  path: '/v1/prompts',
  summary: 'The chat messages that a language model is asked with, after the actions of each row.',
  request: PROMPTS_REQUEST,
  response: PROMPTS_RESPONSE,
  failures: BATCH_FAILURES,
  handle: (http) =>
    batches.answer(
      http,
      PROMPTS_REQUEST,
      (request, turn) => {
        checkRequest(request);
        return write(request, batches, turn);
      },
      ({ seeds }) => seeds.length * USUAL_LENGTH,
    ),
});

function checkRequest(request: PromptsRequest): void {
  const rows = request.seeds.length;
  if (rows > MOST_PROMPTS) {
    throw refusing('seeds', `Expected at most ${MOST_PROMPTS} rows, got ${rows}. Send fewer at a time.`);
  }
  checkRows(rows, request);
}

async function write(request: PromptsRequest, batches: Batches, turn: () => Promise<void>): Promise<string> {
  const rows = request.seeds.length;
  using envs = new EnvOfSize({ ...batches.engine, threads: 1, observation: { history: true } });
  const users: string[] = [];
  // Rows or not, the rules are the same.
  let system = '';
  for (let from = 0; from < Math.max(rows, 1); from += SLICE) {
    await turn();
    const seen = see(envs, request, from, Math.min(from + SLICE, rows));
    for (const [rules, user] of prompts(seen)) {
      system = rules.content;
      users.push(JSON.stringify(user.content));
    }
  }
  batches.count('prompts', rows);
  const head = JSON.stringify({ rows, world_digest: batches.worldDigest, system });
  return `${head.slice(0, -1)},"users":[${users.join()}]}`;
}

/** f32 [n, 106]. @throws InputError for the first row with a fault. */
function see(envs: EnvOfSize, request: PromptsRequest, from: number, to: number): Float32Array {
  if (to <= from) return new Float32Array(0);
  const rows = rowsOf(request, from, to, () => ({ action: null }));
  const blame = (_: number, { code, message }: InputError): never => {
    throw new InputError(code, namingColumns(message, from));
  };
  const { seeds, profiles, histories, stepIndices } = toColumns(rows, blame);
  const env = envs.of(rows.length);
  env.reset({ seed: seeds, profiles });
  return env.run(histories, { stops: stepIndices }).observations;
}
