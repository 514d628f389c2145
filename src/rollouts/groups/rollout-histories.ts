/** The histories of rollouts in an asynchronous environment, which policies read synchronously. */
import { HISTORY_STEPS, type HistoryStep } from '../../engine/observe/past-step.js';
import { type LaterStep, replayHistory } from '../../engine/observe/replay-history.js';
import { decodeSnapshot } from '../../engine/snapshot/decode.js';
import type { AsyncVecEnv } from '../../engine/vec-env/async-vec-env.js';
import { StateError } from '../../shared/errors.js';
import { checkInteger } from '../../shared/values.js';
import { NUM_BELIEFS, NUM_STEPS, STATE_WORDS } from '../../world/fields.js';

/** Replays rollouts from their first state and the actions taken since. */
export class RolloutHistories {
  readonly #env: AsyncVecEnv;
  /** u32 [n, STATE_WORDS]: the first states; or the error that `history` throws, if an episode cannot be replayed. */
  readonly #words: Uint32Array | StateError;
  /** The steps of each rollout since its first state. */
  readonly #later: readonly LaterStep[][];

  private constructor(env: AsyncVecEnv, words: Uint32Array | StateError) {
    this.#env = env;
    this.#words = words;
    this.#later = Array.from({ length: env.numEnvs }, () => []);
  }

  /** Reads the present states as the first states of the rollouts. */
  static async open(env: AsyncVecEnv): Promise<RolloutHistories> {
    try {
      return new RolloutHistories(env, decodeSnapshot(await env.snapshot()).words);
    } catch (error) {
      if (error instanceof StateError && error.code === 'foreign_past')
        return new RolloutHistories(env, error);
      throw error;
    }
  }

  /** Adds a step. @param beliefs f32 [n, 3]: NaN for no belief. @param mask u8 [n]: the rollouts that take it. */
  add(actions: Uint8Array, beliefs: Float32Array | null, mask: Uint8Array): void {
    for (const [i, steps] of this.#later.entries()) {
      if (mask[i] === 0) continue;
      const belief = beliefs?.slice(i * NUM_BELIEFS, (i + 1) * NUM_BELIEFS) ?? null;
      steps.push({ action: actions[i], belief: belief?.some(Number.isNaN) ? null : belief });
    }
  }

  /** Does the same as `VecEnv.history`. */
  history(i: number, last = HISTORY_STEPS): HistoryStep[] {
    const { numEnvs, world, imagination } = this.#env;
    checkInteger('i', i, 0, numEnvs - 1);
    checkInteger('last', last, 0, NUM_STEPS);
    if (this.#words instanceof StateError) throw this.#words;
    const words = this.#words.subarray(i * STATE_WORDS, (i + 1) * STATE_WORDS);
    return replayHistory(world, imagination, words, last, this.#later[i]);
  }
}
