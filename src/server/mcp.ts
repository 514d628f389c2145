/**
 * The Model Context Protocol, as JSON-RPC 2.0 over HTTP and WebSockets: the tools of an episode. OpenEnv's clients use two
 * methods of their own to open and close sessions over HTTP.
 */
import { z } from 'zod';
import type { EpisodePool } from '../rollouts/episode-pool.js';
import { packageVersion } from '../shared/version.js';
import { EpisodeSession, PoolFullError, TOOLS, type ToolResult } from './episode-session.js';
import { InvalidRequestError, parse } from './protocol/errors.js';
import type { Answer, MessageHandler } from './sockets/connection.js';

const ID = z.union([z.string(), z.number()]);
const REQUEST = z.looseObject({
  jsonrpc: z.literal('2.0'),
  method: z.string(),
  params: z.looseObject({ session_id: z.string().optional() }).nullish(),
  id: ID.nullish(),
});
const INITIALIZE = z.looseObject({ protocolVersion: z.string() });
const CALL = z.looseObject({ name: z.string(), arguments: z.unknown().optional() });
const CLOSE = z.looseObject({ session_id: z.string() });

/** Versions of the protocol, the newest first. */
const VERSIONS: readonly string[] = ['2025-06-18', '2025-03-26', '2024-11-05'];

/** Error codes of JSON-RPC. */
const PARSE_ERROR = -32700;
const INVALID_REQUEST = -32600;
const NO_METHOD = -32601;
const INVALID_PARAMS = -32602;
const SERVER_ERROR = -32000;

export interface McpAnswer {
  readonly jsonrpc: '2.0';
  readonly id: string | number | null;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string; readonly data: unknown };
}
/** The schema of answers in openapi.json. */
export const MCP_SCHEMA = z.looseObject({ jsonrpc: z.literal('2.0') });

/** An error that is answered as an error of JSON-RPC. */
class McpError extends Error {
  readonly code: number;
  readonly data: unknown;
  constructor(code: number, message: string, data: unknown = null) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

const failure = (id: McpAnswer['id'], code: number, message: string, data: unknown = null): McpAnswer => ({
  jsonrpc: '2.0',
  id,
  error: { code, message, data },
});

/** Returns the answer to a body that cannot be parsed. */
export const mcpParseError = (message: string): McpAnswer =>
  failure(null, PARSE_ERROR, `Parse error: ${message}`);

/** The sessions that a request may use. */
export interface McpSessions {
  /** Returns the session of a request. @param id of the request, if it has one. @throws McpError for an unknown session. */
  find(id: string | undefined): EpisodeSession;
  /** Opens the session of `initialize`, if there is none. @throws PoolFullError. */
  begin(): void;
  /** Opens a session for clients of OpenEnv. @returns its id. */
  open(): string;
  /** Closes a session of `open`. @returns whether there was one. */
  close(id: string): boolean;
}

/** Answers a request. @returns null for a notification, which has no answer. */
export async function answerMcp(request: unknown, sessions: McpSessions): Promise<McpAnswer | null> {
  let id: McpAnswer['id'] = null;
  try {
    const { method, params, ...rest } = parse(REQUEST, request);
    id = rest.id ?? null;
    if (id === null && method.startsWith('notifications/')) return null;
    return { jsonrpc: '2.0', id, result: await resultOf(method, params ?? {}, sessions) };
  } catch (error) {
    if (error instanceof McpError) return failure(id, error.code, error.message, error.data);
    if (error instanceof PoolFullError) return failure(id, SERVER_ERROR, error.message);
    if (error instanceof InvalidRequestError)
      return failure(id, INVALID_REQUEST, `Invalid request: ${error.message}`);
    throw error;
  }
}

type Params = Readonly<Record<string, unknown>> & { readonly session_id?: string };

async function resultOf(method: string, params: Params, sessions: McpSessions): Promise<unknown> {
  switch (method) {
    case 'initialize': {
      const { protocolVersion } = parse(INITIALIZE, params);
      sessions.begin();
      return {
        protocolVersion: VERSIONS.includes(protocolVersion) ? protocolVersion : VERSIONS[0],
        capabilities: { tools: {} },
        serverInfo: { name: 'rhythm-vec', version: packageVersion() },
      };
    }
    case 'ping':
      return {};
    case 'tools/list':
      return { tools: TOOLS };
    case 'tools/call': {
      const { name, arguments: data } = parse(CALL, params);
      const result = await sessions.find(params.session_id).call(name, data);
      if (result === null) throw new McpError(INVALID_PARAMS, `Tool not found: ${name.slice(0, 100)}`);
      return callResult(result);
    }
    case 'openenv/session/create':
      return { session_id: sessions.open() };
    case 'openenv/session/close': {
      const { session_id } = parse(CLOSE, params);
      if (!sessions.close(session_id)) throw unknownSession(session_id);
      return { session_id, closed: true };
    }
    default:
      throw new McpError(NO_METHOD, `Method not found: ${method.slice(0, 100)}`);
  }
}

/** Returns the result of a call. `data` is for OpenEnv's clients. */
const callResult = ({ text, isError, reward, done }: ToolResult): object => ({
  content: [{ type: 'text', text }],
  structuredContent: { text, reward: JSON.parse(reward), done },
  isError,
  data: text,
});

const unknownSession = (id: string): McpError =>
  new McpError(
    INVALID_PARAMS,
    `Unknown session_id: ${id.slice(0, 100)}. Open one with openenv/session/create.`,
  );

/** The sessions over HTTP, by id. A session that is not used for `idleMs` milliseconds is closed. */
export class HttpSessions {
  readonly #pool: EpisodePool;
  readonly #sessions = new Map<string, { readonly session: EpisodeSession; usedAt: number }>();
  readonly #timer: NodeJS.Timeout;

