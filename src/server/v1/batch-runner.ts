/** Runs /v1 requests: reads the body, computes in slices, and streams the answer. */
import type { z } from 'zod';
import type { Batch } from '../../engine/backends/backend.js';
import type { VecEnvOptions } from '../../engine/vec-env/vec-env-options.js';
import { createWorld } from '../../world/world.js';
import {
  bytesResponse,
  type Fields,
  jsonPieces,
  type KnownBytes,
  objectPieces,
} from '../http/json-response.js';
import type { Route } from '../http/openapi.js';
import type { HttpRequest } from '../http/request.js';
import { inBody, parse } from '../protocol/errors.js';
import { type Hold, Scheduler } from '../scheduler.js';
import { type Keys, keysOf, readFields } from './json-columns.js';

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

/** What a batch produces, as the metrics count it. */
export type BatchKind = 'scored' | 'rollouts' | 'prompts' | 'parsed';

/** What a request is computed with. */
export interface BatchContext extends Pick<BatchRunner, 'engine' | 'replayBatch' | 'worldDigest' | 'count'> {
  /** Must be awaited before each slice of work. */
  readonly turn: () => Promise<void>;
  /** Aborted when the client disconnects. */
  readonly signal: AbortSignal;
}

/** A route whose requests have rows. */
export interface BatchRoute<Schema extends z.ZodObject = z.ZodObject> {
  readonly path: `/v1/${string}`;
  readonly summary: string;
  readonly request: Schema;
  readonly response: z.ZodType;
  /** Estimates the length of the answer in characters, if it may be longer than the body. */
  lengthOf?(request: z.output<Schema>): number;
  /** Checks and computes a request. @returns the answer. */
  answer(request: z.output<Schema>, context: BatchContext): Promise<Fields>;
  /** Answers a body that is a binary frame. */
  answerFrame?(body: Buffer, context: BatchContext): Promise<KnownBytes>;
}

/** The error statuses that the /v1 routes document, besides 422. */
const FAILURES = {
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
  /** Counts rows or rollouts in the metrics. */
  readonly count: (what: BatchKind, count: number) => void;
  readonly worldDigest = createWorld().digest;

  constructor({ backend, kernel, threads, replayBatch, onDone, ...limits }: BatchRunnerOptions) {
    const { batchRequests, batchQueue, batchWaitMs, bodyLimit } = limits;
    super({ working: batchRequests, waiting: batchQueue, waitMs: batchWaitMs }, WAITING_BODIES * bodyLimit);
    this.engine = { backend, kernel, threads };
    this.replayBatch = replayBatch;
    this.count = onDone;
  }

  /** Returns the route of a batch. */
  routeOf<Schema extends z.ZodObject>(batch: BatchRoute<Schema>): Route {
    const { path, summary, request, response, answerFrame } = batch;
    const keys = keysOf(request);
    return {
      ...{ method: 'post', path, summary, request, response, failures: FAILURES },
      acceptsFrames: answerFrame !== undefined,
      handle: (http) => this.#handle(http, batch, keys),
    };
  }

  /** Reads a body, and computes the answer. Requests with large bodies or answers run one at a time: they need much memory. */
  #handle<Schema extends z.ZodObject>(
    http: HttpRequest,
    batch: BatchRoute<Schema>,
    keys: Keys,
  ): Promise<Response> {
    const turn = () => this.turn(http.signal);
    const { engine, replayBatch, worldDigest, count } = this;
    const context = { engine, replayBatch, worldDigest, count, turn, signal: http.signal };
    const read = (hold: Hold) => http.bytes(hold);
    return this.runBatch(http, read, async (body) => {
      if (http.isFrame) {
        const work = () => turn().then(() => batch.answerFrame!(body, context));
        return bytesResponse(await this.runLarge(body.length, work));
      }
      await turn();
      const request = parse(batch.request, readFields(body, keys), inBody);
      const length = Math.max(body.length, batch.lengthOf?.(request) ?? 0);
      return jsonPieces(
        objectPieces(await this.runLarge(length, () => batch.answer(request, context)), turn),
      );
    });
  }
}
