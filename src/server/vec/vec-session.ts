/** Handles the messages of a vector environment over one WebSocket. */
import { z } from 'zod';
import { createVecEnv, type VecEnv } from '../../engine/node.js';
import type { Actions, Mask } from '../../engine/validate/steps.js';
import type { StepResult, VecEnvOptions } from '../../engine/vec-env/vec-env-options.js';
import { InputError } from '../../shared/errors.js';
import { checkLength } from '../../shared/values.js';
import { NUM_BELIEFS } from '../../world/fields.js';
import { parse, withLinks } from '../protocol/errors.js';
import { type Answer, MessageError, type MessageHandler, unknownType } from '../sockets/connection.js';
import { decodeFrame, encodeFrame, type Frame, parseJson } from './frame.js';
import {
  CREATE,
  type Create,
  describeEnv,
  OUTPUT_NAMES,
  type OutputName,
  RESET,
  resultArrays,
  STEP,
  toOptions,
} from './vec-messages.js';

/** Counts the environments of all vector environments. */
export class EnvQuota {
  readonly #capacity: number;
  /** The number of open vector environments, and of their environments. */
  vecEnvs = 0;
  environments = 0;

  /** @param capacity the maximum number of environments. */
  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** Takes the environments of a new vector environment. @throws MessageError if too few are free. */
  take(numEnvs: number): void {
    const [taken, capacity] = [this.environments, this.#capacity];
    if (taken + numEnvs > capacity) {
      const message =
        `Expected at most ${capacity - taken} environments, got ${numEnvs}: ${taken} of ${capacity} are in use. ` +
        'Create fewer, close others, or raise --vec-envs.';
      throw new MessageError('CAPACITY_REACHED', message, { taken, capacity });
    }
    this.vecEnvs++;
    this.environments += numEnvs;
  }

  /** Gives the environments of a closed vector environment back. */
  giveBack(numEnvs: number): void {
    this.vecEnvs--;
    this.environments -= numEnvs;
  }
}

export interface VecSessionOptions {
  readonly quota: EnvQuota;
  readonly engine: Pick<VecEnvOptions, 'backend' | 'kernel' | 'threads'>;
  /** Waits for a turn of the event loop that no other vector session or request of /v1 has. */
  readonly turn: () => Promise<void>;
  /** Called after each step with the number of environments that took it. */
  readonly onStepped: (envs: number) => void;
}

/**
 * The maximum size in bytes of a message that is parsed and computed in the same turn of the event loop. Chosen by hand: larger
 * messages in one turn would block other clients longer; with a lower limit more messages wait for another turn.
 */
const MAX_TURN_BYTES = 2 ** 16;

/** The vector environment of a session, and the arrays that its answers have. */
interface Opened {
  readonly env: VecEnv;
  readonly outputs: readonly OutputName[];
}

/** The vector environment of one WebSocket, from `create` to the end of the socket. */
export class VecSession implements MessageHandler {
  readonly #options: VecSessionOptions;
  #opened: Opened | null = null;
  #ended = false;

  constructor(options: VecSessionOptions) {
    this.#options = options;
  }

