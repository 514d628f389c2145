/** Null players: policies that state a belief without knowledge, compared with the same policies without a belief. */
import { type Interval, intervalOf } from '../../shared/statistics.js';
import { AuditEnvs } from './audit-envs.js';
import type { AuditRequest } from './audit-options.js';
import { freshRange } from './audit-seeds.js';
import type { AuditBelief, FittedBeliefs } from './beliefs.js';
import { differenceOf } from './gains.js';
import { type Player, withBelief } from './players.js';

/** The gain of a policy from a belief without knowledge. */
export interface NullGain {
  /** The name of the policy. */
  readonly policy: string;
  readonly belief: AuditBelief;
  /** The mean final score without a belief. */
  readonly silent: Interval;
  /** The gain of the belief over `silent`. */
  readonly gain: Interval;
}

/** The gains of null players. */
export interface NullPlayers {
  /** Fresh seeds (audit-seeds.ts), as "20000-119999". */
  readonly seeds: string;
  readonly rows: readonly NullGain[];
}

/**
 * The number of episodes of a null player, as a multiple of `episodes`. Gains of beliefs vary more than gains of actions. Both
 * numbers are chosen by hand: more episodes narrow the intervals and take longer.
 */
const EPISODES_FACTOR = 50;
const MAX_EPISODES = 100_000;
const BELIEFS: readonly AuditBelief[] = ['constant', 'fitted', 'extreme', 'random'];

/**
 * Returns the number of episodes of each null player: 50 times `episodes`, but at most 100,000, and never fewer than
 * `episodes`.
 */
export const nullPlayerEpisodes = ({ episodes }: Pick<AuditRequest, 'episodes'>): number =>
  Math.max(episodes, Math.min(MAX_EPISODES, EPISODES_FACTOR * episodes));

/**
 * Plays the null players.
 * @param silent players without a belief: of a built-in policy, of one sequence for all episodes, or of one sequence for each
 *   of the `nullPlayerEpisodes(request)` episodes.
 */
export async function playNullPlayers(
  request: AuditRequest,
  beliefs: FittedBeliefs,
  silent: readonly Player[],
): Promise<NullPlayers> {
  const episodes = nullPlayerEpisodes(request);
  await using envs = new AuditEnvs({ ...request, episodes }, beliefs);
  const rows: NullGain[] = [];
  for (const player of silent) {
    const base = await envs.play(player);
    for (const belief of BELIEFS) {
      rows.push({
        policy: player.name,
        belief,
        silent: intervalOf(base.scores),
        gain: differenceOf(await envs.play(withBelief(belief, player)), base),
      });
    }
  }
  return { seeds: freshRange(episodes), rows };
}
