/**
 * The two anchors of a grader: the scores of the best open-loop sequence with its best constant belief, and of the planner that
 * knows the profile.
 */
import { searchActionSequence } from '../../agents/search/find-sequences.js';
import { type Interval, intervalOf } from '../../shared/statistics.js';
import { ACTION_NAMES } from '../../world/fields.js';
import { AuditEnvs } from './audit-envs.js';
import { type AuditRequest, freshRange, problemProfile, trainingSeeds } from './audit-options.js';
import { type FittedBeliefs, fitBeliefs } from './beliefs.js';
import { nullPlayerEpisodes } from './controls.js';
import type { Recording } from './players.js';
import { recordedPlayer, silentPlayer, withBelief } from './players.js';
import { PROFILE_KINDS, type ProfileKind } from './read-anchors.js';
import { recordPlanner } from './recordings.js';
import type { SearchProgress } from './searches.js';

/**
 * The two anchors for one kind of profiles. A score is expressed as a share of the way between them: 0 at the first anchor,
 * 1 at the second.
 */
export interface Anchor {
  /** The mean score of the best sequence for all profiles, with its best constant belief: share 0. */
  readonly sequence: Interval;
  /** The fresh seeds (audit-options.ts) that `sequence` was scored on, such as "20000-119999". */
  readonly sequenceSeeds: string;
  /** The mean score of the planner that knows the profile: share 1. */
  readonly oracle: Interval;
  /** The fresh seeds that `oracle` was scored on. */
  readonly oracleSeeds: string;
  /** Action names of the sequence, [28]. */
  readonly actions: readonly string[];
  /** The constant belief of the sequence; null if it states none. */
  readonly belief: readonly number[] | null;
}

/** The anchors by kind of profiles. */
export type Anchors = Readonly<Record<ProfileKind, Anchor>>;

/** The sequence, beliefs and episodes from which the anchors of one kind of profiles are computed. */
export interface AnchorParts {
  /** u8 [28]. */
  readonly sequence: Uint8Array;
  readonly beliefs: FittedBeliefs;
  readonly oracle: Recording;
}

/** Finds the sequence, beliefs and episodes for the anchors of discrete profiles. @throws the signal's reason; BackendError. */
export async function findDiscreteAnchor(
  request: AuditRequest,
  progress: SearchProgress,
): Promise<AnchorParts> {
  const { weights: grader, evaluations, plannerEpisodes } = request;
  const seeds = trainingSeeds();
  const options = { ...progress.nextSearch(evaluations * seeds.length), grader, evaluations };
  const problem = { seeds, profile: problemProfile('discrete') };
  const { actions: sequence } = await searchActionSequence(problem, options);
  const beliefs = await fitBeliefs(request, sequence, 'discrete');
  return {
    sequence,
    beliefs,
    oracle: await recordPlanner(request, 'truth', progress, plannerEpisodes, 'discrete'),
  };
}

/** Plays the anchors on fresh seeds. */
export async function playAnchors(
  request: AuditRequest,
  parts: Readonly<Record<ProfileKind, AnchorParts>>,
): Promise<Anchors> {
  const anchors: Partial<Record<ProfileKind, Anchor>> = {};
  for (const kind of PROFILE_KINDS) anchors[kind] = await playAnchor(request, kind, parts[kind]);
  return anchors as Anchors;
}

/** Plays the two anchors of one kind of profiles on fresh seeds. */
async function playAnchor(
  request: AuditRequest,
  kind: ProfileKind,
  { sequence, beliefs, oracle }: AnchorParts,
): Promise<Anchor> {
  const episodes = nullPlayerEpisodes(request);
  await using envs = new AuditEnvs({ ...request, episodes }, beliefs, kind);
  const openLoop = await envs.play(withBelief('fitted', silentPlayer('exploit', 'open-loop', sequence)));
  const oraclePlay = await envs.play(recordedPlayer('oracle', 'planner-oracle', oracle));
  return {
    sequence: intervalOf(openLoop.finalScores),
    sequenceSeeds: freshRange(openLoop.seeds.length),
    oracle: intervalOf(oraclePlay.finalScores),
    oracleSeeds: freshRange(oraclePlay.seeds.length),
    actions: Array.from(sequence, (action) => ACTION_NAMES[action]),
    belief: beliefs.fitted,
  };
}
