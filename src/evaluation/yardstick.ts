/**
 * The yardstick of scores: the highest mean score of four policies that infer nothing, in the same episodes under the same
 * grader. To lie above it is necessary evidence of inference, and not sufficient.
 */
import { policyName } from '../agents/policies/fixed-policies.js';
import type { GraderWeights } from '../engine/graders/grader.js';
import { type Interval, intervalOf } from '../shared/statistics.js';
import { CONDITIONS, episodesOf, profilesOf, seedsOf } from '../world/conditions.js';
import { GRADER_NAMES } from '../world/fields.js';
import type { Evaluation, EvaluationRow } from './evaluate.js';
import { decimals, listed } from './format-results.js';
import type { RegradedRow } from './regrade-stored.js';
import {
  INFER_NOTHING,
  measuredGrader,
  storedScores,
  YARDSTICK_POLICIES,
  type YardstickPolicy,
} from './stored-scores.js';

type Means = Partial<Record<YardstickPolicy, number>>;

/** Episodes under one grader. `condition` is a name alone: the other fields decide which episodes these are. */
interface GradedEpisodes {
  readonly condition: string;
  /** Such as "0-99". */
  readonly seeds: string;
  /** As `describeProfiles` of src/world/conditions.ts describes them. */
  readonly profiles: string;
  readonly episodes: number;
  readonly grader: string;
}

type Episodes = Pick<GradedEpisodes, 'seeds' | 'profiles' | 'episodes'>;

/** The means of all policies of the yardstick in the episodes of a standard condition. */
export interface StoredMeans extends GradedEpisodes {
  readonly means: Readonly<Required<Means>>;
}

let means: readonly StoredMeans[] | undefined;

/** Returns the stored means, by grader and standard condition. Computed on first use, since it takes some 10 ms. */
export function storedMeans(): readonly StoredMeans[] {
  means ??= GRADER_NAMES.flatMap((grader) =>
    CONDITIONS.map((condition) => ({
      ...{ grader, condition: condition.name },
      ...{ seeds: seedsOf(condition), profiles: profilesOf(condition), episodes: episodesOf(condition) },
      means: Object.fromEntries(
        YARDSTICK_POLICIES.map((policy) => [
          policy,
          intervalOf(storedScores(grader, policy, condition.parts)!).mean,
        ]),
      ) as Required<Means>,
    })),
  );
  return means;
}

/** The score of a policy. */
export interface PolicyScore extends GradedEpisodes {
  /** Needed only for custom graders. */
  readonly weights?: GraderWeights;
  /** The policy's name, with `+constant` for the constant belief. */
  readonly name: string;
  readonly finalScore: Interval;
  readonly oracle: boolean;
  /** Whether the policy played for this grader. If not, its score does not count for the yardstick. */
  readonly isOwnGrader: boolean;
}

/** The yardstick in some episodes under one grader. */
export interface Yardstick extends GradedEpisodes {
  /** The policy with the highest mean score; null if the scores of all four are missing. */
  readonly policy: string | null;
  /** Its mean score. */
  readonly score: number | null;
  /** The policies of the yardstick whose scores are neither stored nor among the given ones. */
  readonly missing: readonly string[];
  /**
   * The policies whose scores lie above it with their whole 95 % intervals, except oracles and built-in policies that infer
   * nothing: under a custom grader, for which no sequence was searched, the yardstick can be lower than these.
   */
  readonly above: readonly string[];
}

/**
 * Returns the yardstick of each grader and each set of episodes, in order of appearance. The means in the standard conditions
 * under the built-in graders are stored; others are those of the given scores.
 * @param worldDigest the world of the episodes: the stored means are those of one world.
 */
export function yardsticksOf(scores: readonly PolicyScore[], worldDigest: string): Yardstick[] {
  const keyOf = ({ grader, condition, seeds, profiles, episodes }: PolicyScore): string =>
    JSON.stringify([grader, condition, seeds, profiles, episodes]);
  return [...new Set(scores.map(keyOf))].map((key) => {
    const group = scores.filter((score) => keyOf(score) === key);
    return yardstickOf(group, meansOf(group[0], worldDigest));
  });
}

/** Rows of an evaluation, or of stored episodes that are graded again. */
type Row = RegradedRow & Partial<Pick<EvaluationRow, 'regraded'>>;

/**
 * Returns the scores of rows, under their grader and under the graders that grade them again.
 * @param isOwnGrader whether the policies played for `grader`.
 */
export const scoresOf = (
  rows: readonly Row[],
  { grader, graderWeights: weights }: Pick<Evaluation, 'grader' | 'graderWeights'>,
  isOwnGrader: boolean,
): PolicyScore[] =>
  rows.flatMap(({ condition, seeds, profiles, episodes, oracle, finalScore, regraded = [], ...row }) => {
    const common = { condition, seeds, profiles, episodes, oracle, name: policyName(row) };
    return [
      { ...common, grader, weights, finalScore, isOwnGrader },
      ...regraded.map((score) => ({ ...common, ...score, isOwnGrader: false })),
    ];
  });

/** Returns the yardsticks of an evaluation. */
export const evaluationYardsticks = (evaluation: Evaluation): Yardstick[] =>
  yardsticksOf(scoresOf(evaluation.rows, evaluation, true), evaluation.worldDigest);

