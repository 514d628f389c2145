/**
 * Plays the episodes of many callers, such as sessions of the server, in one vector environment.
 *
 * The steps requested in one turn of the event loop run as one masked step, and the resets as one call for each profile
 * and grader. Callers may be at different steps, and no caller waits for another.
 */

import { createVecEnv, type VecEnv } from '../engine/node.js';
import type { ObservationOptions } from '../engine/observe/encoding.js';
import type { StepResult } from '../engine/vec-env/vec-env-options.js';
import { NUM_BELIEFS } from '../world/fields.js';
import type { World } from '../world/world.js';

/** An episode to begin. */
interface PoolEpisode {
  /** u32. */
  readonly seed: number;
  /** 'sampled', 'discrete' or a profile's name. */
  readonly profile: string;
  /** The weights, f32 [8]. */
  readonly grader: Float32Array;
}

/** A step to take. */
interface PoolAction {
  /** The action code, 0 to 9. */
  readonly code: number;
  /** [3], each in [0, 1]; null for no belief. */
  readonly belief: ArrayLike<number> | null;
}

/** Reads the outputs of one environment, before the next step or reset overwrites them. */
type ReadOutputs<T> = (outputs: StepResult, envIndex: number) => T;

/** A reset or step that waits for the end of the turn. */
interface Pending<Request> {
  readonly envIndex: number;
  readonly request: Request;
  resolve(outputs: StepResult): void;
  reject(error: unknown): void;
}

/** Options of an EpisodePool. */
export interface EpisodePoolOptions {
  /** The maximum number of environments. */
  readonly capacity: number;
  /** As in `createVecEnv`. */
  readonly backend?: string;
  /** As in `createVecEnv`. */
  readonly kernel?: string;
  /** Default 1: with few environments, waking a second thread takes longer than the step. */
  readonly threads?: number;
  /** Default: the raw OBSERVATION_FIELDS. */
  readonly observation?: ObservationOptions;
  /** Called after each masked step, even one that failed, with the number of its environments. */
  readonly onStepped?: (numEnvs: number) => void;
}

/**
 * The initial number of environments. The number doubles when all are taken, up to `capacity`. Chosen by hand: a larger pool
 * takes more memory, and a smaller one is copied more often.
 */
const INITIAL_SIZE = 64;

/** Environments that callers claim, reset, step and release one by one. */
export class EpisodePool {
  readonly #options: EpisodePoolOptions;
  #env: VecEnv;
  /** The indices of free environments. `claim` takes the last entry. */
  #free: number[] = [];
  #taken = 0;
  #resets = new Map<number, Pending<PoolEpisode>>();
  #steps = new Map<number, Pending<PoolAction>>();
  #scheduled: NodeJS.Immediate | null = null;

  /** Opens the first environments. @throws as `createVecEnv`. */
  constructor(options: EpisodePoolOptions) {
    this.#options = options;
    this.#env = this.#open();
  }

  /** The number of environments in use. */
  get taken(): number {
    return this.#taken;
  }

  get capacity(): number {
    return this.#options.capacity;
  }

  get world(): World {
    return this.#env.world;
  }

