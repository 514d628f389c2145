/** The routes of OpenEnv over HTTP. Reset and step are stateless: each request begins a new episode. */
import { z } from 'zod';
import { createVecEnv, type VecEnv } from '../../engine/node.js';
import type { VecEnvOptions } from '../../engine/vec-env/vec-env-options.js';
import { packageVersion } from '../../shared/version.js';
import { answerMcp, type HttpSessions, MCP_SCHEMA, mcpParseError } from '../mcp.js';
import { InvalidRequestError, inBody, mapErrors, parse, StatusError } from '../protocol/errors.js';
import { bodyOf, jsonSchema, objectOf } from '../protocol/json.js';
import {
  ACTION_SCHEMA,
  MAX_ID,
  RESET_SCHEMA,
  STATE_SCHEMA,
  stateOf,
  toAction,
  toEpisodeRequest,
} from '../protocol/messages.js';
import {
  OBSERVATION_SCHEMA,
  RESULT_SCHEMA,
  type ResultForm,
  resetText,
  stepText,
} from '../protocol/observation.js';
import { json, jsonText } from './json-response.js';
import type { Route } from './openapi.js';

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

const METADATA = {
  name: 'rhythm-vec',
  description:
    'The Rhythm life simulator: guide one person through a week of 28 steps, and infer their hidden profile.',
  readme_content: null,
  version: packageVersion(),
  author: null,
  documentation_url: null,
};
const METADATA_SCHEMA = z.object(
  Object.fromEntries(
    Object.entries(METADATA).map(([key, value]) => [key, value === null ? z.null() : z.string()]),
  ),
);

/** The observation as OpenEnv's clients return it: with done, reward and metadata. */
const CLIENT_OBSERVATION = OBSERVATION_SCHEMA.extend({
  done: RESULT_SCHEMA.shape.done,
  reward: RESULT_SCHEMA.shape.reward,
  metadata: z.record(z.string(), z.unknown()).optional(),
});

export interface OpenEnvRoutes {
  readonly routes: readonly Route[];
  close(): void;
}

/** Builds OpenEnv's routes, with an environment for requests without a session. @throws as `createVecEnv`. */
export function openEnvRoutes(
  { backend, kernel }: Pick<VecEnvOptions, 'backend' | 'kernel'>,
  sessions: HttpSessions,
): OpenEnvRoutes {
  const env = createVecEnv({ backend, kernel, numEnvs: 1, threads: 1 });
  return {
    routes: [...DESCRIPTIONS, ...episodeRoutes(env), mcpRoute(sessions), endRoute(sessions)],
    close: () => env.close(),
  };
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

/** The form of results without a session. */
const NUMBERS: ResultForm = { inText: false, reward: 'step' };

const episodeRoutes = (env: VecEnv): readonly Route[] => [
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
      const { seed, profile, grader, form } = mapErrors(inBody, () => toEpisodeRequest(body));
      return jsonText(resetText(env.reset({ seed, profiles: profile, graders: grader }), 0, form, grader));
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
      parse(STEP_ENVELOPE, body, inBody);
      // Passes the action of the original body: the parsed action has lost the key `__proto__`, which `toAction` must refuse.
      const { code, belief } = toAction(body.action);
      env.reset();
      return jsonText(stepText(env.step([code], { beliefs: belief ?? undefined }), 0, NUMBERS));
    },
  },
];

/** The header with the id of a session, as the Model Context Protocol names it. */
const SESSION_HEADER = 'mcp-session-id';

const mcpRoute = (sessions: HttpSessions): Route => ({
  method: 'post',
  path: '/mcp',
  summary:
    'The Model Context Protocol: JSON-RPC 2.0 with the tools of an episode. Errors are errors of JSON-RPC, with status 200.',
  request: z.record(z.string(), z.unknown()),
  isMessage: true,
  failures: { ...BODY_FAILURES, 404: 'The session in the header mcp-session-id is not open' },
  response: MCP_SCHEMA,
  handle: async (request) => {
    const id = request.header(SESSION_HEADER);
    if (id !== undefined && sessions.find(id) === undefined) throw SESSION_ENDED;
    try {
      const body = bodyOf(await request.message());
      const headers: Record<string, string> = {};
      const own = sessions.of(id, (begun) => {
        headers[SESSION_HEADER] = begun;
      });
      const answer = await answerMcp(body, own);
      return answer === null ? new Response(null, { status: 202 }) : json(answer, 200, headers);
    } catch (error) {
      if (error instanceof InvalidRequestError) return json(mcpParseError(error.message));
      throw error;
    }
  },
});

const endRoute = (sessions: HttpSessions): Route => ({
  method: 'delete',
  path: '/mcp',
  summary: 'Ends the session in the header mcp-session-id.',
  failures: { 404: 'The session in the header is not open' },
  response: z.strictObject({}),
  handle: (request) => {
    if (!sessions.close(request.header(SESSION_HEADER) ?? '')) throw SESSION_ENDED;
    return json({});
  },
});

const SESSION_ENDED = new StatusError(
  404,
  'The session is not open on this server. Send initialize again, without its id.',
);