  async answer(data: Buffer, isBinary: boolean): Promise<Answer> {
    await this.#options.turn();
    if (this.#ended) return { frame: null };
    const envs = this.#opened?.env.numEnvs ?? 0;
    const frame = isBinary ? decodeFrame(data, { envs }) : readText(data, envs);
    checkShapes(frame);
    if (data.length > MAX_TURN_BYTES) await this.#options.turn();
    if (this.#ended) return { frame: null };
    if (!Object.hasOwn(this.#handlers, frame.type)) throw unknownType(frame.type);
    return this.#handlers[frame.type](fieldsOf(frame));
  }

  end(): void {
    this.#ended = true;
    if (this.#opened === null) return;
    const { env } = this.#opened;
    this.#opened = null;
    this.#options.quota.giveBack(env.numEnvs);
    env.close();
  }

  readonly #handlers: Readonly<Record<string, (fields: unknown) => Answer>> = {
    create: (fields) => this.#create(parse(CREATE, fields, withLinks)),
    reset: (fields) => {
      const { env } = this.#require();
      const { mask, ...options } = parse(RESET, fields, withLinks);
      for (const name of ['profiles', 'graders'] as const) checkNames(name, options[name], env.numEnvs);
      return this.#result(env.reset({ ...options, mask: mask as Mask }));
    },
    step: (fields) => {
      const { env } = this.#require();
      const { actions, beliefs, mask } = parse(STEP, fields, withLinks);
      const result = env.step(actions as Actions, { beliefs, mask: mask as Mask });
      this.#options.onStepped(mask === undefined ? env.numEnvs : countOf(mask));
      return this.#result(result);
    },
    close: () => ({ frame: null, ends: true }),
  };

  #create(request: Create): Answer {
    if (this.#opened !== null) {
      const message =
        'Expected one environment per socket, got a second create. Open another socket for the other environment.';
      throw new MessageError('EXECUTION_ERROR', message);
    }
    const { quota, engine } = this.#options;
    quota.take(request.num_envs);
    try {
      const env = createVecEnv({ ...engine, ...toOptions(request) });
      const names = request.outputs ?? OUTPUT_NAMES;
      const outputs = names.filter(
        (name) => name !== 'final_observations' || request.autoreset === 'same-step',
      );
      this.#opened = { env, outputs };
      return { frame: JSON.stringify({ type: 'created', data: describeEnv(env, outputs) }) };
    } catch (error) {
      quota.giveBack(request.num_envs);
      throw error;
    }
  }

  #require(): Opened {
    if (this.#opened !== null) return this.#opened;
    const message = 'Expected an environment, got none. Send {"type": "create"} first.';
    throw new MessageError('EXECUTION_ERROR', message);
  }

  #result(result: StepResult): Answer {
    const { env, outputs } = this.#require();
    return { frame: encodeFrame('result', {}, resultArrays(env, outputs, result)) };
  }
}

/** Checks the names of a message: one for all environments, or one for each. @throws InputError `wrong_length`. */
function checkNames(what: string, names: unknown, numEnvs: number): void {
  if (Array.isArray(names)) checkLength(`names in ${what}`, names.length, numEnvs, 'numEnvs');
}

/** Returns the number of environments that a mask selects. */
function countOf(mask: ArrayLike<unknown>): number {
  let count = 0;
  for (let i = 0; i < mask.length; i++) if (mask[i]) count++;
  return count;
}

const TEXT = z.strictObject({ type: z.string(), data: z.unknown().optional() });

/** The maximum size of a text frame in bytes: parsing more JSON would delay other clients. */
const MAX_TEXT = 2 ** 20;

function readText(data: Buffer, envs: number): Frame {
  if (data.length > MAX_TEXT) {
    const fault = { expected: `at most ${MAX_TEXT} bytes of text`, got: String(data.length) };
    throw new InputError('wrong_length', { ...fault, remedy: 'Send arrays in a binary frame.' });
  }
  let message: unknown;
  try {
    message = parseJson(data, envs);
  } catch (error) {
    if (error instanceof InputError) throw error;
    throw new MessageError('INVALID_JSON', `Invalid JSON: ${(error as Error).message}`);
  }
  return { data: undefined, ...parse(TEXT, message, withLinks), arrays: {}, shapes: {} };
}

/**
 * Checks that arrays have one dimension, or, for beliefs, the shape [n, 3]: a column-major array would be misread.
 * @throws InputError `wrong_length` for other shapes.
 */
function checkShapes({ shapes }: Frame): void {
  for (const [name, shape] of Object.entries(shapes)) {
    const isWide = name === 'beliefs';
    if (shape.length === 1 || (isWide && shape.length === 2 && shape[1] === NUM_BELIEFS)) continue;
    throw new InputError('wrong_length', {
      expected: `${name} of shape ${isWide ? `[n, ${NUM_BELIEFS}]` : '[n]'}`,
      got: `[${shape.join(', ')}]`,
      remedy: 'Send one row per environment.',
    });
  }
}

/**
 * Merges the fields of a message's data with the arrays of its frame. Absent data and null count as no fields. Returns a list,
 * text, number or boolean unchanged.
 */
const fieldsOf = ({ data, arrays }: Frame): unknown =>
  (typeof data === 'object' && !Array.isArray(data)) || data === undefined ? { ...data, ...arrays } : data;
