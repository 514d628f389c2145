/** OpenEnv over HTTP. Reset and step are stateless there: each request has an environment of its own. */
import { z } from 'zod';
import type { VecEnvOptions } from '../../vec-env/options.js';
import { createVecEnv } from '../../vec-env.js';
import { packageVersion } from '../../version.js';
import { ACTION_SCHEMA, toAction } from '../protocol/action.js';
import { type Begin, MAX_ID, RESET_SCHEMA, toBegin } from '../protocol/begin.js';
import { jsonSchema } from '../protocol/json-schema.js';
import { answerMcp, MCP_SCHEMA, mcpParseError } from '../protocol/mcp.js';
import { OBSERVATION_SCHEMA, RESULT_SCHEMA, resultText } from '../protocol/observation.js';
import { inBody, RefusedError, refusalsOf, toldAs } from '../protocol/refusals.js';
import { STATE_SCHEMA, stateOf } from '../protocol/state.js';
import { bodyOf, objectOf } from './request.js';
import { json, jsonText, type Route } from './routes.js';

/** What `/step` takes. Clients send time-outs and names of requests, which mean nothing here. */
const STEP_SCHEMA = z.looseObject({
  action: ACTION_SCHEMA,
  timeout_s: z.number().nullish(),
  request_id: z.string().max(MAX_ID).nullish(),
});
/** Of the request, before its action is looked at. */
const STEP_SHELL = STEP_SCHEMA.extend({ action: z.record(z.string(), z.unknown()) });

const TOO_LARGE = { 413: 'The body is larger than a frame of a session may be' };

const METADATA_SCHEMA = z.object({
  name: z.string(),
  description: z.string(),
  readme_content: z.null(),
  version: z.string(),
  author: z.null(),
  documentation_url: z.null(),
});

const METADATA: z.input<typeof METADATA_SCHEMA> = {
  name: 'rhythm-vec',
  description:
    'The Rhythm life simulator: guide one person, who is not known, through a week of 28 steps, and say who it is.',
  readme_content: null,
  version: packageVersion(),
  author: null,
  documentation_url: null,
};

/** The observation's schema, with what OpenEnv's clients find in an observation once they have read it. */
const CLIENT_OBSERVATION = OBSERVATION_SCHEMA.extend({
  done: RESULT_SCHEMA.shape.done,
  reward: RESULT_SCHEMA.shape.reward,
  metadata: z.record(z.string(), z.unknown()).optional(),
});

/** An environment for what is asked without a session. @throws as `createVecEnv`. */
class Stateless {
  readonly #env;

  constructor({ backend, kernel }: Pick<VecEnvOptions, 'backend' | 'kernel'>) {
    this.#env = createVecEnv({ backend, kernel, numEnvs: 1, threads: 1 });
  }

  reset({ seed, profile, grader }: Begin): string {
    return resultText(this.#env.reset({ seed, profiles: profile, graders: grader }), 0, true);
  }

  step(action: ReturnType<typeof toAction>): string {
    this.#env.reset();
    const beliefs = action.belief ?? undefined;
    return resultText(this.#env.step([action.code], { beliefs }), 0, false);
  }

  close(): void {
    this.#env.close();
  }
}

export interface OpenEnvRoutes {
  readonly routes: readonly Route[];
  close(): void;
}

/** All but openapi.json. @throws as `createVecEnv`. */
export function openEnvRoutes(engine: Pick<VecEnvOptions, 'backend' | 'kernel'>): OpenEnvRoutes {
  const env = new Stateless(engine);
  return { routes: [...DESCRIPTIONS, ...playing(env), MCP], close: () => env.close() };
}

const DESCRIPTIONS: readonly Route[] = [
  {
    method: 'get',
    path: '/health',
    summary: 'Whether the server is there. Asks for no token.',
    response: z.object({ status: z.literal('healthy') }),
    handle: () => json({ status: 'healthy' }),
  },
  {
    method: 'get',
    path: '/metadata',
    summary: 'What the environment is.',
    response: METADATA_SCHEMA,
    handle: () => json(METADATA),
  },
  {
    method: 'get',
    path: '/schema',
    summary: 'What actions, observations and states consist of.',
    response: z.record(z.string(), z.unknown()),
    handle: () =>
      json({
        action: jsonSchema(ACTION_SCHEMA),
        observation: jsonSchema(CLIENT_OBSERVATION),
        state: jsonSchema(STATE_SCHEMA),
      }),
  },
  {
    method: 'get',
    path: '/state',
    summary: 'The state of an environment that was not reset. Sessions have theirs over /ws.',
    response: STATE_SCHEMA,
    handle: () => json(stateOf(null, 0)),
  },
];

const playing = (env: Stateless): readonly Route[] => [
  {
    method: 'post',
    path: '/reset',
    summary: 'The first observation of an episode. Nothing is kept of it: sessions are over /ws.',
    request: RESET_SCHEMA.optional(),
    message: true,
    failures: TOO_LARGE,
    response: RESULT_SCHEMA,
    handle: async (request) => {
      const body = bodyOf(await request.text()) ?? {};
      return jsonText(env.reset(toldAs(inBody, () => toBegin(body))));
    },
  },
  {
    method: 'post',
    path: '/step',
    summary:
      'The first step of an episode whose seed is drawn. Nothing is kept of it: sessions are over /ws.',
    request: STEP_SCHEMA,
    message: true,
    failures: TOO_LARGE,
    response: RESULT_SCHEMA,
    handle: async (request) => {
      const body = objectOf(await request.text());
      const shell = STEP_SHELL.safeParse(body);
      if (!shell.success) throw new RefusedError(inBody(refusalsOf(shell.error, body)));
      return jsonText(env.step(toAction(shell.data.action)));
    },
  },
];

const MCP: Route = {
  method: 'post',
  path: '/mcp',
  summary: 'JSON-RPC 2.0. There are no tools: what is answered is an error, with status 200.',
  request: z.record(z.string(), z.unknown()),
  message: true,
  failures: TOO_LARGE,
  response: MCP_SCHEMA,
  handle: async (request) => {
    const text = await request.text();
    try {
      return json(answerMcp(bodyOf(text)));
    } catch (error) {
      if (error instanceof RefusedError) return json(mcpParseError(error.message));
      throw error;
    }
  },
};
