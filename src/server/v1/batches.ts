/** What requests of /v1 share: an engine, turns, counts. */
import type { z } from 'zod';
import type { VecEnvOptions } from '../../vec-env/options.js';
import { createWorld } from '../../world/world.js';
import { type HttpRequest, objectOf } from '../http/request.js';
import { jsonText } from '../http/routes.js';
import { LARGE, Turns } from '../turns.js';
import { parse } from './schemas.js';

export interface BatchesOptions extends Pick<VecEnvOptions, 'backend' | 'kernel' | 'threads'> {
  readonly batchRequests: number;
  readonly onDone: (what: BatchKind, count: number) => void;
}

export type BatchKind = 'scored' | 'rollouts' | 'prompts';

/** Of every route of /v1. */
export const BATCH_FAILURES = {
  413: 'The body is larger than the server reads',
  503: 'As many requests of /v1 as the server takes are in progress; the header Retry-After says when to come back',
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
   * @param work what the JSON is that is answered; it asks for its turn before each slice.
   * @param lengthOf about how many characters it has: of few characters that are asked for many, too, one is worked at a
   *   time.
   * @throws BusyError, RefusedError, TooLargeError, GoneError, and what the work throws.
   */
  answer<Schema extends z.ZodType>(
    http: HttpRequest,
    schema: Schema,
    work: (request: z.output<Schema>, turn: () => Promise<void>) => Promise<string>,
    lengthOf: (request: z.output<Schema>) => number = () => 0,
  ): Promise<Response> {
    const turn = () => this.turn(http.signal);
    return this.during(http.left, async () => {
      const text = await http.text();
      const read = async () => {
        await turn();
        return parse(schema, objectOf(text));
      };
      const answer = async (request: z.output<Schema>) => jsonText(await work(request, turn));
      if (text.length >= LARGE) return this.alone(text.length, async () => answer(await read()));
      const request = await read();
      return this.alone(lengthOf(request), () => answer(request));
    });
  }
}
