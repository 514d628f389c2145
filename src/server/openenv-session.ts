/**
 * Handles OpenEnv's messages over one WebSocket (a session). A session plays one episode at a time, in one environment
 * of the shared pool.
 */
import type { EpisodePool } from '../rollouts/episode-pool.js';
import { describe } from '../shared/values.js';
import {
  extra,
  InvalidRequestError,
  mapErrors,
  missing,
  tooManyValues,
  type ValidationError,
  withLinks,
} from './protocol/errors.js';
import { hasTooManyValues, MAX_VALUES } from './protocol/json-limits.js';
import { answerMcp, type EpisodeRequest, stateOf, toAction, toEpisodeRequest } from './protocol/messages.js';
import { isOver, resetText, stepsOf, stepText } from './protocol/observation.js';
import {
  type Answer,
  errorAnswer,
  InvalidStateError,
  type MessageHandler,
  toErrorAnswer,
} from './sockets/connection.js';

type Message = Readonly<Record<string, unknown>>;

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

  answer(data: Buffer, isBinary: boolean): Answer | Promise<Answer> {
    this.#envIndex ??= this.#pool.claim();
    if (this.#envIndex === null) return this.#full();
    const message = isBinary ? errorAnswer('INVALID_JSON', NOT_TEXT) : readMessage(data);
    return 'frame' in message ? message : this.#handle(message.message);
  }

  #full(): Answer {
    const { capacity, taken: open } = this.#pool;
    const message = `Expected fewer than ${capacity} open sessions, got ${open}. Try again later, or raise --capacity.`;
    const more = { active_sessions: open, max_sessions: capacity };
    return { ...errorAnswer('CAPACITY_REACHED', message, more), ends: true };
  }

  async #handle(message: Message): Promise<Answer> {
    const { type } = message;
    const handler = typeof type === 'string' && Object.hasOwn(this.#handlers, type) && this.#handlers[type];
    if (!handler) return errorAnswer('UNKNOWN_TYPE', `Unknown message type: ${typeText(type)}`);
    try {
      return await handler(message);
    } catch (error) {
      return toErrorAnswer(error);
    }
  }

  readonly #handlers: Readonly<Record<string, (message: Message) => Answer | Promise<Answer>>> = {
    step: (message) => {
      checkKeys(message, ['type', 'data'], 'data');
      return this.#step(message.data);
    },
    reset: (message) => {
      checkKeys(message, ['type', 'data']);
      return this.#reset(message.data ?? {});
    },
    state: (message) => {
      checkKeys(message, ['type']);
      return { frame: JSON.stringify({ type: 'state', data: stateOf(this.#episode, this.#steps) }) };
    },
    mcp: (message) => {
      checkKeys(message, ['type', 'data'], 'data');
      return { frame: JSON.stringify({ type: 'mcp', data: answerMcp(message.data) }) };
    },
    close: (message) => {
      checkKeys(message, ['type']);
      return { frame: null, ends: true };
    },
  };

  async #reset(data: unknown): Promise<Answer> {
    const request = mapErrors(withLinks, () => toEpisodeRequest(data));
    const frame = await this.#pool.reset(this.#envIndex!, request, (outputs, envIndex) => {
      this.#episode = request;
      this.#steps = 0;
      this.#over = false;
      return observationText(resetText(outputs, envIndex));
    });
    return { frame };
  }

  async #step(data: unknown): Promise<Answer> {
    const action = toAction(data);
    if (this.#episode === null) throw new InvalidStateError(NOT_RESET);
    if (this.#over) throw new InvalidStateError(EPISODE_OVER);
    const frame = await this.#pool.step(this.#envIndex!, action, (outputs, envIndex) => {
      this.#steps = stepsOf(outputs, envIndex);
      this.#over = isOver(outputs, envIndex);
      return observationText(stepText(outputs, envIndex));
    });
    return { frame };
  }
}

const NOT_TEXT = 'Invalid JSON: Expected a text frame, got a binary one. Send JSON as text.';
const NOT_RESET = 'Expected a reset before the first step, got none. Send {"type": "reset"} first.';
const EPISODE_OVER =
  'Expected a step of a running episode, got one after its last step. Send {"type": "reset"} to begin another.';

const observationText = (result: string): string => `{"type":"observation","data":${result}}`;

function readMessage(data: Buffer): Answer | { readonly message: Message } {
  if (hasTooManyValues(data))
    return toErrorAnswer(new InvalidRequestError(withLinks([tooManyValues([], MAX_VALUES)])));
  let message: unknown;
  try {
    message = JSON.parse(data.toString());
  } catch (error) {
    return errorAnswer('INVALID_JSON', `Invalid JSON: ${(error as Error).message}`);
  }
  if (typeof message === 'object' && message !== null && !Array.isArray(message)) {
    return { message: message as Message };
  }
  // Ends the session, as OpenEnv's own server does here. Other invalid frames do not end it.
  const text = `Expected a message, an object with a type, got ${describe(message)}. Send {"type": "reset"}, for instance.`;
  return { ...errorAnswer('SESSION_ERROR', text), ends: true };
}

/** Describes the type of a message, for errors. */
const typeText = (type: unknown): string => (typeof type === 'string' ? type.slice(0, 100) : describe(type));

/** Refuses unknown keys of a message, and a message without the required key. @throws InvalidRequestError. */
function checkKeys(message: Message, known: readonly string[], required?: string): void {
  const errors: ValidationError[] = [];
  if (required !== undefined && message[required] === undefined) {
    errors.push(missing([required], message));
  }
  for (const key of Object.keys(message)) {
    if (!known.includes(key)) errors.push(extra([key], message[key]));
  }
  if (errors.length > 0) throw new InvalidRequestError(withLinks(errors));
}
