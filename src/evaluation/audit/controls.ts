/** What an audit plays beside its players: beliefs without knowledge (null players), a world where every profile is neutral, and anchors. */
import { repeatActions } from '../../agents/policies/open-loop.js';
import { type Interval, intervalOf } from '../../shared/statistics.js';
import { PROFILE_KINDS, type ProfileKind } from '../../world/conditions.js';
import { ACTION_NAMES } from '../../world/fields.js';
import { AuditEnvs } from './audit-envs.js';
import {
  type AuditRequest,
  freshRange,
  problemProfile,
  profileTrainingSeeds,
  trainingSeeds,
} from './audit-options.js';
import { type AuditBelief, type FittedBeliefs, fitBeliefs } from './beliefs.js';
import { differenceOf } from './gains.js';
import { type Player, type Recording, recordedPlayer, silentPlayer, withBelief } from './players.js';
import type { ScoreAnchors } from './read-anchors.js';
import { type PlannedRequest, recordPlanner } from './recordings.js';
import {
  neutralEvaluations,
  neutralPlannerEpisodes,
  profileEvaluations,
  type SearchProgress,
} from './searches.js';

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
  /** Fresh seeds (audit-options.ts), as "20000-119999". */
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
        silent: intervalOf(base.finalScores),
        gain: differenceOf(await envs.play(withBelief(belief, player)), base),
      });
    }
  }
  return { seeds: freshRange(episodes), rows };
}

/**
 * The gains of knowing the profile in the impossible world, compared with a sequence, a belief and a prior that are fitted
 * to this world. Under a grader that pays only for knowledge these gains are about 0.
 */
export interface ImpossibleWorld {
  /** The mean score of the sequence fitted to this world, with the constant belief fitted to it. */
  readonly score: Interval;
  /** The gain over `score` of a second sequence, with the true belief. Its search is as large as a search for one profile. */
  readonly sequence: Interval;
  /** The gain of the inferring planner over a planner whose prior is the neutral profile alone. */
  readonly planner: Interval;
  /** The constant belief; null if none is stated. */
  readonly belief: readonly number[] | null;
  /** Fresh seeds of `score` and `sequence`. */
  readonly seeds: string;
  /** Fresh seeds of `planner`. */
  readonly plannerSeeds: string;
}

const NEUTRAL = 'neutral';

/** Plays the impossible world. @throws the signal's reason; BackendError. */
export async function playImpossibleWorld(
  request: PlannedRequest,
  progress: SearchProgress,
): Promise<ImpossibleWorld> {
  const profile = problemProfile(NEUTRAL);
  const [refitted] = await progress.search([{ seeds: trainingSeeds(), profile }], {
    evaluations: neutralEvaluations(request),
  });
  // This search has the seeds and the number of evaluations of the searches for single profiles.
  const [own] = await progress.search([{ seeds: profileTrainingSeeds(), profile }], {
    evaluations: profileEvaluations(request),
    initialSequences: refitted.actions,
  });
  const beliefs = await fitBeliefs(request, refitted.actions, NEUTRAL);
  await using envs = new AuditEnvs(request, beliefs, NEUTRAL);
  const openLoopPlay = await envs.play(
    withBelief('fitted', silentPlayer('exploit', 'open-loop', refitted.actions)),
  );
  const ownActions = repeatActions(own.actions, request.episodes);
  const oraclePlay = await envs.play(
    withBelief('truth', silentPlayer('oracle', 'oracle-open-loop', ownActions)),
  );
  const planner = await playPlanners(request, progress, envs);
  return {
    score: intervalOf(openLoopPlay.finalScores),
    sequence: differenceOf(oraclePlay, openLoopPlay),
    planner,
    belief: beliefs.fitted,
    seeds: freshRange(request.episodes),
    plannerSeeds: freshRange(neutralPlannerEpisodes(request)),
  };
}

/** Returns the gain of the inferring planner over a planner that knows this world's only profile, the neutral one. */
async function playPlanners(
  request: PlannedRequest,
  progress: SearchProgress,
  envs: AuditEnvs,
): Promise<Interval> {
  const episodes = neutralPlannerEpisodes(request);
  const [inferring, prior] = [
    await recordPlanner(request, 'inference', progress, episodes, NEUTRAL),
    await recordPlanner(request, 'truth', progress, episodes, NEUTRAL),
  ];
  return differenceOf(
    await envs.play(recordedPlayer('inference', 'planner', inferring)),
    await envs.play(recordedPlayer('exploit', 'planner-prior', prior)),
  );
}

/**
 * The two anchors for one kind of profiles. A score is expressed as a share of the way between them: 0 at the first anchor,
 * 1 at the second.
 */
export interface Anchor extends ScoreAnchors {
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
  request: PlannedRequest,
  progress: SearchProgress,
): Promise<AnchorParts> {
  const problem = { seeds: trainingSeeds(), profile: problemProfile('discrete') };
  const [{ actions: sequence }] = await progress.search([problem]);
  const beliefs = await fitBeliefs(request, sequence, 'discrete');
  return {
    sequence,
    beliefs,
    oracle: await recordPlanner(request, 'truth', progress, request.plannerEpisodes, 'discrete'),
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
