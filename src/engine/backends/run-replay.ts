/** Replays rows for a backend without its own replay: resets an environment per row, runs the history, then steps. */

import { NUM_BELIEFS, NUM_COMPONENTS, NUM_STEPS, PROFILE_SIZE } from '../../world/fields.js';
import type { World } from '../../world/world.js';
import { beliefMae, clampSkill, skillTerm } from '../reference/grade.js';
import { clampBelief } from '../reference/profile.js';
import { NO_ACTION } from '../validate/steps.js';
import type { Batch, Outputs, Refusal, ReplayRequest } from './backend.js';
import { allocateOutputs } from './outputs.js';
import { findHistoryRefusal } from './refusals.js';

/** Opens a batch of `numEnvs` environments of the same backend and world, with these outputs. */
export type OpenReplayBatch = (numEnvs: number, outputs: Outputs) => Promise<Batch>;

/** A row without a belief has the `beliefMae` of the belief [0.5, 0.5, 0.5]. */
const NO_BELIEF = 0.5;

/** Replays rows in a batch of its own. Opens a larger batch for more rows. */
export class RunReplay {
  readonly #world: World;
  readonly #open: OpenReplayBatch;
  #outputs: Outputs | null = null;
  #batch: Batch | null = null;

  constructor(world: World, open: OpenReplayBatch) {
    this.#world = world;
    this.#open = open;
  }

  /** Does the same as `Batch.replay`. */
  async replay(request: ReplayRequest): Promise<Refusal | null> {
    const refusal = findHistoryRefusal(request);
    if (refusal !== null || request.order.length === 0) return refusal;
    const { batch, outputs } = await this.#require(request.order.length);
    const rows = new Rows(request.order, outputs.rewards.length);
    // No call below refuses: the codes are valid, and no episode is over before its last action.
    batch.reset(resetOf(request, rows));
    await batch.run(runOf(request, rows));
    const [hashes, targets] = [await batch.stateHash(), await batch.beliefTargets()];
    if (request.order.some((row) => request.actions[row] !== NO_ACTION)) {
      batch.submit(stepOf(request, rows));
      await batch.read(['rewards']);
    }
    for (const [env, row] of request.order.entries()) {
      request.hashes[row] = hashes[env];
      request.rewards[row] = request.actions[row] === NO_ACTION ? Number.NaN : outputs.rewards[env];
      this.#scoreBelief(request, row, targets.subarray(env * NUM_BELIEFS, (env + 1) * NUM_BELIEFS));
    }
    return null;
  }

  /** Writes the error and the skill term of a row's belief. @param target f32 [3]. */
  #scoreBelief({ beliefs, given, ...out }: ReplayRequest, row: number, target: Float32Array): void {
    const { params } = this.#world;
    const isGiven = beliefs !== null && given?.[row] === 1;
    const belief = Float32Array.from({ length: NUM_BELIEFS }, (_, k) =>
      clampBelief(isGiven ? beliefs[row * NUM_BELIEFS + k] : NO_BELIEF, params.smallestBelief),
    );
    out.beliefMae[row] = beliefMae(params, belief, target);
    out.beliefSkill[row] = isGiven ? clampSkill(skillTerm(params, belief, target)) : -1;
  }

  /** Returns a batch of at least `numEnvs` environments. */
  async #require(numEnvs: number): Promise<{ batch: Batch; outputs: Outputs }> {
    if (this.#batch === null || this.#outputs === null || this.#outputs.rewards.length < numEnvs) {
      this.close();
      this.#outputs = allocateOutputs(numEnvs);
      this.#batch = await this.#open(numEnvs, this.#outputs);
    }
    return { batch: this.#batch, outputs: this.#outputs };
  }

  close(): void {
    this.#batch?.close();
    this.#batch = null;
  }
}

/** The rows of a replay: row `order[env]` is in environment `env`. Copied columns have zeros for further environments. */
class Rows {
  readonly #order: Uint32Array;
  readonly #numEnvs: number;

  constructor(order: Uint32Array, numEnvs: number) {
    this.#order = order;
    this.#numEnvs = numEnvs;
  }

  get numEnvs(): number {
    return this.#numEnvs;
  }

  /** Copies the rows of a column with `width` entries per row. */
  u8(column: Uint8Array | Int8Array, width = 1): Uint8Array {
    return this.#copy(column, width, new Uint8Array(this.#numEnvs * width));
  }

  u32(column: Uint32Array): Uint32Array {
    return this.#copy(column, 1, new Uint32Array(this.#numEnvs));
  }

  f32(column: Float32Array, width: number): Float32Array {
    return this.#copy(column, width, new Float32Array(this.#numEnvs * width));
  }

  #copy<To extends Uint8Array | Uint32Array | Float32Array>(
    column: Int8Array | To,
    width: number,
    to: To,
  ): To {
    for (const [env, row] of this.#order.entries()) {
      to.set(column.subarray(row * width, (row + 1) * width), env * width);
    }
    return to;
  }
}

/** Returns the reset that begins the rows' episodes. */
function resetOf({ seeds, modes, profiles, grader }: ReplayRequest, rows: Rows) {
  const graders = new Float32Array(rows.numEnvs * NUM_COMPONENTS);
  for (let env = 0; env < rows.numEnvs; env++) graders.set(grader, env * NUM_COMPONENTS);
  return {
    ...{ mask: null, seeds: rows.u32(seeds), modes: rows.u8(modes), graders },
    profiles: rows.f32(profiles ?? new Float32Array(), PROFILE_SIZE),
  };
}

/** Returns the run that plays the rows' histories. */
function runOf({ histories, stops, beliefHistories, historyGiven }: ReplayRequest, rows: Rows) {
  const beliefs =
    beliefHistories === null || historyGiven === null
      ? null
      : {
          kind: 'sequence' as const,
          beliefs: rows.f32(beliefHistories, NUM_STEPS * NUM_BELIEFS),
          given: rows.u8(historyGiven, NUM_STEPS),
        };
  const policy = { kind: 'sequence' as const, actions: rows.u8(histories, NUM_STEPS) };
  return { policy, beliefs, stops: rows.u8(stops), trajectory: null };
}

/** Returns the step that takes the rows' actions. */
function stepOf({ order, actions, beliefs, given }: ReplayRequest, rows: Rows) {
  const stepMask = new Uint8Array(rows.numEnvs);
  for (const [env, row] of order.entries()) stepMask[env] = Number(actions[row] !== NO_ACTION);
  return {
    ...{ actions: rows.u8(actions), stepMask, resetMask: null, resetSeeds: null },
    beliefs: beliefs && rows.f32(beliefs, NUM_BELIEFS),
    given: given && rows.u8(given),
  };
}
