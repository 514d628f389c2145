/** The state that /v1 requests share: engine options, turns and counters. */
import type { z } from 'zod';
import type { VecEnvOptions } from '../../engine/vec-env/vec-env-options.js';
import { createWorld } from '../../world/world.js';
import type { HttpRequest } from '../http/request.js';
import { jsonPieces } from '../http/route.js';
import { LARGE, Turns } from '../work-turns.js';
import { BodyReader, keysOf } from './body.js';
import { parse } from './schemas.js';

export interface BatchesOptions extends Pick<VecEnvOptions, 'backend' | 'kernel' | 'threads'> {
  readonly batchRequests: number;
  readonly onDone: (what: BatchKind, count: number) => void;
}

/** Pieces of a JSON text. */
export type Pieces = AsyncIterable<string> | Iterable<string>;

export type BatchKind = 'scored' | 'rollouts' | 'prompts';

/** The failures of every /v1 route. */
export const BATCH_FAILURES = {
  413: 'The body is larger than the limit',
  503: 'Too many /v1 requests are in progress; retry after the time in Retry-After',
};

export class Batches extends Turns {
  readonly engine: Pick<VecEnvOptions, 'backend' | 'kernel' | 'threads'>;
  readonly worldDigest = createWorld().digest;
  readonly count: (what: BatchKind, count: number) => void;

  constructor({ backend, kernel, threads, batchRequests, onDone }: BatchesOptions) {
    super(batchRequests);
    this.engine = { backend, kernel, threads };
    this.count = onDone;
  }

  /**
   * Answers a request whose body follows a schema.
   * @param work returns the pieces of the JSON answer. It must await `turn` before each slice.
   * @param lengthOf estimates the answer's characters. Requests with large answers run one at a time, even if their
   *   bodies are short.
   * @throws BusyError, RefusedError, TooLargeError, DisconnectedError, and the errors of `work`.
   */
  answer<Schema extends z.ZodObject>(
    http: HttpRequest,
    schema: Schema,
    work: (request: z.output<Schema>, turn: () => Promise<void>) => Promise<Pieces>,
    lengthOf: (request: z.output<Schema>) => number = () => 0,
  ): Promise<Response> {
    const turn = () => this.turn(http.signal);
    return this.runBatch(http.finished, async () => {
      const reader = new BodyReader(keysOf(schema));
      const body = await http.bytes((bytes, length) => reader.read(bytes, length));
      const read = async () => {
        await turn();
        return parse(schema, reader.fields(body));
      };
      if (body.length >= LARGE) {
        return jsonPieces(await this.runLarge(body.length, async () => work(await read(), turn)));
      }
      const request = await read();
      return jsonPieces(await this.runLarge(lengthOf(request), () => work(request, turn)));
    });
  }
}
