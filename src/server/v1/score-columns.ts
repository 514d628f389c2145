/**
 * Stores the scores of all rows. To save memory, most rewards are not stored but computed when they are written, from the
 * step's reward, the belief's error and skill, and whether there is a belief.
 */
import { NO_ACTION } from '../../engine/validate/actions.js';
import type { ReplayScores } from '../../rollouts/replay/score-replay.js';
import {
  hasBelief,
  REWARD_NAMES,
  type RewardStack,
  type StackSettings,
  stackRewards,
} from '../../rollouts/rewards/compute-rewards.js';
import { snakeCase } from '../../shared/letter-case.js';
import { SLICE, valuesText } from './array-text.js';

/** The fields of the reward stack, by their names in answers. */
const REWARDS: ReadonlyMap<string, keyof RewardStack> = new Map(
  [...REWARD_NAMES, 'total' as const].map((name) => [snakeCase(name), name]),
);
/** The names of the scores of a row. */
export const SCORE_NAMES = [...REWARDS.keys(), 'step_reward', 'belief_mae', 'state_hash'];

/** The stored scores, one array for each kind. */
export class ScoreColumns {
  /** The scores to return, each once. */
  readonly names: readonly string[];
  readonly #settings: StackSettings;
  /** NaN in rows without an action, and in invalid rows. */
  readonly #stepRewards: Float32Array;
  /** The rewards of the steps plus shaping. Without shaping, the same array as `#stepRewards`. */
  readonly #envRewards: Float32Array;
  /** NaN in invalid rows. */
  readonly #beliefMae: Float32Array;
  /** -1 in rows without a belief, NaN in invalid rows; null if no requested score depends on it. */
  readonly #beliefSkill: Float32Array | null;
  readonly #hasBelief: Uint8Array;
  readonly #stateHashes: BigUint64Array;

  /** @param names of the scores to store. @param settings of the rewards. */
  constructor(rows: number, names: readonly string[], settings: StackSettings) {
    this.names = [...new Set(names)];
    // No shaping here: `#envRewards` contains it already. The action histories, from which shaping is computed, are not kept.
    this.#settings = { ...settings, shaping: null };
    this.#stepRewards = new Float32Array(rows);
    this.#envRewards = settings.shaping === null ? this.#stepRewards : new Float32Array(rows);
    this.#beliefMae = new Float32Array(rows);
    this.#beliefSkill = needsSkill(names, settings) ? new Float32Array(rows) : null;
    this.#hasBelief = new Uint8Array(rows);
    this.#stateHashes = new BigUint64Array(names.includes('state_hash') ? rows : 0);
  }

  /** Stores the scores of the rows from row `from` on. */
  put({ rewards, stepRewards, beliefMae, beliefSkill, stateHashes }: ReplayScores, from: number): void {
    this.#stepRewards.set(stepRewards, from);
    if (this.#envRewards !== this.#stepRewards) this.#envRewards.set(rewards.envReward, from);
    this.#beliefMae.set(beliefMae, from);
    this.#beliefSkill?.set(beliefSkill, from);
    for (let k = 0; k < stepRewards.length; k++) this.#hasBelief[from + k] = Number(hasBelief(rewards, k));
    if (this.#stateHashes.length > 0) this.#stateHashes.set(stateHashes, from);
  }

  /** Yields the pieces of a JSON object of the scores. @param turn awaited before each slice. */
  async *text(turn: () => Promise<void>): AsyncGenerator<string> {
    const rows = this.#stepRewards.length;
    let before = '{';
    for (const name of this.names) {
      yield `${before}"${name}":[`;
      for (let from = 0; from < rows; from += SLICE) {
        await turn();
        yield (from === 0 ? '' : ',') + valuesText(this.values(name, from, Math.min(from + SLICE, rows)));
      }
      before = '],';
    }
    yield before === '{' ? '{}' : ']}';
  }

  /** Returns a score of rows `from` up to `to` (excluded). */
  values(name: string, from: number, to: number): Float32Array | BigUint64Array {
    if (name === 'step_reward') return this.#stepRewards.subarray(from, to);
    if (name === 'belief_mae') return this.#beliefMae.subarray(from, to);
    if (name === 'belief_skill') return this.#beliefSkill!.subarray(from, to);
    if (name === 'state_hash') return this.#stateHashes.subarray(from, to);
    return this.#rewards(from, to)[REWARDS.get(name)!];
  }

  #rewards(from: number, to: number): RewardStack {
    const beliefMae = this.#beliefMae.subarray(from, to);
    // The rewards depend only on whether there is an action, not on its code.
    const actions = new Int8Array(to - from);
    for (let k = 0; k < actions.length; k++) {
      if (Number.isNaN(this.#stepRewards[from + k])) actions[k] = NO_ACTION;
    }
    const rows = {
      actions,
      given: this.#hasBelief.subarray(from, to),
      stepRewards: this.#envRewards.subarray(from, to),
      beliefMae,
      beliefSkill: this.#beliefSkill?.subarray(from, to) ?? null,
    };
    const rewards = stackRewards(rows, null, this.#settings);
    for (const column of Object.values(rewards)) {
      for (let k = 0; k < to - from; k++) if (Number.isNaN(beliefMae[k])) column[k] = Number.NaN;
    }
    return rewards;
  }
}

/** Returns whether belief_skill, or a total that contains it, is among the names. */
function needsSkill(names: readonly string[], { factors }: StackSettings): boolean {
  const weight = factors[REWARD_NAMES.indexOf('beliefSkill')];
  return names.includes('belief_skill') || (weight !== 0 && names.includes('total'));
}
