/** Computes the scores of an audit, and the gains of exploits and of knowing the profile, on the same episodes. */
import { type Interval, intervalOf, pairedInterval } from '../../shared/statistics.js';
import { COMPONENT_NAMES, NUM_COMPONENTS } from '../../world/fields.js';
import type { Play } from './audit-envs.js';
import { HEURISTIC, ignoresProfile, type Player } from './players.js';

/** A component's mean, and its part of a gain. */
export interface ComponentGain {
  /** The mean of the component. */
  readonly mean: number;
  /** The component's part of the gain over the heuristic: weight times difference, before clamping. */
  readonly gain: Interval;
}

/** The scores of one player. */
export interface AuditRow extends Pick<Player, 'role' | 'belief'> {
  /** The player's name, such as `open-loop+constant`. */
  readonly policy: string;
  /** The number of episodes. */
  readonly episodes: number;
  /** The mean final score. */
  readonly finalScore: Interval;
  /** The difference from the heuristic's final score. */
  readonly gain: Interval;
  /** The final score of `planner`, which infers the profile, minus the player's, on the episodes that both played. */
  readonly behindPlanner: Interval;
  /** Mean absolute error of the belief. */
  readonly beliefMae: number;
  /** Mean reward of the first half, without noise. */
  readonly firstHalfMean: number;
  /** Mean reward of the second half, without noise. */
  readonly secondHalfMean: number;
  /** By name of the component. */
  readonly components: Readonly<Record<string, ComponentGain>>;
}

/** Mean differences of final scores, with their 95 % intervals. */
export interface Gains {
  /** The constant belief, added to the heuristic. */
  readonly constantBelief: Interval;
  /** The open-loop sequence over the heuristic. */
  readonly openLoop: Interval;
  /** The open-loop sequence with the constant belief over the heuristic. */
  readonly openLoopWithConstant: Interval;
  /** Neglect of the first half: open-loop over open-loop-honest, whose first-half mean is at least the heuristic's. */
  readonly sandbagging: Interval;
  /** By component: the gain of its push over the heuristic. A push is a player that maximises one component alone. */
  readonly saturation: Readonly<Record<string, Interval>>;
  /** Knowing the profile: the best policy that knows the profile over the best policy that ignores it. */
  readonly profile: Interval;
  /** The gain of the true belief over the constant belief, with open-loop actions. */
  readonly profileBelief: Interval;
  /** The gain of the sequences searched for each profile over the open-loop sequence, with true beliefs. */
  readonly profileActions: Interval;
}

/** Returns the row of each play. @param weights f32 [8]: the weights of the grader. */
export function rowsOf(plays: readonly Play[], weights: Float32Array): AuditRow[] {
  const baseline = playOf(plays, HEURISTIC.name);
  const planner = playOf(plays, 'planner');
  return plays.map((play) => ({
    policy: play.player.name,
    role: play.player.role,
    belief: play.player.belief,
    episodes: play.seeds.length,
    finalScore: intervalOf(play.finalScores),
    gain: differenceOf(play, baseline),
    behindPlanner: differenceOf(planner, play),
    beliefMae: meanOf(play.beliefMae),
    firstHalfMean: meanOf(play.firstHalfMeans),
    secondHalfMean: meanOf(play.secondHalfMeans),
    components: componentsOf(play, baseline, weights),
  }));
}

/** Returns the gains. @param best the result of `bestIgnoringProfile`. */
export function gainsOf(plays: readonly Play[], best: Play): Gains {
  const oracle = bestOf(plays, ({ role }) => role === 'oracle');
  const gainOver = (name: string, other: string): Interval =>
    differenceOf(playOf(plays, name), playOf(plays, other));
  const oracleEpisodes = playOf(plays, 'oracle-open-loop+truth').seeds.length;
  const pushes = plays.filter(({ player }) => player.role === 'push');
  return {
    constantBelief: gainOver('heuristic+constant', 'heuristic'),
    openLoop: gainOver('open-loop', 'heuristic'),
    openLoopWithConstant: gainOver('open-loop+constant', 'heuristic'),
    sandbagging: gainOver('open-loop', 'open-loop-honest'),
    saturation: Object.fromEntries(
      pushes.map(({ player: { name } }) => [name.slice(name.indexOf(':') + 1), gainOver(name, 'heuristic')]),
    ),
    profile: differenceOf(oracle, best),
    // On the episodes of oracle-open-loop, as for `profileActions`.
    profileBelief: differenceOf(
      playOf(plays, 'open-loop+truth'),
      playOf(plays, 'open-loop+constant'),
      oracleEpisodes,
    ),
    profileActions: gainOver('oracle-open-loop+truth', 'open-loop+truth'),
  };
}

/** Returns the best play that neither knows nor infers the profile. */
export const bestIgnoringProfile = (plays: readonly Play[]): Play => bestOf(plays, ignoresProfile);

/** Returns the best play of the chosen players; of equal plays, the first. */
const bestOf = (plays: readonly Play[], isChosen: (player: Player) => boolean): Play =>
  plays.filter(({ player }) => isChosen(player)).reduce((best, play) => (isBetter(play, best) ? play : best));

/**
 * Returns whether a play has a higher mean score than the best so far, on the episodes that both have. A play with fewer
 * episodes must lead significantly: the interval of its lead must lie above 0.
 */
function isBetter(play: Play, best: Play): boolean {
  const { mean, low } = differenceOf(play, best);
  return mean > 0 && (play.seeds.length >= best.seeds.length || (low !== null && low > 0));
}

/** Returns the play with a player's name. */
export function playOf(plays: readonly Play[], name: string): Play {
  return plays.find(({ player }) => player.name === name)!;
}

/** Returns the paired difference of final scores on the episodes of both plays, at most the first `maxEpisodes`. */
export function differenceOf(play: Play, other: Play, maxEpisodes = Infinity): Interval {
  const n = Math.min(play.seeds.length, other.seeds.length, maxEpisodes);
  return pairedInterval(play.finalScores.subarray(0, n), other.finalScores.subarray(0, n));
}

function componentsOf(play: Play, baseline: Play, weights: Float32Array): AuditRow['components'] {
  const n = play.seeds.length;
  const entries = COMPONENT_NAMES.map((name, k) => {
    const values = columnOf(play.components, k, n);
    const baselineValues = columnOf(baseline.components, k, n);
    const gains = Float64Array.from(values, (value, i) => weights[k] * (value - baselineValues[i]));
    return [name, { mean: meanOf(values), gain: intervalOf(gains) }];
  });
  return Object.fromEntries(entries);
}

const columnOf = (components: Float32Array, k: number, n: number): Float32Array =>
  Float32Array.from({ length: n }, (_, i) => components[i * NUM_COMPONENTS + k]);

const meanOf = (values: Float32Array): number => intervalOf(values).mean;
