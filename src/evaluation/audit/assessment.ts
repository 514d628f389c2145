/** Describes the results of an audit, and decides by thresholds whether a grader pays only for inference. */
import type { Interval } from '../../shared/statistics.js';
import { decimals } from '../format-results.js';
import type { Play } from './audit-envs.js';
import type { ImpossibleWorld, NullGain, NullPlayers } from './controls.js';
import { type AuditRow, differenceOf, type Gains, playOf } from './gains.js';

/**
 * The thresholds, in final scores. The policies that the planners must lead have their best constant beliefs. Chosen by hand:
 * v3 meets all thresholds, v1 and v2 miss those of the planners (docs/grader-audit.md).
 */
export const THRESHOLDS = {
  /** The planner that infers must lead the open-loop sequence, and the planner without inference, by this much. */
  inference: 0.25,
  /** The planner that infers must lead the reactive policy by this much. */
  inferenceOverReactive: 0.2,
  /** The planner that knows the profile must lead each of the three policies above by this much. */
  knowledge: 0.3,
  /** The most that a belief without knowledge may add to a policy whose score without a belief is at least `silentScore`. */
  nullBelief: 0.015,
  /**
   * Policies that score less than this without a belief are not checked: the clamp at 0 cuts losses, so a bad belief can gain.
   */
  silentScore: 0.25,
  /** The most that knowing or inferring the profile may add in the impossible world, where every profile is neutral. */
  impossibleWorld: 0.01,
} as const;

/** A figure and its threshold. */
export interface Check {
  /** The name of the figure, such as "inference_over_open_loop". */
  readonly figure: string;
  /** What is compared, such as "planner over open-loop with a constant belief". */
  readonly compared: string;
  /** The figure. Its mean is compared with the threshold; in the impossible world, its interval if it has one. */
  readonly value: Interval;
  /** The side of the threshold on which the figure must be. */
  readonly bound: 'at least' | 'at most';
  readonly threshold: number;
  /** Whether the check passes. */
  readonly holds: boolean;
}

/** A verdict that a program can read. */
export interface Assessment {
  readonly paysOnlyForInference: boolean;
  readonly checks: readonly Check[];
  /** The verdict in one sentence, with the figures that miss their thresholds. */
  readonly reason: string;
}

/** The results that an assessment compares. */
export interface Evidence {
  readonly plays: readonly Play[];
  /** The actions of the planner without inference, played without a belief. */
  readonly silentPrior: Play;
  readonly nullPlayers: NullPlayers;
  readonly impossible: ImpossibleWorld;
}

/** Returns the verdict. @param grader the grader's name. */
export function assess(grader: string, evidence: Evidence): Assessment {
  const checks = [
    ...checksOfKnowledge(evidence),
    ...checksOfBeliefs(evidence.nullPlayers),
    ...checksOfImpossible(evidence.impossible),
  ];
  const failed = checks.filter(({ holds }) => !holds);
  return { paysOnlyForInference: failed.length === 0, checks, reason: reasonOf(grader, failed) };
}

/** Compares the planners with policies without inference, to which the best constant belief is added. */
function checksOfKnowledge({ plays, silentPrior, nullPlayers }: Evidence): Check[] {
  const rivals = [
    ['open_loop', playOf(plays, 'open-loop'), THRESHOLDS.inference],
    ['prior', silentPrior, THRESHOLDS.inference],
    ['reactive', playOf(plays, 'reactive'), THRESHOLDS.inferenceOverReactive],
  ] as const;
  return rivals.flatMap(([name, rival, threshold]) => {
    const beliefGain = bestConstantGain(nullPlayers, rival.player.name);
    const check = (planner: string, figure: string, least: number): Check => {
      const value = minusGain(differenceOf(playOf(plays, planner), rival), beliefGain);
      const compared = `${planner} over ${rival.player.name} with a constant belief`;
      return { figure, compared, value, bound: 'at least', threshold: least, holds: value.mean >= least };
    };
    return [
      check('planner', `inference_over_${name}`, threshold),
      check('planner-oracle', `knowledge_over_${name}`, THRESHOLDS.knowledge),
    ];
  });
}

/**
 * Returns what the best constant belief adds to a policy, or to the open-loop sequence if the policy was not measured.
 * Gains of beliefs vary more between episodes than gains of actions. So this gain is measured on more episodes (up to 50 times
 * those of the audit: `nullPlayerEpisodes` in controls.ts), and then subtracted from the lead over the policy without a
 * belief.
 */
function bestConstantGain({ rows }: NullPlayers, policy: string): Interval {
  const name = rows.some((row) => row.policy === policy) ? policy : 'open-loop';
  const gains = rows.filter(
    (row) => row.policy === name && (row.belief === 'constant' || row.belief === 'fitted'),
  );
  const best = gains.reduce((one, other) => (other.gain.mean > one.gain.mean ? other : one));
  return best.gain.mean > 0 ? best.gain : { mean: 0, low: 0, high: 0 };
}