  constructor(pool: EpisodePool, idleMs: number) {
    this.#pool = pool;
    this.#timer = setInterval(() => this.#closeBefore(performance.now() - idleMs), idleMs);
    this.#timer.unref();
  }

  /** Opens a session. @returns its id. @throws PoolFullError. */
  open(): string {
    const id = crypto.randomUUID();
    this.#sessions.set(id, { session: new EpisodeSession(this.#pool), usedAt: performance.now() });
    return id;
  }

  find(id: string | undefined): EpisodeSession | undefined {
    const entry = this.#sessions.get(id ?? '');
    if (entry !== undefined) entry.usedAt = performance.now();
    return entry?.session;
  }

  close(id: string): boolean {
    this.#sessions.get(id)?.session.end();
    return this.#sessions.delete(id);
  }

  /** Closes all sessions. */
  end(): void {
    clearInterval(this.#timer);
    this.#closeBefore(Number.POSITIVE_INFINITY);
  }

  #closeBefore(time: number): void {
    for (const [id, { usedAt }] of this.#sessions) if (usedAt < time) this.close(id);
  }

  /**
   * Returns the sessions that an HTTP request may use.
   * @param headerId the id in its header, which its `params` may replace. @param onBegin receives the id of a session that begins.
   */
  of(headerId: string | undefined, onBegin: (id: string) => void): McpSessions {
    return {
      find: (id = headerId) => {
        const session = this.find(id);
        if (session !== undefined) return session;
        throw id === undefined
          ? new McpError(
              INVALID_PARAMS,
              'Expected a session, got none. Send initialize or openenv/session/create first.',
            )
          : unknownSession(id);
      },
      begin: () => {
        if (headerId === undefined) onBegin(this.open());
      },
      open: () => this.open(),
      close: (id) => this.close(id),
    };
  }
}

/** Returns the sessions of a socket: its own. */
export function socketSessions(session: () => EpisodeSession): McpSessions {
  const id = crypto.randomUUID();
  return {
    find: session,
    begin: () => {},
    open: () => id,
    close: (closed) => {
      if (closed !== id) return false;
      throw new McpError(
        INVALID_REQUEST,
        'Expected the id of a session over HTTP, got that of a socket. Close the socket.',
      );
    },
  };
}

/** Answers the frames of a WebSocket with JSON-RPC. */
export class McpSocket implements MessageHandler {
  readonly #pool: EpisodePool;
  #session: EpisodeSession | null = null;
  readonly #sessions = socketSessions(() => {
    this.#session ??= new EpisodeSession(this.#pool);
    return this.#session;
  });

  constructor(pool: EpisodePool) {
    this.#pool = pool;
  }

  async answer(frame: Buffer): Promise<Answer> {
    const answer = await this.#answer(frame);
    return { frame: answer && JSON.stringify(answer) };
  }

  #answer(frame: Buffer): Promise<McpAnswer | null> | McpAnswer {
    let request: unknown;
    try {
      request = JSON.parse(frame.toString());
    } catch (error) {
      return mcpParseError((error as Error).message);
    }
    return answerMcp(request, this.#sessions);
  }

  end(): void {
    this.#session?.end();
  }
}
