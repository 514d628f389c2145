/** Stored components under another grader: the rows of an evaluation, the ranking, and how near that is to another. */
import { type Grader, type GraderWeights, graderWeights } from '../graders/grader.js';
import { regrade } from '../graders/regrade.js';
import { BASELINE, type BeliefKind, POLICY_NAMES, policyName } from '../policies/policies.js';
import { STEPPED_NAMES } from '../policies/stepped.js';
import type { AnswerSummary } from './asked.js';
import type { EvaluationRow } from './evaluate.js';
import { rankPolicies, type Standing } from './ranking.js';
import { type WeightSensitivity, weightSensitivity } from './sensitivity.js';
import { Tally, type Wins } from './tally.js';

/** What policies earned under one condition, on the same seeds in the same order. */
export interface StoredCondition {
  readonly condition: string;
  /** As rows of an evaluation name them. */
  readonly seeds: string;
  readonly profiles: string;
  readonly policies: readonly StoredPolicy[];
}

export interface StoredPolicy {
  readonly policy: string;
  readonly belief: BeliefKind;
  readonly tape: string | null;
  /** Whether it was shown who the persons are. */
  readonly oracle: boolean;
  /** f32 [n, 6], row-major. */
  readonly components: Float32Array;
  /** f32 [n]. */
  readonly beliefMae: Float32Array;
  /** f32 [n] each; NaN where they are not known. */
  readonly earlyMeans: Float32Array;
  readonly lateMeans: Float32Array;
}

/** As of an evaluation, but for what answers took; without the baseline among the policies nothing is won or lost. */
export interface RegradedRow extends Omit<EvaluationRow, 'wins' | keyof AnswerSummary> {
  readonly wins: Wins | null;
}

export interface RegradedCondition {
  readonly condition: string;
  readonly standings: readonly Standing[];
  readonly sensitivity: readonly WeightSensitivity[];
}

export interface Regraded {
  readonly grader: string;
  readonly graderWeights: GraderWeights;
  readonly rows: readonly RegradedRow[];
  readonly conditions: readonly RegradedCondition[];
}

/** Grades stored episodes again. Nothing is stepped. Policies come in the order of tables, unknown ones after them. */
export function regradeStored(stored: readonly StoredCondition[], grader: Grader): Regraded {
  const weights = graderWeights(grader);
  const conditions = stored.map((condition) => ({
    ...condition,
    policies: [...condition.policies].sort((a, b) => placeOf(a) - placeOf(b)),
  }));
  return {
    grader: grader.name,
    graderWeights: grader.weights,
    rows: conditions.flatMap((condition) => rowsOf(condition, weights)),
    conditions: conditions.map(({ condition, policies }) => {
      const named = policies.map((each) => ({ name: policyName(each), components: each.components }));
      return {
        condition,
        standings: rankPolicies(named, grader),
        sensitivity: weightSensitivity(named, grader),
      };
    }),
  };
}

const IN_ORDER = [...POLICY_NAMES, ...STEPPED_NAMES];

function placeOf(policy: StoredPolicy): number {
  const place = IN_ORDER.indexOf(policyName(policy));
  return place < 0 ? IN_ORDER.length : place;
}

function rowsOf(
  { condition, seeds, profiles, policies }: StoredCondition,
  weights: Float32Array,
): RegradedRow[] {
  const graded = policies.map((each) => ({ ...each, finalScores: regrade(each.components, weights) }));
  const baseline = graded.find((each) => policyName(each) === BASELINE.name);
  return graded.map((each) => {
    const tally = new Tally();
    tally.add(each, (baseline ?? each).finalScores);
    const { policy, belief, tape, oracle } = each;
    const { wins, ...summary } = tally.summary();
    return {
      condition,
      policy,
      belief,
      tape,
      oracle,
      seeds,
      profiles,
      ...summary,
      wins: baseline ? wins : null,
    };
  });
}
