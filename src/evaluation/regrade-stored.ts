/** Regrades stored components. Computes rows of an evaluation, the ranking, and its sensitivity to the weights. */

import { BASELINE, type BeliefKind, POLICY_NAMES, policyName } from '../agents/policies/fixed-policies.js';
import { STEPPED_NAMES } from '../agents/policies/stepped-policies.js';
import { type Grader, type GraderWeights, graderWeights } from '../engine/graders/grader.js';
import { regrade } from '../engine/graders/regrade.js';
import type { EvaluationRow } from './evaluate.js';
import type { AnswerSummary } from './llm-episodes.js';
import type { Graded } from './play-policy.js';
import { rankPolicies, type Standing } from './ranking.js';
import { ScoreTally, type Wins } from './score-tally.js';
import { type WeightSensitivity, weightSensitivity } from './weight-sensitivity.js';

/** Stored components of policies under one condition, on the same seeds in the same order. */
export interface StoredCondition {
  readonly condition: string;
  /** As in rows of an evaluation. */
  readonly seeds: string;
  readonly profiles: string;
  readonly policies: readonly StoredPolicy[];
}

/** The stored components of one policy's episodes. */
export interface StoredPolicy extends Omit<Graded, 'finalScores'> {
  readonly policy: string;
  readonly belief: BeliefKind;
  /** The grader whose action sequence the policy plays; null for other policies. */
  readonly sequenceGrader: string | null;
  /** Whether the policy used the hidden profiles. */
  readonly oracle: boolean;
}

/**
 * A row of an evaluation, without the columns about a language model's answers, the scores under other graders and the verdict.
 * `wins` is null if the heuristic is not among the policies.
 */
export interface RegradedRow
  extends Omit<EvaluationRow, 'wins' | 'regraded' | 'verdict' | keyof AnswerSummary> {
  readonly wins: Wins | null;
}

/** The ranking of one condition, and its sensitivity to the weights. */
export interface RegradedCondition {
  readonly condition: string;
  readonly standings: readonly Standing[];
  readonly sensitivity: readonly WeightSensitivity[];
}

/** Stored episodes under another grader. */
export interface Regraded {
  readonly grader: string;
  readonly graderWeights: GraderWeights;
  readonly rows: readonly RegradedRow[];
  readonly conditions: readonly RegradedCondition[];
}

/** Grades stored episodes again, without stepping. Built-in policies come first, in the order in which tables list them. */
export function regradeStored(stored: readonly StoredCondition[], grader: Grader): Regraded {
  const weights = graderWeights(grader);
  const conditions = stored.map((condition) => ({
    ...condition,
    policies: [...condition.policies].sort((a, b) => positionOf(a) - positionOf(b)),
  }));
  return {
    grader: grader.name,
    graderWeights: grader.weights,
    rows: conditions.flatMap((condition) => rowsOf(condition, weights)),
    conditions: conditions.map(({ condition, policies }) => {
      const named = policies.map((policy) => ({ name: policyName(policy), components: policy.components }));
      return {
        condition,
        standings: rankPolicies(named, grader),
        sensitivity: weightSensitivity(named, grader),
      };
    }),
  };
}

const POLICY_ORDER = [...POLICY_NAMES, ...STEPPED_NAMES];

/** Returns a policy's position in tables. Policies that are not built in come last. */
function positionOf(policy: StoredPolicy): number {
  const position = POLICY_ORDER.indexOf(policyName(policy));
  return position < 0 ? POLICY_ORDER.length : position;
}

function rowsOf(
  { condition, seeds, profiles, policies }: StoredCondition,
  weights: Float32Array,
): RegradedRow[] {
  const graded = policies.map((each) => ({ ...each, finalScores: regrade(each.components, weights) }));
  const baseline = graded.find((each) => policyName(each) === BASELINE.name);
  return graded.map((each) => {
    const tally = new ScoreTally();
    tally.add(each, (baseline ?? each).finalScores);
    const { policy, belief, sequenceGrader, oracle } = each;
    const { wins, ...summary } = tally.summary();
    return {
      condition,
      policy,
      belief,
      sequenceGrader,
      oracle,
      seeds,
      profiles,
      ...summary,
      wins: baseline ? wins : null,
    };
  });
}
