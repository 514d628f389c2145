/** One client's environment over a socket: OpenEnv's messages, one episode at a time, in a slot of the batch. */
import type { Slots } from '../slots/slots.js';
import { describe } from '../validate/values.js';
import { toAction } from './protocol/action.js';
import { type Begin, toBegin } from './protocol/begin.js';
import { answerMcp } from './protocol/mcp.js';
import { isOver, resultText, stepsOf } from './protocol/observation.js';
import { explained, extra, missing, type Refusal, RefusedError, toldAs } from './protocol/refusals.js';
import { stateOf } from './protocol/state.js';
import { NotNowError, refusalOf } from './sockets/refusal.js';
import { type Answer, errorAnswer, type Talk } from './sockets/talk.js';

type Message = Readonly<Record<string, unknown>>;

export class Session implements Talk {
  readonly #slots: Slots;
  /** Taken with the first frame: who only connects takes nothing from others. */
  #slot: number | null = null;
  #episode: Begin | null = null;
  #steps = 0;
  #over = false;

  constructor(slots: Slots) {
    this.#slots = slots;
  }

  answer(data: Buffer, isBinary: boolean): Answer | Promise<Answer> {
    this.#slot ??= this.#slots.claim();
    if (this.#slot === null) return this.#full();
    const message = isBinary ? errorAnswer('INVALID_JSON', NOT_TEXT) : readMessage(data);
    return 'frame' in message ? message : this.#heed(message.message);
  }

  end(): void {
    if (this.#slot !== null) this.#slots.release(this.#slot);
    this.#slot = null;
  }

  #full(): Answer {
    const { taken, capacity } = this.#slots;
    const message = `Expected fewer than ${capacity} sessions, got as many. Try again later, or raise --capacity.`;
    return errorAnswer('CAPACITY_REACHED', message, { active_sessions: taken, max_sessions: capacity }, true);
  }

  async #heed(message: Message): Promise<Answer> {
    const { type } = message;
    const handler = typeof type === 'string' && Object.hasOwn(this.#handlers, type) && this.#handlers[type];
    if (!handler) return errorAnswer('UNKNOWN_TYPE', `Unknown message type: ${nameOf(type)}`);
    try {
      return await handler(message);
    } catch (error) {
      return refusalOf(error);
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
    const begin = toldAs(explained, () => toBegin(data));
    const frame = await this.#slots.reset(this.#slot!, begin, (shown, slot) => {
      this.#episode = begin;
      this.#steps = 0;
      this.#over = false;
      return observationText(resultText(shown, slot, true));
    });
    return { frame };
  }

  async #step(data: unknown): Promise<Answer> {
    const action = toAction(data);
    if (this.#episode === null) throw new NotNowError(NOT_RESET);
    if (this.#over) throw new NotNowError(EPISODE_OVER);
    const frame = await this.#slots.step(this.#slot!, action, (shown, slot) => {
      this.#steps = stepsOf(shown, slot);
      this.#over = isOver(shown, slot);
      return observationText(resultText(shown, slot, false));
    });
    return { frame };
  }
}

const NOT_TEXT = 'Invalid JSON: Expected a text frame, got a binary one. Send JSON as text.';
const NOT_RESET = 'Expected a reset before this step, got none yet. Send {"type": "reset"} first.';
const EPISODE_OVER =
  'Expected a step of an episode that goes on, got one after its last. Send {"type": "reset"} to begin another.';

const observationText = (result: string): string => `{"type":"observation","data":${result}}`;

function readMessage(data: Buffer): Answer | { readonly message: Message } {
  let message: unknown;
  try {
    message = JSON.parse(data.toString());
  } catch (error) {
    return errorAnswer('INVALID_JSON', `Invalid JSON: ${(error as Error).message}`);
  }
  if (typeof message === 'object' && message !== null && !Array.isArray(message)) {
    return { message: message as Message };
  }
  // As recorded: the one fault of a frame that ends the session.
  const said = `Expected a message, an object with a type, got ${describe(message)}.`;
  return errorAnswer('SESSION_ERROR', said, {}, true);
}

const nameOf = (type: unknown): string => (typeof type === 'string' ? type.slice(0, 100) : describe(type));

function checkKeys(message: Message, known: readonly string[], required?: string): void {
  const refusals: Refusal[] = [];
  if (required !== undefined && message[required] === undefined) {
    refusals.push(missing([required], message));
  }
  for (const key of Object.keys(message)) {
    if (!known.includes(key)) refusals.push(extra([key], message[key]));
  }
  if (refusals.length > 0) throw new RefusedError(explained(refusals));
}
