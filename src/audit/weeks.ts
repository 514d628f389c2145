/** What players do to people, slot by slot: what pictures of an audit show. */
import { commonTapeOf } from '../pictures/common-tape.js';
import { type Bands, bandsOf } from '../pictures/percentiles.js';
import { type StepRewards, stepRewardsOf } from '../pictures/step-rewards.js';
import type { Stage } from './play.js';
import type { Player } from './players.js';

export interface Week {
  readonly policy: string;
  /** u8 [28]: the action of each slot; of who does not play one tape, the commonest. */
  readonly actions: Uint8Array;
  /** Whether all weeks had these actions. */
  readonly one: boolean;
  readonly bands: Bands;
  readonly rewards: StepRewards;
}

/** Those whose actions are worth looking at; beliefs change nothing of what is seen. */
const WATCHED = ['heuristic', 'blind-tape', 'honest-tape', 'oracle+truth'];

/** A player's week, if it is one to be looked at. */
export function weekOf(stage: Stage, player: Player): Week[] {
  const { name, role, found } = player;
  if (!WATCHED.includes(name) && !(role === 'push' && found !== null)) return [];
  const { seeds, trajectory, finalScores } = stage.watch(player);
  return [
    {
      policy: name,
      actions: commonTapeOf(trajectory.actions),
      one: found !== null,
      bands: bandsOf(trajectory.meters),
      rewards: stepRewardsOf({ rewards: trajectory.rewards, finalScores, seeds }),
    },
  ];
}