/** Returns a difference minus a gain that was measured on other episodes. */
function minusGain(difference: Interval, gain: Interval): Interval {
  const mean = difference.mean - gain.mean;
  const half = Math.hypot(halfOf(difference), halfOf(gain));
  return { mean, low: mean - half, high: mean + half };
}

const halfOf = ({ mean, high }: Interval): number => (high === null ? 0 : high - mean);

/** Checks the largest gains of beliefs without knowledge. */
function checksOfBeliefs({ rows }: NullPlayers): Check[] {
  const threshold = THRESHOLDS.nullBelief;
  const scoring = rows.filter(({ silent }) => silent.mean >= THRESHOLDS.silentScore);
  const check = (figure: string, beliefs: readonly string[]): Check[] => {
    const [largest] = scoring
      .filter(({ belief }) => beliefs.includes(belief))
      .sort((a, b) => b.gain.mean - a.gain.mean);
    if (largest === undefined) return [];
    const { gain: value } = largest;
    const compared = comparedIn(largest);
    return [{ figure, compared, value, bound: 'at most', threshold, holds: value.mean <= threshold }];
  };
  return [
    ...check('constant_belief', ['constant', 'fitted']),
    ...check('null_belief', ['extreme', 'random']),
  ];
}

const comparedIn = ({ policy, belief }: NullGain): string => `${policy}+${belief} over ${policy}`;

/**
 * Checks that knowing or inferring the profile adds nothing: the interval begins at or below 0, or ends below the threshold.
 * Without an interval, the mean is at most the threshold.
 */
function checksOfImpossible({ sequence, planner }: ImpossibleWorld): Check[] {
  const threshold = THRESHOLDS.impossibleWorld;
  const check = (figure: string, compared: string, value: Interval): Check => {
    const { mean, low, high } = value;
    const holds = low === null || high === null ? mean <= threshold : low <= 0 || high < threshold;
    return { figure, compared, value, bound: 'at most', threshold, holds };
  };
  return [
    check('impossible_sequence', 'knowing the profile, all profiles neutral', sequence),
    check('impossible_planner', 'inference, all profiles neutral', planner),
  ];
}

function reasonOf(grader: string, failed: readonly Check[]): string {
  if (failed.length === 0) {
    return `Grader ${grader} pays only for inference: all figures meet their thresholds.`;
  }
  const parts = failed.map(
    ({ compared, value, bound, threshold }) =>
      `${compared} ${decimals(value.mean)} (${bound} ${decimals(threshold)})`,
  );
  return `Grader ${grader} does not pay only for inference: ${parts.join('; ')}.`;
}

/** Returns the verdict. @param best the best row of the policies that ignore the profile. */
export function verdictOf(grader: string, best: AuditRow, gains: Gains): string {
  return [
    `Under grader ${grader}, a policy that ignores the profile gains up to ${gainText(best.gain)} over the heuristic`,
    ` (a final score of ${decimals(best.finalScore.mean)}, by ${best.policy});`,
    ` knowing the profile is worth ${gainText(gains.profile)} more${significanceNote(gains.profile)}.`,
    ` With one action sequence for everybody, the true belief gains ${gainText(gains.profileBelief)} over the constant`,
    ` belief; with the true belief, a sequence chosen for the profile gains ${gainText(gains.profileActions)} more.`,
    ` Without knowing the profile, the constant belief alone gains ${gainText(gains.constantBelief)} over the heuristic,`,
    ` and one action sequence for everybody ${gainText(gains.openLoop)},`,
    ` of which ${gainText(gains.sandbagging)} comes from neglecting the first half of the episode.`,
  ].join('');
}

/** Describes what knowing the profile adds in the impossible world. */
export const impossibleText = ({ sequence, planner }: ImpossibleWorld): string =>
  'In the impossible world every profile is neutral, and sequence, belief and prior are fitted to it. There, a sequence ' +
  `with the true belief gains ${gainText(sequence)} over the fitted sequence and belief, and the planner with inference ` +
  `gains ${gainText(planner)} over the planner with the fitted prior.`;

/** Returns "0.123 ±0.004", "0.123" without an interval, or "nothing" for identical scores. */
function gainText(gain: Interval): string {
  if (isNothing(gain)) return 'nothing';
  const { mean, high } = gain;
  const half = high === null ? '' : ` ±${decimals(high - mean)}`;
  return `${decimals(mean)}${half}`;
}

const isNothing = ({ mean, high }: Interval): boolean => mean === 0 && (high === null || high === mean);

/** Returns a note if the interval includes 0, else ''. */
function significanceNote(gain: Interval): string {
  const { low, high } = gain;
  const isInsignificant = low !== null && high !== null && low <= 0 && high >= 0 && !isNothing(gain);
  return isInsignificant ? ', not significantly different from 0' : '';
}
