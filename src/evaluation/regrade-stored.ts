/** Regrades stored components. Computes rows of an evaluation, the ranking, and its sensitivity to the weights. */

import { BASELINE, type BeliefKind, POLICY_NAMES, policyName } from '../agents/policies/fixed-policies.js';
import { STEPPED_NAMES } from '../agents/policies/observing-policies.js';
import { type Grader, type GraderWeights, graderWeights } from '../engine/graders/grader.js';
import { regrade } from '../engine/graders/regrade.js';
import { InputError } from '../shared/errors.js';
import { camelCase } from '../shared/letter-case.js';
import { COMPONENT_NAMES } from '../world/fields.js';
import type { FormerWorld } from '../world/former-worlds.js';
import type { EvaluationRow } from './evaluate.js';
import type { AnswerSummary } from './llm-episodes.js';
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
export interface StoredPolicy {
  readonly policy: string;
  readonly belief: BeliefKind;
  /** The grader whose action sequence the policy plays; null for other policies. */
  readonly sequenceGrader: string | null;
  /** Whether the policy used the hidden profiles. */
  readonly oracle: boolean;
  /** The episodes' world if it is a former world: an earlier version, whose files lack the last components. Else null. */
  readonly former: FormerWorld | null;
  /** f32 [n, 8], row-major; 0 for components that a former world lacks. */
  readonly components: Float32Array;
  /** f32 [n]. */
  readonly beliefMae: Float32Array;
  /** f32 [n] each; NaN where unknown. */
  readonly firstHalfMeans: Float32Array;
  readonly secondHalfMeans: Float32Array;
}

/**
 * A row of an evaluation, without the columns about a language model's answers and the scores under other graders. `wins` is
 * null if the heuristic is not among the policies.
 */
export interface RegradedRow
  extends Omit<EvaluationRow, 'wins' | 'components' | 'regraded' | keyof AnswerSummary> {
  readonly wins: Wins | null;
  /** Means by component, in camelCase; null for components that a former world lacks. */
  readonly components: Readonly<Record<string, number | null>>;
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
  /** The version of the episodes' former world with the fewest components; null if all are of this world. */
  readonly formerWorld: string | null;
  readonly rows: readonly RegradedRow[];
  readonly conditions: readonly RegradedCondition[];
}

/**
 * Grades stored episodes again, without stepping. Built-in policies come first, in the order in which tables list them.
 * @throws InputError `bad_grader` for a grader that weighs components which the stored episodes lack.
 */
export function regradeStored(stored: readonly StoredCondition[], grader: Grader): Regraded {
  const weights = graderWeights(grader);
  const former = formerWorldOf(stored);
  if (former !== null) refuseMissing(grader, former);
  const conditions = stored.map((condition) => ({
    ...condition,
    policies: [...condition.policies].sort((a, b) => positionOf(a) - positionOf(b)),
  }));
  return {
    grader: grader.name,
    graderWeights: grader.weights,
    formerWorld: former?.version ?? null,
    rows: conditions.flatMap((condition) => rowsOf(condition, weights)),
    conditions: conditions.map(({ condition, policies }) => {
      const named = policies.map((policy) => ({ name: policyName(policy), components: policy.components }));
      return {
        condition,
        standings: rankPolicies(named, grader),
        sensitivity: weightSensitivity(named, grader).slice(0, former?.numComponents),
      };
    }),
  };
}

/** Returns the former world with the fewest components; null if all episodes are of this world. */
const formerWorldOf = (stored: readonly StoredCondition[]): FormerWorld | null =>
  stored
    .flatMap(({ policies }) => policies.flatMap(({ former }) => former ?? []))
    .reduce<FormerWorld | null>(
      (least, world) => (least !== null && least.numComponents <= world.numComponents ? least : world),
      null,
    );

function refuseMissing({ name, weights }: Grader, { version, numComponents }: FormerWorld): void {
  const missing = COMPONENT_NAMES.slice(numComponents).filter((component) => weights[component] !== 0);
  if (missing.length === 0) return;
  throw new InputError(
    'bad_grader',
    `Expected a grader that weighs only stored components, ${COMPONENT_NAMES.slice(0, numComponents).join(', ')}; ` +
      `got ${name}, which weighs ${missing.join(' and ')}. Files of world ${version} lack these. Replay the trajectories ` +
      'with rhythm-vec reeval --grader, or play again with eval --components.',
  );
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
    const { policy, belief, sequenceGrader, oracle, former } = each;
    const { wins, components, ...summary } = tally.summary();
    return {
      condition,
      policy,
      belief,
      sequenceGrader,
      oracle,
      seeds,
      profiles,
      ...summary,
      components: former === null ? components : withoutMissing(components, former),
      wins: baseline ? wins : null,
    };
  });
}

/** Replaces the means of components that a former world lacks by null. */
function withoutMissing(
  means: Readonly<Record<string, number>>,
  { numComponents }: FormerWorld,
): Record<string, number | null> {
  const missing = COMPONENT_NAMES.slice(numComponents).map((name) => [camelCase(name), null]);
  return { ...means, ...Object.fromEntries(missing) };
}
