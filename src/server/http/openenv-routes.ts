/** The routes of OpenEnv over HTTP. Reset and step are stateless: each request begins a new episode. */
import { z } from 'zod';
import { createVecEnv } from '../../engine/node.js';
import type { VecEnvOptions } from '../../engine/vec-env/vec-env-options.js';
import { packageVersion } from '../../shared/version.js';
import { InvalidRequestError, inBody, mapErrors, validationErrorsOf } from '../protocol/errors.js';
import {
  ACTION_SCHEMA,
  answerMcp,
  type EpisodeRequest,
  MAX_ID,
  MCP_SCHEMA,
  mcpParseError,
  RESET_SCHEMA,
  STATE_SCHEMA,
  stateOf,
  toAction,
  toEpisodeRequest,
} from '../protocol/messages.js';
import { OBSERVATION_SCHEMA, RESULT_SCHEMA, resetText, stepText } from '../protocol/observation.js';
import { json, jsonText } from './json-response.js';
import { jsonSchema, type Route } from './openapi.js';
import { bodyOf, objectOf } from './request.js';

/** The body of `/step`. Clients send time-outs and request ids, which have no effect. */
const STEP_SCHEMA = z.looseObject({
  action: ACTION_SCHEMA,
  timeout_s: z.number().nullish(),
  request_id: z.string().max(MAX_ID).nullish(),
});
/** The body of `/step`, with an unchecked action. */
const STEP_ENVELOPE = STEP_SCHEMA.extend({ action: z.record(z.string(), z.unknown()) });

const BODY_FAILURES = {
  413: 'The body is larger than the frame limit of sessions',
  415: 'The body has a Content-Encoding',
};

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
    'The Rhythm life simulator: guide one person through a week of 28 steps, and infer their hidden profile.',
  readme_content: null,
  version: packageVersion(),
  author: null,
  documentation_url: null,
};

/** The observation as OpenEnv's clients return it: with done, reward and metadata. */
const CLIENT_OBSERVATION = OBSERVATION_SCHEMA.extend({
  done: RESULT_SCHEMA.shape.done,
  reward: RESULT_SCHEMA.shape.reward,
  metadata: z.record(z.string(), z.unknown()).optional(),
});

/** The environment of requests without a session. @throws as `createVecEnv`. */
class StatelessEnv {
  readonly #env;

  constructor({ backend, kernel }: Pick<VecEnvOptions, 'backend' | 'kernel'>) {
    this.#env = createVecEnv({ backend, kernel, numEnvs: 1, threads: 1 });
  }

  reset({ seed, profile, grader }: EpisodeRequest): string {
    return resetText(this.#env.reset({ seed, profiles: profile, graders: grader }), 0);
  }

  step(action: ReturnType<typeof toAction>): string {
    this.#env.reset();
    const beliefs = action.belief ?? undefined;
    return stepText(this.#env.step([action.code], { beliefs }), 0);
  }

  close(): void {
    this.#env.close();
  }
}

export interface OpenEnvRoutes {
  readonly routes: readonly Route[];
  close(): void;
}

/** Builds OpenEnv's routes. @throws as `createVecEnv`. */
export function openEnvRoutes(engine: Pick<VecEnvOptions, 'backend' | 'kernel'>): OpenEnvRoutes {
  const env = new StatelessEnv(engine);
  return { routes: [...DESCRIPTIONS, ...episodeRoutes(env), MCP], close: () => env.close() };
}

const DESCRIPTIONS: readonly Route[] = [
  {
    method: 'get',
    path: '/health',
    summary: 'The health of the server. Needs no token.',
    response: z.object({ status: z.literal('healthy') }),
    handle: () => json({ status: 'healthy' }),
  },
  {
    method: 'get',
    path: '/metadata',
    summary: 'A description of the environment.',
    response: METADATA_SCHEMA,
    handle: () => json(METADATA),
  },
  {
    method: 'get',
    path: '/schema',
    summary: 'The JSON schemas of actions, observations and states.',
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
    summary: 'The state before any reset. Sessions over /ws have states of their own.',
    response: STATE_SCHEMA,
    handle: () => json(stateOf(null, 0)),
  },
];

const episodeRoutes = (env: StatelessEnv): readonly Route[] => [
  {
    method: 'post',
    path: '/reset',
    summary: 'The first observation of an episode. The server keeps no state; for sessions use /ws.',
    request: RESET_SCHEMA.optional(),
    isMessage: true,
    failures: BODY_FAILURES,
    response: RESULT_SCHEMA,
    handle: async (request) => {
      const body = bodyOf(await request.message()) ?? {};
      return jsonText(env.reset(mapErrors(inBody, () => toEpisodeRequest(body))));
    },
  },
  {
    method: 'post',
    path: '/step',
    summary:
      'The first step of an episode with a random seed. The server keeps no state; for sessions use /ws.',
    request: STEP_SCHEMA,
    isMessage: true,
    failures: BODY_FAILURES,
    response: RESULT_SCHEMA,
    handle: async (request) => {
      const body: { readonly action?: unknown } = objectOf(await request.message());
      const envelope = STEP_ENVELOPE.safeParse(body);
      if (!envelope.success) throw new InvalidRequestError(inBody(validationErrorsOf(envelope.error, body)));
      // Passes the action of the original body: the parsed action has lost the key `__proto__`, which `toAction` must refuse.
      return jsonText(env.step(toAction(body.action)));
    },
  },
];

const MCP: Route = {
  method: 'post',
  path: '/mcp',
  summary: 'JSON-RPC 2.0. There are no tools: every answer is an error, with status 200.',
  request: z.record(z.string(), z.unknown()),
  isMessage: true,
  failures: BODY_FAILURES,
  response: MCP_SCHEMA,
  handle: async (request) => {
    try {
      return json(answerMcp(bodyOf(await request.message())));
    } catch (error) {
      if (error instanceof InvalidRequestError) return json(mcpParseError(error.message));
      throw error;
    }
  },
};
