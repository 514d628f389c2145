/** Audits a grader: measures what it rewards. */

import { ACTION_NAMES } from '../../world/fields.js';
import { describeRun, type RunInfo } from '../run-info.js';
import { type Assessment, assess, verdictOf } from './assessment.js';
import { AuditEnvs, type MeanEpisode, meanEpisodeOf, type Play } from './audit-envs.js';
import {
  type AuditOptions,
  type AuditRequest,
  freshRange,
  profileTrainingSeeds,
  toAuditRequest,
  trainingSeeds,
} from './audit-options.js';
import { fitBeliefs } from './beliefs.js';
import {
  type Anchors,
  findDiscreteAnchor,
  type ImpossibleWorld,
  type NullPlayers,
  nullPlayerEpisodes,
  playAnchors,
  playImpossibleWorld,
  playNullPlayers,
} from './controls.js';
import { type AuditRow, bestIgnoringProfile, type Gains, gainsOf, rowsOf } from './gains.js';
import { type Player, playersOf, type Recordings, silentPlayer, silentPoliciesOf } from './players.js';
import { type PlannedRequest, recordPlanner, recordPolicies, recordReactive } from './recordings.js';
import { runSearches, SearchProgress, searchReactive } from './searches.js';

/** An action sequence that an audit found for all profiles. */
export interface AuditActionSequence {
  /** The policy that plays the sequence. */
  readonly policy: string;
  /** Action names, [28] by step. */
  readonly actions: readonly string[];
  /** The sequence's mean score on the training seeds, under the grader of its search. */
  readonly trainingScore: number;
  /** The number of sequences that its search scored. */
  readonly evaluations: number;
}

/** The result of an audit. The same options give the same numbers, except `seconds`. */
export interface Audit extends RunInfo, Assessment {
  /** u32: the seed of the searches. */
  readonly seed: number;
  /** The number of sequences scored in the search for all profiles. */
  readonly evaluations: number;
  /** Seeds, as text. */
  readonly seeds: {
    /** Training seeds of the searches for all profiles. */
    readonly training: string;
    /** Training seeds of the search for each profile. */
    readonly perProfile: string;
    /** Fresh seeds of the scores. */
    readonly fresh: string;
    /** Fresh seeds whose profiles each have a search of their own. */
    readonly profiles: string;
    /** Fresh seeds that the planners played. */
    readonly planner: string;
  };
  /** Wall time in seconds. */
  readonly seconds: number;
  /** One row per player (a policy with a belief), in the order in which tables list them. */
  readonly rows: readonly AuditRow[];
  /** The name of the best policy that neither knows nor infers the profile. */
  readonly bestBlind: string;
  /** Gains of each exploit, and of knowing the profile. */
  readonly gains: Gains;
  /** The sequences found for all profiles. */
  readonly sequences: readonly AuditActionSequence[];
  /** f64 [480]: the parameters of the reactive policy (agents/search/reactive.ts). */
  readonly reactive: readonly number[];
  /** The gains of policies from stating beliefs without any knowledge of the profile. */
  readonly nullPlayers: NullPlayers;
  /** The gains of knowing the profile in the impossible world, where every profile is neutral. */
  readonly impossible: ImpossibleWorld;
  /** The two anchors of the grader's bracket (docs/grader-audit.md), by kind of profiles. */
  readonly anchors: Anchors;
  /** The best constant belief with the open-loop sequence; null if stating none is as good. */
  readonly fittedBelief: readonly number[] | null;
  /** The result in one paragraph. */
  readonly verdict: string;
  /** Data of the figures; not in the JSON. */
  readonly meanEpisodes: readonly MeanEpisode[];
}

/** Computes `audit` of ../on-first-use.ts. @param openPlanner opens the planners that the audit plays. */
export async function audit(
  options: AuditOptions,
  openPlanner: PlannedRequest['openPlanner'],
): Promise<Audit> {
  const request = { ...toAuditRequest(options), openPlanner };
  const startTime = performance.now();
  const progress = new SearchProgress(request);
  const findings = await runSearches(request, progress);
  const sequence = findings.openLoop.actions;
  const reactive = await searchReactive(request, progress, sequence);
  const recordings = await record(request, progress, reactive);
  const discrete = await findDiscreteAnchor(request, progress);
  const impossible = await playImpossibleWorld(request, progress);
  const beliefs = await fitBeliefs(request, sequence, 'sampled');
  await using envs = new AuditEnvs(request, beliefs);
  const players = playersOf(findings, recordings, request.weights, request.episodes);
  const plays: Play[] = [];
  for (const player of players) plays.push(await envs.play(player));
  const evidence = {
    plays,
    impossible,
    silentPrior: await envs.play(silentPlayer('exploit', 'planner-prior', recordings.prior.actions)),
    nullPlayers: await playNullPlayers(request, beliefs, silentPoliciesOf(findings, recordings.reactive)),
  };
  const meanEpisodes: MeanEpisode[] = [];
  for (const player of players) meanEpisodes.push(...(await meanEpisodeOf(envs, player)));
  const sampled = { sequence, beliefs, oracle: recordings.oracle };
  return {
    ...describeRun(await envs.env, request.grader),
    ...settingsOf(request),
    ...summarize(plays, request),
    ...assess(request.grader.name, evidence),
    nullPlayers: evidence.nullPlayers,
    impossible,
    anchors: await playAnchors(request, { sampled, discrete }),
    fittedBelief: beliefs.fitted,
    sequences: players.flatMap(sequenceOf),
    reactive: [...reactive],
    meanEpisodes,
    seconds: (performance.now() - startTime) / 1000,
  };
}

/**
 * Records the episodes of the reactive policy, the planners and the caller's policies.
 * @param reactive f64 [480]: the parameters of the reactive policy.
 */
async function record(
  request: PlannedRequest,
  progress: SearchProgress,
  reactive: Float64Array,
): Promise<Recordings> {
  const { plannerEpisodes } = request;
  const policies = await recordPolicies(request);
  return {
    reactive: await recordReactive(request, reactive, nullPlayerEpisodes(request)),
    planner: await recordPlanner(request, 'inference', progress, plannerEpisodes),
    prior: await recordPlanner(request, 'prior', progress, plannerEpisodes),
    oracle: await recordPlanner(request, 'truth', progress, plannerEpisodes),
    policies,
  };
}

function summarize(plays: readonly Play[], { grader, weights }: AuditRequest) {
  const rows = rowsOf(plays, weights);
  const best = bestIgnoringProfile(plays);
  const gains = gainsOf(plays, best);
  const bestRow = rows[plays.indexOf(best)];
  return { rows, bestBlind: bestRow.policy, gains, verdict: verdictOf(grader.name, bestRow, gains) };
}

function settingsOf({ seed, evaluations, episodes, profiles, plannerEpisodes }: AuditRequest) {
  const describeSeeds = (seeds: Uint32Array): string => `${seeds.length} from ${seeds[0]} to ${seeds.at(-1)}`;
  return {
    seed,
    evaluations,
    seeds: {
      training: describeSeeds(trainingSeeds()),
      perProfile: describeSeeds(profileTrainingSeeds()),
      fresh: freshRange(episodes),
      profiles: freshRange(profiles),
      planner: freshRange(plannerEpisodes),
    },
  };
}

function sequenceOf({ name, belief, searchResult }: Player): AuditActionSequence[] {
  if (searchResult === null || belief !== 'none') return [];
  const { actions: codes, score, evaluations } = searchResult;
  const actions = Array.from(codes, (action) => ACTION_NAMES[action]);
  return [{ policy: name, actions, trainingScore: score, evaluations }];
}
