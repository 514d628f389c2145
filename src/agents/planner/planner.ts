/** The planner: infers the profile, imagines episodes with posterior samples, and plans again at each step. */

import { NODE } from '../../engine/backends/node.js';
import {
  isAsynchronous,
  type OpenBatch,
  openBatch,
  openSyncBatch,
} from '../../engine/backends/open-batch.js';
import { runAsync, runSync } from '../../engine/engine-calls.js';
import { copyArgument } from '../../engine/validate/copy-arguments.js';
import { CallQueue } from '../../engine/vec-env/async-vec-env.js';
import { OBSERVATION_SIZE } from '../../world/fields.js';
import type { Objective } from './objectives.js';
import { explanationWords, type PlanReport } from './plan-report.js';
import { type Decision, PlannerCore } from './planner-core.js';
import { type PlannerOptions, type PlannerRequest, toPlannerRequest } from './planner-options.js';

export type { Decision } from './planner-core.js';

/** The fields of a `RolloutView` that a planner reads. */
export interface PlannerView {
  readonly observations: Float32Array;
  readonly playing: Uint8Array;
}

/**
 * Plays episodes from their observations. At each step it draws profiles from the posterior, imagines the rest of
 * the episode with them, under noise that no real episode has, and plays the first action of the best action sequence that
 * it finds. A decision depends only on the episode's observations and the planner's options, not on the other episodes of the
 * batch. The backend, kernel and threads do not change decisions.
 */
export class Planner implements Disposable {
  /** The number of episodes that the planner plays. */
  readonly numEnvs: number;
  /** The objective that the planner maximises. */
  readonly objective: Objective;
  /** Whether the planner was given the true profiles. Then it is not a valid agent. */
  readonly isOracle: boolean;
  readonly #core: PlannerCore;
  /** `decide` as the policy of `rolloutGroups`, for rollouts that begin at step 0. */
  readonly policy = ({ observations, playing }: PlannerView): Decision => this.decide(observations, playing);

  /**
   * Opens a planner.
   * @throws InputError `wrong_type`, `wrong_length`, `out_of_range`, `unknown_option`, `unknown_name`, `bad_grader`,
   *   `bad_profile` or `bad_world`; BackendError if the requested backend or kernel is not available.
   */
  constructor(options: PlannerOptions) {
    const request = toPlannerRequest(options);
    this.numEnvs = request.numEnvs;
    this.objective = request.objective;
    this.isOracle = request.oracle !== null;
    this.#core = runSync(PlannerCore.open(request, openSyncBatch));
  }

  /**
   * Chooses the next action of every episode that plays.
   * @param observations f32 [numEnvs, 22], row-major, fields as in OBSERVATION_FIELDS. Pass the observation of every step,
   *   from the first on. An observation at step 0 begins an episode.
   * @param playing u8 [numEnvs]: rows where it is 0 are ignored. Default: all play.
   * @throws InputError `wrong_type`, `wrong_length`, or `out_of_range` for invalid numbers and steps out of
   *   order; StateError `closed`. An error changes nothing.
   */
  decide(observations: Float32Array, playing?: Uint8Array): Decision {
    return runSync(this.#core.decide(observations, playing));
  }

  /**
   * Returns the numbers behind the last decision for episode i. Evaluates the plan and the best plan with another first action,
   * which takes some milliseconds.
   * @throws InputError `out_of_range`; StateError `not_reset` before the first decision, `closed`.
   */
  report(i: number): PlanReport {
    return runSync(this.#core.report(i));
  }

  /**
   * Returns the last decision for episode i in words: the observations, the belief, the plan and its reasons.
   * @throws as `report`.
   */
  reasons(i: number): string {
    return explanationWords(runSync(this.#core.explain(i)));
  }

  /** Frees the planner. Calling it again does nothing. */
  close(): void {
    this.#core.close();
  }

  /** `close`, for `using`. */
  [Symbol.dispose](): void {
    this.close();
  }
}

/**
 * Opens a planner on any backend, including those that compute asynchronously. @returns a promise that rejects with the errors of
 *   the constructor of `Planner`.
 */
export const createAsyncPlanner = (options: PlannerOptions): Promise<AsyncPlanner> =>
  openAsyncPlanner(options, openBatch);

/** Opens a planner. @param openBatch opens the batches of imagined episodes. */
export async function openAsyncPlanner(options: PlannerOptions, openBatch: OpenBatch): Promise<AsyncPlanner> {
  const request = toPlannerRequest(options);
  return new AsyncPlanner(request, await runAsync(PlannerCore.open(request, openBatch)));
}

/**
 * Opens a Planner, or an AsyncPlanner on a backend whose calls return promises.
 * @throws as the constructor of `Planner`, or returns a promise that rejects with these errors.
 */
export const openPlanner = (options: PlannerOptions): Planner | Promise<AsyncPlanner> =>
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
    return explanationWords(await this.#queue.add(() => runAsync(this.#core.explain(i))));
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
