/** AsyncPlanner: Planner with promises, for any backend, including those that compute asynchronously. */
import { isAsynchronous, type OpenBatch, openAnyBatch } from '../../engine/backends/any-batch.js';
import { NODE } from '../../engine/backends/node.js';
import { runAsync } from '../../engine/engine-calls.js';
import { copyArgument } from '../../engine/validate/copy-arguments.js';
import { CallQueue } from '../../engine/vec-env/call-queue.js';
import { OBSERVATION_SIZE } from '../../world/fields.js';
import type { Objective } from './objectives.js';
import type { PlanReport } from './plan-report.js';
import { Planner, type PlannerView } from './planner.js';
import { type Decision, PlannerCore } from './planner-core.js';
import { type PlannerOptions, type PlannerRequest, toPlannerRequest } from './planner-options.js';

/** Opens a planner on any backend. @returns a promise that rejects with the errors of the constructor of `Planner`. */
export async function createAsyncPlanner(options: PlannerOptions): Promise<AsyncPlanner> {
  return openAsyncPlanner(options, openAnyBatch);
}

/** Opens a planner. @param openBatch opens the batches of imagined episodes. */
export async function openAsyncPlanner(options: PlannerOptions, openBatch: OpenBatch): Promise<AsyncPlanner> {
  const request = toPlannerRequest(options);
  return new AsyncPlanner(request, await runAsync(PlannerCore.open(request, openBatch)));
}

/** A planner of either API. Await the results of its calls. */
export type AnyPlanner = Planner | AsyncPlanner;

/**
 * Opens a Planner, or an AsyncPlanner on a backend whose calls return promises.
 * @throws as the constructor of `Planner`, or returns a promise that rejects with these errors.
 */
export const openAnyPlanner = (options: PlannerOptions): Planner | Promise<AsyncPlanner> =>
  isAsynchronous(NODE, options.backend) ? createAsyncPlanner(options) : new Planner(options);

/**
 * Plays episodes like Planner, with the same decisions. Its methods return promises. Calls take effect in the order in
 * which they are made. Arguments are copied during the call.
 */
export class AsyncPlanner implements AsyncDisposable {
  /** The number of episodes that the planner plays. */
  readonly numEnvs: number;
  /** The objective that the planner maximises. */
  readonly objective: Objective;
  /** Whether the planner was given the true profiles. Then it is not a valid agent. */
  readonly isOracle: boolean;
  readonly #core: PlannerCore;
  readonly #queue = new CallQueue();
  /** `decide` as the policy of `rolloutGroups`, for rollouts that begin at step 0. */
  readonly policy = ({ observations, playing }: PlannerView): Promise<Decision> =>
    this.decide(observations, playing);

  /** Use `createAsyncPlanner`. */
  constructor({ numEnvs, objective, oracle }: PlannerRequest, core: PlannerCore) {
    this.numEnvs = numEnvs;
    this.objective = objective;
    this.isOracle = oracle !== null;
    this.#core = core;
  }

  /** Does the same as `Planner.decide`. */
  async decide(observations: Float32Array, playing?: Uint8Array): Promise<Decision> {
    const maxLength = this.numEnvs * OBSERVATION_SIZE;
    const [rows, mask] = [copyArgument(observations, maxLength), copyArgument(playing, maxLength)];
    return this.#queue.add(() => runAsync(this.#core.decide(rows, mask)));
  }

  /** Does the same as `Planner.report`. */
  async report(i: number): Promise<PlanReport> {
    return this.#queue.add(() => runAsync(this.#core.report(i)));
  }

  /** Does the same as `Planner.reasons`. */
  async reasons(i: number): Promise<string> {
    return this.#queue.add(() => runAsync(this.#core.reasons(i)));
  }

  /** Frees the planner after all earlier calls. Calling it again does nothing. */
  async close(): Promise<void> {
    return this.#queue.add(() => this.#core.close());
  }

  /** `close`, for `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
