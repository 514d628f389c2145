/**
 * Handles OpenEnv's messages over one WebSocket (a session). A session plays one episode at a time, in one environment
 * of the shared pool.
 */
import { z } from 'zod';
import type { EpisodePool } from '../rollouts/episode-pool.js';
import { describe } from '../shared/values.js';
import { InvalidRequestError, mapErrors, parse, withLinks } from './protocol/errors.js';
import { hasTooManyValues, tooManyValues } from './protocol/json.js';
import { answerMcp, type EpisodeRequest, stateOf, toAction, toEpisodeRequest } from './protocol/messages.js';
import { isOver, resetText, stepsOf, stepText } from './protocol/observation.js';
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

export class OpenEnvSession implements MessageHandler {
  readonly #pool: EpisodePool;
  /** The session's environment. It is claimed with the first frame: a connection without frames takes no environment. */
  #envIndex: number | null = null;
  #episode: EpisodeRequest | null = null;
  #steps = 0;
  /** Whether the episode is over. */
  #over = false;

  constructor(pool: EpisodePool) {
    this.#pool = pool;
  }

  end(): void {
    if (this.#envIndex !== null) this.#pool.release(this.#envIndex);
    this.#envIndex = null;
  }

  answer(frame: Buffer, isBinary: boolean): Answer | Promise<Answer> {
    this.#envIndex ??= this.#pool.claim();
    if (this.#envIndex === null) throw this.#full();
    const message = readMessage(frame, isBinary);
    const type = typeOf(message);
    const { data } = parse(MESSAGES[type] as z.ZodObject, message, withLinks);
    return this.#handlers[type](data);
  }

  #full(): MessageError {
    const { capacity, taken: open } = this.#pool;
    const text = `Expected fewer than ${capacity} open sessions, got ${open}. Try again later, or raise --capacity.`;
    return new MessageError(
      'CAPACITY_REACHED',
      text,
      { active_sessions: open, max_sessions: capacity },
      true,
    );
  }

  readonly #handlers: Readonly<Record<MessageType, (data: unknown) => Answer | Promise<Answer>>> = {
    step: (data) => this.#step(data),
    reset: (data) => this.#reset(data ?? {}),
    state: () => textAnswer('state', JSON.stringify(stateOf(this.#episode, this.#steps))),
    mcp: (data) => textAnswer('mcp', JSON.stringify(answerMcp(data))),
    close: () => ({ frame: null, ends: true }),
  };

  #reset(data: unknown): Promise<Answer> {
    const request = mapErrors(withLinks, () => toEpisodeRequest(data));
    return this.#pool.reset(this.#envIndex!, request, (outputs, envIndex) => {
      this.#episode = request;
      this.#steps = 0;
      this.#over = false;
      return textAnswer('observation', resetText(outputs, envIndex));
    });
  }

  #step(data: unknown): Promise<Answer> {
    const action = toAction(data);
    if (this.#episode === null) throw new MessageError('EXECUTION_ERROR', NOT_RESET);
    if (this.#over) throw new MessageError('EXECUTION_ERROR', EPISODE_OVER);
    return this.#pool.step(this.#envIndex!, action, (outputs, envIndex) => {
      this.#steps = stepsOf(outputs, envIndex);
      this.#over = isOver(outputs, envIndex);
      return textAnswer('observation', stepText(outputs, envIndex));
    });
  }
}

const NOT_TEXT = 'Invalid JSON: Expected a text frame, got a binary one. Send JSON as text.';
const NOT_RESET = 'Expected a reset before the first step, got none. Send {"type": "reset"} first.';
const EPISODE_OVER =
  'Expected a step of a running episode, got one after its last step. Send {"type": "reset"} to begin another.';

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
