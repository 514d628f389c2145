/**
 * Plays the episodes of many players in one batch.
 *
 * All requests of one turn of the event loop run as one masked step. The players need not be at the same step, and no
 * player waits for another.
 */

import { createVecEnv, type VecEnv } from '../engine/node.js';
import type { ObservationOptions } from '../engine/observe/observation-options.js';
import type { StepResult } from '../engine/vec-env/vec-env-options.js';
import { NUM_BELIEFS } from '../world/fields.js';
import type { World } from '../world/world.js';

/** An episode to begin. */
export interface PoolEpisode {
  readonly seed: number;
  /** 'sampled', 'discrete' or a profile's name. */
  readonly profile: string;
  /** f32 [6]. */
  readonly grader: Float32Array;
}

/** A step to take. */
export interface PoolAction {
  /** Code, 0 to 9. */
  readonly code: number;
  /** [3], each in [0, 1]; null for no belief. */
  readonly belief: ArrayLike<number> | null;
}

/** Reads the results of one environment, before the next call overwrites them. */
export type Read<T> = (shown: StepResult, slot: number) => T;

interface Waiting<Asked> {
  readonly slot: number;
  readonly asked: Asked;
  settle(shown: StepResult): void;
  fail(error: unknown): void;
}

/** Options of an EpisodePool. */
export interface EpisodePoolOptions {
  readonly capacity: number;
  readonly backend?: string;
  readonly kernel?: string;
  /** Default 1: for so few environments, waking a second thread takes longer than the step. */
  readonly threads?: number;
  /** Default: the raw OBSERVATION_FIELDS. */
  readonly observation?: ObservationOptions;
  readonly onStepped?: (slots: number) => void;
}

/** The size of the batch while few environments are taken. It doubles when they run out. */
const FIRST_SIZE = 64;

export class EpisodePool {
  readonly #options: EpisodePoolOptions;
  #env: VecEnv;
  /** A stack: the last entry is the next to be taken. */
  #free: number[] = [];
  #taken = 0;
  #resets = new Map<number, Waiting<PoolEpisode>>();
  #steps = new Map<number, Waiting<PoolAction>>();
  #flushing: NodeJS.Immediate | null = null;

  /** @throws as `createVecEnv`. */
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

  /** Takes an environment for a player; null if all are taken. */
  claim(): number | null {
    if (this.#taken === this.capacity) return null;
    if (this.#free.length === 0) this.#grow();
    this.#taken++;
    return this.#free.pop()!;
  }

  /** Gives an environment back. Its pending calls are dropped, and their promises never settle. */
  release(slot: number): void {
    this.#resets.delete(slot);
    this.#steps.delete(slot);
    this.#free.push(slot);
    this.#taken--;
    // Only an empty batch shrinks: environments keep their indices.
    if (this.#taken === 0 && this.#env.numEnvs > FIRST_SIZE) {
      this.#env.close();
      this.#env = this.#open();
    }
  }

  /** Begins an episode. One call at a time per environment. */
  reset<T>(slot: number, begin: PoolEpisode, read: Read<T>): Promise<T> {
    return this.#wait(this.#resets, slot, begin, read);
  }

  /** Takes a step of an episode in progress. One call at a time per environment. */
  step<T>(slot: number, action: PoolAction, read: Read<T>): Promise<T> {
    return this.#wait(this.#steps, slot, action, read);
  }

  /** Stops all work. Pending promises never settle. */
  close(): void {
    if (this.#flushing !== null) clearImmediate(this.#flushing);
    this.#env.close();
  }

  #wait<Asked, T>(
    waiting: Map<number, Waiting<Asked>>,
    slot: number,
    asked: Asked,
    read: Read<T>,
  ): Promise<T> {
    // setImmediate runs after all readable sockets were read, so their requests share one step.
    this.#flushing ??= setImmediate(() => this.#flush());
    return new Promise((resolve, reject) => {
      const settle = (shown: StepResult) => resolve(read(shown, slot));
      waiting.set(slot, { slot, asked, settle, fail: reject });
    });
  }

  #flush(): void {
    this.#flushing = null;
    const [resets, steps] = [[...this.#resets.values()], [...this.#steps.values()]];
    this.#resets.clear();
    this.#steps.clear();
    for (const group of alike(resets)) attempt(group, () => this.#resetAll(group));
    if (steps.length === 0) return;
    attempt(steps, () => this.#stepAll(steps));
    this.#options.onStepped?.(steps.length);
  }

  /** @param waiting requests of one profile and grader. */
  #resetAll(waiting: readonly Waiting<PoolEpisode>[]): StepResult {
    const { numEnvs } = this.#env;
    const [seed, mask] = [new Uint32Array(numEnvs), new Uint8Array(numEnvs)];
    for (const { slot, asked } of waiting) {
      seed[slot] = asked.seed;
      mask[slot] = 1;
    }
    const { profile, grader } = waiting[0].asked;
    return this.#env.reset({ seed, mask, profiles: profile, graders: grader });
  }

  #stepAll(waiting: readonly Waiting<PoolAction>[]): StepResult {
    const { numEnvs } = this.#env;
    const [actions, mask] = [new Uint8Array(numEnvs), new Uint8Array(numEnvs)];
    let beliefs: Float32Array | undefined;
    for (const { slot, asked } of waiting) {
      actions[slot] = asked.code;
      mask[slot] = 1;
      if (asked.belief === null) continue;
      beliefs ??= new Float32Array(numEnvs * NUM_BELIEFS).fill(Number.NaN);
      beliefs.set(asked.belief, slot * NUM_BELIEFS);
    }
    return this.#env.step(actions, { mask, beliefs });
  }

  #open(): VecEnv {
    const { capacity, backend, kernel, threads = 1, observation } = this.#options;
    const numEnvs = Math.min(FIRST_SIZE, capacity);
    const env = createVecEnv({ numEnvs, threads, backend, kernel, observation });
    env.reset({ seed: 0 });
    this.#free = downFrom(env.numEnvs, 0);
    return env;
  }

  #grow(): void {
    const old = this.#env;
    const size = Math.min(2 * old.numEnvs, this.capacity);
    const indices = Uint32Array.from({ length: size }, (_, slot) => (slot < old.numEnvs ? slot : 0));
    this.#env = old.fork(indices);
    this.#free = downFrom(size, old.numEnvs);
    old.close();
  }
}

/** The indices from `end - 1` down to `first`; the lowest is taken first. */
const downFrom = (end: number, first: number): number[] =>
  Array.from({ length: end - first }, (_, k) => end - 1 - k);

/** Groups resets by profile and grader, which one reset call shares. */
function alike(resets: readonly Waiting<PoolEpisode>[]): Iterable<readonly Waiting<PoolEpisode>[]> {
  const groups = new Map<string, Waiting<PoolEpisode>[]>();
  for (const each of resets) {
    const { profile, grader } = each.asked;
    const key = `${profile} ${grader.join()}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [each]);
    else group.push(each);
  }
  return groups.values();
}

/** Runs a call for several requests. Each request gets the result, or the error. */
function attempt(waiting: readonly Waiting<unknown>[], act: () => StepResult): void {
  try {
    const shown = act();
    for (const each of waiting) each.settle(shown);
  } catch (error) {
    for (const each of waiting) each.fail(error);
  }
}
