/** Keeps the players of policies open, for further batches of the same size. */

import type { SteppedPolicy } from '../agents/policies/observing-policies.js';
import { CheckedPlayer } from '../engine/policy/checked-player.js';
import type { EpisodeStarts, PolicyPlayer, PolicySetting } from '../engine/policy/policy.js';
import type { UserPolicy } from './user-policy.js';

interface OpenPlayer {
  readonly numEnvs: number;
  readonly player: PolicyPlayer;
}

/** The open players, by policy. */
export class PolicyPlayers implements Disposable {
  readonly #open = new Map<SteppedPolicy | UserPolicy, OpenPlayer>();

  /**
   * Returns a player of a policy, reset for `episodes`. Opens the policy unless its open player has the same number of
   * environments and can begin further episodes.
   */
  async begin(
    policy: SteppedPolicy | UserPolicy,
    setting: PolicySetting,
    episodes: EpisodeStarts,
    signal: AbortSignal | undefined,
  ): Promise<PolicyPlayer> {
    const current = this.#open.get(policy);
    if (current?.numEnvs === setting.numEnvs && canReset(current.player)) {
      await current.player.reset?.(episodes);
      return current.player;
    }
    this.#close(policy);
    const player =
      'policy' in policy
        ? await CheckedPlayer.open(policy.name, policy.policy, setting, signal)
        : await policy.open(setting);
    this.#open.set(policy, { numEnvs: setting.numEnvs, player });
    await player.reset?.(episodes);
    return player;
  }

  #close(policy: SteppedPolicy | UserPolicy): void {
    this.#open.get(policy)?.player[Symbol.dispose]?.();
    this.#open.delete(policy);
  }

  [Symbol.dispose](): void {
    for (const policy of [...this.#open.keys()]) this.#close(policy);
  }
}

const canReset = (player: PolicyPlayer): boolean => !(player instanceof CheckedPlayer) || player.canReset;
