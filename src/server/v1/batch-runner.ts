/** Runs /v1 requests: reads the body, computes in slices, and streams the answer. */
import type { z } from 'zod';
import type { Batch } from '../../engine/backends/backend.js';
import type { VecEnvOptions } from '../../engine/vec-env/vec-env-options.js';
import { createWorld } from '../../world/world.js';
import { bytesResponse, jsonPieces, type KnownBytes } from '../http/json-response.js';
import type { HttpRequest } from '../http/request.js';
import { Scheduler } from '../scheduler.js';
import { keysOf, readFields } from './json-columns.js';
import { parse } from './schemas.js';

/** Options of a BatchRunner: limits as in `ServeOptions`, and the engine. */
export interface BatchRunnerOptions extends Pick<VecEnvOptions, 'backend' | 'kernel' | 'threads'> {
  readonly batchRequests: number;
  readonly batchQueue: number;
  readonly batchWaitMs: number;
  readonly bodyLimit: number;
  /** A batch of the published world, for replays. */
  readonly replayBatch: Batch;
  /** Called with the number of rows or rollouts of each computed request. */
  readonly onDone: (what: BatchKind, count: number) => void;
}

/** Pieces of a JSON text. */
export type Pieces = AsyncIterable<string> | Iterable<string>;

/** What a batch produces, as the metrics count it. */
export type BatchKind = 'scored' | 'rollouts' | 'prompts' | 'parsed';

/** The error statuses that the /v1 routes document, besides 422. */
export const BATCH_FAILURES = {
  413: 'The body is larger than the limit',
  415: 'The body has a Content-Encoding',
  503: 'Too many /v1 requests wait, or this one waited too long; retry after the time in Retry-After',
};

/**
 * The number of bodies of the maximum size whose memory the bodies that arrive or wait may take. Chosen by hand: more take more
 * memory, and let more slow clients send large bodies at a time.
 */
const WAITING_BODIES = 2;
export class BatchRunner extends Scheduler {
  readonly engine: Pick<VecEnvOptions, 'backend' | 'kernel' | 'threads'>;
  readonly replayBatch: Batch;
  readonly worldDigest = createWorld().digest;
  /** Counts rows or rollouts in the metrics. */
  readonly count: (what: BatchKind, count: number) => void;

  constructor({ backend, kernel, threads, replayBatch, onDone, ...limits }: BatchRunnerOptions) {
    const { batchRequests, batchQueue, batchWaitMs, bodyLimit } = limits;
    super({ working: batchRequests, waiting: batchQueue, waitMs: batchWaitMs }, WAITING_BODIES * bodyLimit);
    this.engine = { backend, kernel, threads };
    this.replayBatch = replayBatch;
    this.count = onDone;
  }

  /**
   * Reads and validates a request's body, and streams the answer.
   * @param work returns the pieces of the JSON answer. It must await `turn` (of Scheduler) before each slice.
   * @param lengthOf estimates the length of the answer in characters. Requests with large bodies or answers run one at a
   *   time, because they need much memory.
   */
  answer<Schema extends z.ZodObject>(
    http: HttpRequest,
    schema: Schema,
    work: (request: z.output<Schema>, turn: () => Promise<void>) => Promise<Pieces>,
    lengthOf: (request: z.output<Schema>) => number = () => 0,
  ): Promise<Response> {
    const turn = () => this.turn(http.signal);
    return this.runBatch(
      http,
      (hold) => http.bytes(hold),
      async (body) => {
        await turn();
        const request = parse(schema, readFields(body, keysOf(schema)));
        const length = Math.max(body.length, lengthOf(request));
        return jsonPieces(await this.runLarge(length, () => work(request, turn)));
      },
    );
  }

  /**
   * Answers a request whose body is a binary frame. Large requests run one at a time.
   * @param work parses the frame and computes the bytes of the answer. It must await `turn` (of Scheduler) before each
   *   slice.
   */
  answerFrame(
    http: HttpRequest,
    work: (body: Buffer, turn: () => Promise<void>) => Promise<KnownBytes>,
  ): Promise<Response> {
    const turn = () => this.turn(http.signal);
    return this.runBatch(
      http,
      (hold) => http.bytes(hold),
      async (body) => {
        const begin = async () => {
          await turn();
          return work(body, turn);
        };
        return bytesResponse(await this.runLarge(body.length, begin));
      },
    );
  }
}
