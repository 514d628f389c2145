/**
 * Handles OpenEnv's messages over one WebSocket (a session). A session plays one episode at a time, in one environment
 * of the shared pool.
 */
import { z } from 'zod';
import type { EpisodePool } from '../rollouts/episode-pool.js';
import { describe } from '../shared/values.js';
import { EpisodeSession, NoEpisodeError, PoolFullError, TOOLS } from './episode-session.js';
import { answerMcp, socketSessions } from './mcp.js';
import { InvalidRequestError, mapErrors, parse, withLinks } from './protocol/errors.js';
import { hasTooManyValues, tooManyValues } from './protocol/json.js';
import { type Answer, MessageError, type MessageHandler, unknownType } from './sockets/connection.js';

const message = (shape: z.core.$ZodLooseShape = {}) => z.strictObject({ type: z.string(), ...shape });
const [OPTIONAL, REQUIRED] = [z.unknown().optional(), z.unknown().nonoptional()];
/** The schemas of messages, by type. */
const MESSAGES = {
  step: message({ data: REQUIRED }),
  reset: message({ data: OPTIONAL }),
  state: message(),
  mcp: message({ data: REQUIRED }),
  close: message(),
};
type MessageType = keyof typeof MESSAGES;

/** The action of OpenEnv's clients that calls a tool. */
const CALL_TOOL = z.looseObject({ tool_name: z.string(), arguments: z.unknown().optional() });

export class OpenEnvSession implements MessageHandler {
  readonly #pool: EpisodePool;
  /** Opened with the first frame: a connection without frames takes no environment. */
  #session: EpisodeSession | null = null;
  readonly #mcp = socketSessions(() => this.#opened());

  constructor(pool: EpisodePool) {
    this.#pool = pool;
  }

  end(): void {
    this.#session?.end();
    this.#session = null;
  }

  answer(frame: Buffer, isBinary: boolean): Answer | Promise<Answer> {
    this.#opened();
    const message = readMessage(frame, isBinary);
    const type = typeOf(message);
    const { data } = parse(MESSAGES[type] as z.ZodObject, message, withLinks);
    return this.#handlers[type](data);
  }

  #opened(): EpisodeSession {
    try {
      this.#session ??= new EpisodeSession(this.#pool);
      return this.#session;
    } catch (error) {
      if (!(error instanceof PoolFullError)) throw error;
      const sessions = { active_sessions: this.#pool.taken, max_sessions: this.#pool.capacity };
      throw new MessageError('CAPACITY_REACHED', error.message, sessions, true);
    }
  }

  readonly #handlers: Readonly<Record<MessageType, (data: unknown) => Answer | Promise<Answer>>> = {
    step: (data) => this.#step(data),
    reset: async (data) => {
      const session = this.#opened();
      return textAnswer('observation', await mapErrors(withLinks, () => session.reset(data ?? {})));
    },
    state: () => textAnswer('state', JSON.stringify(this.#opened().state)),
    mcp: async (data) => textAnswer('mcp', JSON.stringify(await answerMcp(data, this.#mcp))),
    close: () => ({ frame: null, ends: true }),
  };

  // Not async: awaiting would take a tenth of the time of a step.
  #step(data: unknown): Answer | Promise<Answer> {
    const { type } = (data ?? {}) as { readonly type?: unknown };
    if (type === 'list_tools') return textAnswer('observation', TOOL_LIST);
    if (type === 'call_tool') return this.#callTool(data);
    try {
      return this.#opened().step(data, (result) => textAnswer('observation', result));
    } catch (error) {
      if (!(error instanceof NoEpisodeError)) throw error;
      throw new MessageError('EXECUTION_ERROR', `${error.message} ${RESET}`);
    }
  }

  /** Calls a tool. A refused call is the result of the tool, not an error of the message. */
  async #callTool(data: unknown): Promise<Answer> {
    const { tool_name, arguments: given } = parse(CALL_TOOL, data, withLinks);
    const result = await this.#opened().call(tool_name, given);
    const error =
      result === null ? { error_type: 'tool_not_found', message: `Tool not found: ${tool_name}` } : null;
    const observation = JSON.stringify({ tool_name, result: result?.text ?? null, error });
    const { reward, done } = result ?? { reward: 'null', done: false };
    return textAnswer('observation', `{"observation":${observation},"reward":${reward},"done":${done}}`);
  }
}

/** The result of the action `list_tools`. */
const TOOL_LIST = JSON.stringify({
  observation: {
    tools: TOOLS.map(({ inputSchema, ...tool }) => ({ ...tool, input_schema: inputSchema })),
  },
  reward: null,
  done: false,
});
const NOT_TEXT = 'Invalid JSON: Expected a text frame, got a binary one. Send JSON as text.';
const RESET = 'Send {"type": "reset"} to begin another.';

/** @param data JSON. */
const textAnswer = (type: string, data: string): Answer => ({ frame: `{"type":"${type}","data":${data}}` });

/** Parses a frame. @throws MessageError; InvalidRequestError for too many values. */
function readMessage(frame: Buffer, isBinary: boolean): object {
  if (isBinary) throw new MessageError('INVALID_JSON', NOT_TEXT);
  if (hasTooManyValues(frame)) throw new InvalidRequestError(withLinks([tooManyValues([])]));
  let message: unknown;
  try {
    message = JSON.parse(frame.toString());
  } catch (error) {
    throw new MessageError('INVALID_JSON', `Invalid JSON: ${(error as Error).message}`);
  }
  if (typeof message === 'object' && message !== null && !Array.isArray(message)) return message;
  // Ends the session, as OpenEnv's own server does here. Other invalid frames do not end it.
  const text = `Expected a message, an object with a type, got ${describe(message)}. Send {"type": "reset"}, for instance.`;
  throw new MessageError('SESSION_ERROR', text, {}, true);
}

/** Returns the type of a message. @throws MessageError for an unknown type. */
function typeOf({ type }: { readonly type?: unknown }): MessageType {
  if (typeof type !== 'string') throw unknownType(describe(type));
  if (Object.hasOwn(MESSAGES, type)) return type as MessageType;
  throw unknownType(type);
}