  /** Reserves an environment. Returns its index; null only if `capacity` environments are taken. */
  claim(): number | null {
    if (this.#taken === this.capacity) return null;
    if (this.#free.length === 0) this.#grow();
    this.#taken++;
    return this.#free.pop()!;
  }

  /** Gives an environment back. Its pending calls are dropped; their promises never settle. */
  release(envIndex: number): void {
    this.#resets.delete(envIndex);
    this.#steps.delete(envIndex);
    this.#free.push(envIndex);
    this.#taken--;
    // Only an unused pool shrinks, because environments in use keep their indices.
    if (this.#taken === 0 && this.#env.numEnvs > INITIAL_SIZE) {
      this.#env.close();
      this.#env = this.#open();
    }
  }

  /** Begins an episode. Await the promise before the next reset or step of this environment. */
  reset<T>(envIndex: number, episode: PoolEpisode, read: ReadOutputs<T>): Promise<T> {
    return this.#enqueue(this.#resets, envIndex, episode, read);
  }

  /** Takes a step of an episode. Await the promise before the next reset or step of this environment. */
  step<T>(envIndex: number, action: PoolAction, read: ReadOutputs<T>): Promise<T> {
    return this.#enqueue(this.#steps, envIndex, action, read);
  }

  /** Stops all work. Pending promises never settle. */
  close(): void {
    if (this.#scheduled !== null) clearImmediate(this.#scheduled);
    this.#env.close();
  }

  #enqueue<Request, T>(
    queue: Map<number, Pending<Request>>,
    envIndex: number,
    request: Request,
    read: ReadOutputs<T>,
  ): Promise<T> {
    // setImmediate runs after all readable sockets have been read, so their requests share one step.
    this.#scheduled ??= setImmediate(() => this.#flush());
    return new Promise((resolve, reject) => {
      const resolveWith = (outputs: StepResult) => resolve(read(outputs, envIndex));
      queue.set(envIndex, { envIndex, request, resolve: resolveWith, reject });
    });
  }

  #flush(): void {
    this.#scheduled = null;
    const [resets, steps] = [[...this.#resets.values()], [...this.#steps.values()]];
    this.#resets.clear();
    this.#steps.clear();
    for (const group of groupByStart(resets)) settleAll(group, () => this.#resetAll(group));
    if (steps.length === 0) return;
    settleAll(steps, () => this.#stepAll(steps));
    this.#options.onStepped?.(steps.length);
  }

  /** Resets environments in one call. @param resets requests with the same profile and grader. */
  #resetAll(resets: readonly Pending<PoolEpisode>[]): StepResult {
    const { numEnvs } = this.#env;
    const [seed, mask] = [new Uint32Array(numEnvs), new Uint8Array(numEnvs)];
    for (const { envIndex, request } of resets) {
      seed[envIndex] = request.seed;
      mask[envIndex] = 1;
    }
    const { profile, grader } = resets[0].request;
    return this.#env.reset({ seed, mask, profiles: profile, graders: grader });
  }

  /** Steps environments in one call. */
  #stepAll(steps: readonly Pending<PoolAction>[]): StepResult {
    const { numEnvs } = this.#env;
    const [actions, mask] = [new Uint8Array(numEnvs), new Uint8Array(numEnvs)];
    let beliefs: Float32Array | undefined;
    for (const { envIndex, request } of steps) {
      actions[envIndex] = request.code;
      mask[envIndex] = 1;
      if (request.belief === null) continue;
      beliefs ??= new Float32Array(numEnvs * NUM_BELIEFS).fill(Number.NaN);
      beliefs.set(request.belief, envIndex * NUM_BELIEFS);
    }
    return this.#env.step(actions, { mask, beliefs });
  }

  #open(): VecEnv {
    const { capacity, backend, kernel, threads = 1, observation } = this.#options;
    const numEnvs = Math.min(INITIAL_SIZE, capacity);
    const env = createVecEnv({ numEnvs, threads, backend, kernel, observation });
    env.reset({ seed: 0 });
    this.#free = indicesDownFrom(env.numEnvs, 0);
    return env;
  }

  /** Doubles the number of environments, up to `capacity`. Environments in use keep their index and state. */
  #grow(): void {
    const old = this.#env;
    const size = Math.min(2 * old.numEnvs, this.capacity);
    // The new environments are copies of environment 0 until they are reset.
    const indices = Uint32Array.from({ length: size }, (_, i) => (i < old.numEnvs ? i : 0));
    this.#env = old.fork(indices);
    this.#free = indicesDownFrom(size, old.numEnvs);
    old.close();
  }
}

/** Returns the indices from `end - 1` down to `first`, so that `claim` takes the lowest index first. */
const indicesDownFrom = (end: number, first: number): number[] =>
  Array.from({ length: end - first }, (_, k) => end - 1 - k);

/** Groups resets by profile and grader. One call resets all environments of a group. */
function groupByStart(resets: readonly Pending<PoolEpisode>[]): Iterable<readonly Pending<PoolEpisode>[]> {
  const groups = new Map<string, Pending<PoolEpisode>[]>();
  for (const reset of resets) {
    const { profile, grader } = reset.request;
    const key = `${profile} ${grader.join()}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [reset]);
    else group.push(reset);
  }
  return groups.values();
}

/** Makes one call for several requests. Resolves each with the outputs, or rejects each with the error. */
function settleAll(requests: readonly Pending<unknown>[], call: () => StepResult): void {
  try {
    const outputs = call();
    for (const request of requests) request.resolve(outputs);
  } catch (error) {
    for (const request of requests) request.reject(error);
  }
}
