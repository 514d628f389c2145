/** Replays rows: to the states in which their actions are proposed, and one step on. */
import type { Batch, Outputs } from '../../backends/backend.js';
import type { World } from '../../world/world.js';
import { findDistinct } from './distinct.js';
import { Proposals } from './proposals.js';
import type { Replayed, Taken } from './rows.js';
import { States } from './states.js';

/**
 * Rows that share their states are forked from them where at most this many of all rows have a state of their own. A
 * state takes some 90 ns to reach and a copy of it 15 (4096 rows, AVX-512), so pairs already gain.
 */
const FORK_SHARE = 0.75;

interface Opened {
  readonly batch: Batch;
  readonly outputs: Outputs;
}

export class ReplayEngine {
  readonly #open: () => Opened;
  readonly #plain: Opened;
  /** Where forks go; opened when there are any. */
  #forked: Opened | null = null;
  readonly #states: States;
  readonly #proposals: Proposals;
  readonly #firsts: Uint32Array;
  readonly #origins: Uint32Array;
  /** 0, 1, 2, ...: every row has a state of its own. */
  readonly #own: Uint32Array;

  /** @param open batches that are alike. @param grader f32 [6]: of every row. */
  constructor(world: World, open: () => Opened, grader: Float32Array) {
    this.#open = open;
    this.#plain = open();
    const size = this.#plain.outputs.rewards.length;
    this.#states = new States(this.#plain.batch, size, grader);
    this.#proposals = new Proposals(world, size);
    this.#firsts = new Uint32Array(size);
    this.#origins = new Uint32Array(size);
    this.#own = Uint32Array.from({ length: size }, (_, k) => k);
  }

  /** @param order u32: the rows to replay, no more than a batch has slots, those of one length together. */
  replay(rows: Taken, order: Uint32Array, out: Replayed): void {
    if (order.length === 0) return;
    const states = findDistinct(rows, order, this.#firsts, this.#origins);
    if (states <= FORK_SHARE * order.length) this.#replayForked(rows, order, states, out);
    else this.#replayEach(rows, order, out);
  }

  #replayEach(rows: Taken, order: Uint32Array, out: Replayed): void {
    const { batch, outputs } = this.#plain;
    const known = this.#states.reach(rows, order);
    this.#proposals.take(rows, order, batch);
    this.#proposals.put(order, this.#own, known, outputs, out);
  }

  #replayForked(rows: Taken, order: Uint32Array, states: number, out: Replayed): void {
    this.#forked ??= this.#open();
    const { batch, outputs } = this.#forked;
    const known = this.#states.reach(rows, this.#firsts.subarray(0, states));
    batch.gather(this.#plain.batch, this.#origins);
    this.#proposals.take(rows, order, batch);
    this.#proposals.put(order, this.#origins, known, outputs, out);
  }

  close(): void {
    this.#plain.batch.close();
    this.#forked?.batch.close();
  }
}
