/** Summarizes a policy's actions, meters and rewards by step, for the figures of an audit. */
import { commonActionsOf } from '../../figures/common-sequence.js';
import { type Bands, bandsOf } from '../../figures/percentiles.js';
import { type StepRewards, stepRewardsOf } from '../../figures/step-rewards.js';
import type { AuditEnvs } from './audit-envs.js';
import type { Player } from './players.js';

/** The mean episode of a policy. */
export interface MeanEpisode {
  readonly policy: string;
  /** u8 [28]: the action of each step; the most common action if episodes differ. */
  readonly actions: Uint8Array;
  /** Whether the policy plays these actions in all episodes. */
  readonly isSingleSequence: boolean;
  /** Percentiles of each meter after each step. */
  readonly bands: Bands;
  /** The mean reward of each step and each half, without the noise and the terminal term. */
  readonly rewards: StepRewards;
}

/**
 * The policies in the figures. The sequences found for single components (role 'push') are drawn too. Of policies that differ
 * only in beliefs, one is drawn.
 */
const DRAWN_POLICIES = [
  'heuristic',
  'open-loop',
  'open-loop-honest',
  'reactive',
  'planner',
  'oracle-open-loop+truth',
];

/** Returns the data of a player, [] if the figures omit it. */
export async function meanEpisodeOf(envs: AuditEnvs, player: Player): Promise<MeanEpisode[]> {
  const { name, role, searchResult } = player;
  if (!DRAWN_POLICIES.includes(name) && !(role === 'push' && searchResult !== null)) return [];
  const { seeds, trajectory, finalScores } = await envs.playWithTrajectory(player);
  return [
    {
      policy: name,
      actions: commonActionsOf(trajectory.actions),
      isSingleSequence: searchResult !== null,
      bands: bandsOf(trajectory.meters),
      rewards: stepRewardsOf({ rewards: trajectory.rewards, finalScores, seeds }),
    },
  ];
}