function yardstickOf(scores: readonly PolicyScore[], stored: Means): Yardstick {
  const [{ condition, seeds, profiles, episodes, grader }] = scores;
  const played = scores.filter(({ isOwnGrader }) => isOwnGrader);
  const meanOf = (policy: YardstickPolicy): number | undefined =>
    stored[policy] ?? played.find(({ name }) => name === policy)?.finalScore.mean;
  const known = YARDSTICK_POLICIES.flatMap((policy) => {
    const mean = meanOf(policy);
    return mean === undefined ? [] : [{ policy, mean }];
  });
  const best = known.reduce<(typeof known)[number] | null>(
    (highest, each) => (highest !== null && highest.mean >= each.mean ? highest : each),
    null,
  );
  const isAbove = ({ oracle, name, finalScore: { low } }: PolicyScore): boolean =>
    best !== null && !oracle && !INFER_NOTHING.has(name) && low !== null && low > best.mean;
  return {
    ...{ condition, seeds, profiles, episodes, grader },
    policy: best?.policy ?? null,
    score: best?.mean ?? null,
    missing: YARDSTICK_POLICIES.filter((policy) => meanOf(policy) === undefined),
    above: [...new Set(scores.filter(isAbove).map(({ name }) => name))],
  };
}

/** Returns the stored means of the same episodes under a built-in grader with the same weights; {} if there are none. */
function meansOf(score: PolicyScore, worldDigest: string): Means {
  const builtIn = measuredGrader(score.grader, score.weights, worldDigest);
  return storedMeans().find((stored) => stored.grader === builtIn && isSameSet(stored, score))?.means ?? {};
}

/** Returns whether two sets of episodes are equal. With fewer episodes, seeds may be missing between the first and the last. */
const isSameSet = (one: Episodes, other: Episodes): boolean =>
  one.seeds === other.seeds && one.profiles === other.profiles && one.episodes === other.episodes;

const MEANING =
  `Yardstick: the highest mean score of ${listed(YARDSTICK_POLICIES)}, played for that grader. None of them infers the ` +
  'profile. A score that does not lie above it is no evidence of inference. To lie above it is necessary, not sufficient. ' +
  'Scores of policies that played for another grader can lie lower: for a verdict, play for the grader (--grader).';

/**
 * Describes yardsticks, the policies above them and the policies that are missing.
 * @param command the command and option that play missing policies.
 */
export function yardstickNotes(yardsticks: readonly Yardstick[], command = 'eval --policies'): string[] {
  const graders = [...new Set(yardsticks.map(({ grader }) => grader))];
  const under = (name: string) => yardsticks.filter(({ grader }) => grader === name);
  const known = graders.flatMap((grader) => knownNote(grader, under(grader)));
  const missing = graders.map((grader) => missingText(under(grader)));
  const unknown = [...new Set(missing)]
    .filter((text) => text !== '')
    .map((text) => {
      const incomplete = graders.filter((_, k) => missing[k] === text);
      return (
        `Yardstick under ${listed(incomplete)}: unknown scores of ${text}. Play them for ` +
        `${incomplete.length === 1 ? 'this grader' : 'each grader'}, on the same seeds: ${command} ${YARDSTICK_POLICIES.join(',')}`
      );
    });
  return [MEANING, ...known, ...unknown];
}

function knownNote(grader: string, yardsticks: readonly Yardstick[]): string[] {
  const known = yardsticks.filter(({ score }) => score !== null);
  const texts = known.map(
    (each) =>
      `${placeOf(each)} ${each.missing.length > 0 ? 'at least ' : ''}${decimals(each.score!)} (${each.policy})`,
  );
  return known.length === 0 ? [] : [`Yardstick under ${grader}: ${texts.join(', ')}. ${aboveText(known)}`];
}

/** Names the missing policies and their conditions; '' if none is missing. */
function missingText(yardsticks: readonly Yardstick[]): string {
  const incomplete = yardsticks.filter(({ missing }) => missing.length > 0);
  const missing = YARDSTICK_POLICIES.filter((policy) =>
    incomplete.some((each) => each.missing.includes(policy)),
  );
  return missing.length === 0 ? '' : `${listed(missing)} (${incomplete.map(placeOf).join('; ')})`;
}

/** Names a condition, with its seeds and profiles unless they are those of a standard condition. */
function placeOf(episodes: Yardstick): string {
  const { condition, seeds, profiles } = episodes;
  const isStandard = storedMeans().some(
    (stored) => stored.condition === condition && isSameSet(stored, episodes),
  );
  if (isStandard) return condition;
  return `${condition}, seeds ${seeds}${profiles === 'sampled' ? '' : `, profiles ${profiles}`}`;
}

/** Lists the policies above yardsticks, each with the conditions. */
function aboveText(yardsticks: readonly Yardstick[]): string {
  const places = new Map<string, string[]>();
  for (const each of yardsticks)
    for (const name of each.above) places.set(name, [...(places.get(name) ?? []), placeOf(each)]);
  const names = Array.from(places, ([name, where]) => `${name} (${where.join(', ')})`);
  return `Above it with the whole 95 % interval: ${names.length === 0 ? 'no policy' : names.join('; ')}.`;
}
