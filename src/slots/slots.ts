/**
 * Episodes of many players as slots of one batch. What players ask for within a turn of the event loop is done together,
 * in one masked step: they need not be in phase, and nobody waits for the slowest.
 */
import type { ObservationOptions } from '../observe/options.js';
import type { StepResult } from '../vec-env/options.js';
import { createVecEnv, type VecEnv } from '../vec-env.js';
import { NUM_BELIEFS } from '../world/fields.js';
import type { World } from '../world/world.js';

/** An episode to begin. */
export interface SlotEpisode {
  readonly seed: number;
  /** 'sampled', 'discrete' or a profile's name. */
  readonly profile: string;
  /** f32 [6]. */
  readonly grader: Float32Array;
}

/** A step to take. */
export interface SlotAction {
  /** Code, 0 to 9. */
  readonly code: number;
  /** [3], in [0, 1] each; null where none is given. */
  readonly belief: ArrayLike<number> | null;
}

/** What is made of a slot's results before others overwrite them. */
export type Read<T> = (shown: StepResult, slot: number) => T;

interface Waiting<Asked> {
  readonly slot: number;
  readonly asked: Asked;
  settle(shown: StepResult): void;
  fail(error: unknown): void;
}

/** How the batch computes, and how many steps it takes at once, for metrics. */
export interface SlotsOptions {
  readonly capacity: number;
  readonly backend?: string;
  readonly kernel?: string;
  /** Default 1: a step of so few takes less time than waking another. */
  readonly threads?: number;
  /** Default: OBSERVATION_FIELDS as they are. */
  readonly observation?: ObservationOptions;
  readonly onStepped?: (slots: number) => void;
}

/** Slots of the batch when few are taken. It grows by doubling, so that few players do not pay for many. */
const FIRST_SIZE = 64;

export class Slots {
  readonly #options: SlotsOptions;
  #env: VecEnv;
  /** The next one to be taken last. */
  #free: number[] = [];
  #taken = 0;
  #resets = new Map<number, Waiting<SlotEpisode>>();
  #steps = new Map<number, Waiting<SlotAction>>();
  #flushing: NodeJS.Immediate | null = null;

  /** @throws as `createVecEnv`. */
  constructor(options: SlotsOptions) {
    this.#options = options;
    this.#env = this.#open();
  }

  /** How many are taken. */
  get taken(): number {
    return this.#taken;
  }

  get capacity(): number {
    return this.#options.capacity;
  }

  get world(): World {
    return this.#env.world;
  }

  /** A slot for a player; null if all are taken. */
  claim(): number | null {
    if (this.#taken === this.capacity) return null;
    if (this.#free.length === 0) this.#grow();
    this.#taken++;
    return this.#free.pop()!;
  }

  /** Gives a slot back. What it still waits for is not done, and its promise never settles. */
  release(slot: number): void {
    this.#resets.delete(slot);
    this.#steps.delete(slot);
    this.#free.push(slot);
    this.#taken--;
    // Only an empty batch can be made smaller: slots keep their numbers.
    if (this.#taken === 0 && this.#env.numEnvs > FIRST_SIZE) {
      this.#env.close();
      this.#env = this.#open();
    }
  }

  /** Begins an episode; one call at a time for each slot. */
  reset<T>(slot: number, begin: SlotEpisode, read: Read<T>): Promise<T> {
    return this.#wait(this.#resets, slot, begin, read);
  }

  /** Takes a step of an episode that was begun and is not over; one call at a time for each slot. */
  step<T>(slot: number, action: SlotAction, read: Read<T>): Promise<T> {
    return this.#wait(this.#steps, slot, action, read);
  }

  /** Nothing more is done: promises that are waited for never settle. */
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
    // After all sockets that can be read now have been: what came by them is done together.
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

  /** @param waiting of one profile and grader. */
  #resetAll(waiting: readonly Waiting<SlotEpisode>[]): StepResult {
    const { numEnvs } = this.#env;
    const [seed, mask] = [new Uint32Array(numEnvs), new Uint8Array(numEnvs)];
    for (const { slot, asked } of waiting) {
      seed[slot] = asked.seed;
      mask[slot] = 1;
    }
    const { profile, grader } = waiting[0].asked;
    return this.#env.reset({ seed, mask, profiles: profile, graders: grader });
  }

  #stepAll(waiting: readonly Waiting<SlotAction>[]): StepResult {
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

/** Slots before `end`, the first, `first`, last: the lowest are taken first. */
const downFrom = (end: number, first: number): number[] =>
  Array.from({ length: end - first }, (_, k) => end - 1 - k);

/** Resets that one call can do: profile and grader are for all its slots. */
function alike(resets: readonly Waiting<SlotEpisode>[]): Iterable<readonly Waiting<SlotEpisode>[]> {
  const groups = new Map<string, Waiting<SlotEpisode>[]>();
  for (const each of resets) {
    const { profile, grader } = each.asked;
    const key = `${profile} ${grader.join()}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [each]);
    else group.push(each);
  }
  return groups.values();
}

/** Whatever goes wrong is told to all who waited for it, and to nobody else. */
function attempt(waiting: readonly Waiting<unknown>[], act: () => StepResult): void {
  try {
    const shown = act();
    for (const each of waiting) each.settle(shown);
  } catch (error) {
    for (const each of waiting) each.fail(error);
  }
}
