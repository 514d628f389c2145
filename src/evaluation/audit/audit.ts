/** Audits a grader: measures what it rewards. */

import { ACTION_NAMES } from '../../world/fields.js';
import { describeRun, type RunInfo } from '../run-info.js';
import { type AuditOptions, type AuditRequest, toAuditRequest } from './audit-options.js';
import { FRESH_FIRST, profileTrainingSeeds, trainingSeeds } from './audit-seeds.js';
import { type AuditRow, bestBlindOf, type Gains, gainsOf, rowsOf } from './gains.js';
import { type MeanEpisode, meanEpisodeOf } from './mean-episodes.js';
import { AuditEnvs, type Play } from './play-sequences.js';
import { type Player, playersOf } from './players.js';
import { runSearches } from './searches.js';
import { verdictOf } from './verdict.js';

/** An action sequence that an audit found for all profiles. */
export interface AuditActionSequence {
  /** The policy that plays it. */
  readonly policy: string;
  /** Action names, [28] by step. */
  readonly actions: readonly string[];
  /** Its training score under the grader of its search. */
  readonly trainingScore: number;
  /** The number of sequences scored in its search. */
  readonly evaluations: number;
}

/** The result of an audit. The same options give the same numbers. */
export interface Audit extends RunInfo {
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
    /** Seeds of the scores. */
    readonly fresh: string;
    /** Fresh seeds whose profiles got a search of their own. */
    readonly profiles: string;
  };
  /** Wall time in seconds. */
  readonly seconds: number;
  /** In the order of tables. */
  readonly rows: readonly AuditRow[];
  /** The best policy that does not use the profile. */
  readonly bestBlind: string;
  /** Gains of each exploit, and of knowing the profile. */
  readonly gains: Gains;
  /** The sequences found for all profiles. */
  readonly sequences: readonly AuditActionSequence[];
  /** The result in one paragraph. */
  readonly verdict: string;
  /** Data of the figures; not in the JSON. */
  readonly meanEpisodes: readonly MeanEpisode[];
}

/**
 * Measures what a grader rewards, before any training. Searches for the best action sequences for all profiles (with and
 * without neglect of the first half), for each component alone, and for single profiles, and scores them on the same fresh
 * seeds. The result does not depend on the backend, kernel and threads.
 * @throws InputError for an invalid option, before any episode; BackendError if the requested backend or kernel is not
 *   available; the signal's reason.
 */
export async function audit(options: AuditOptions = {}): Promise<Audit> {
  const request = toAuditRequest(options);
  const startTime = performance.now();
  using envs = new AuditEnvs(request);
  const players = playersOf(await runSearches(request), request.weights);
  const plays = players.map((player) => envs.play(player));
  return {
    ...describeRun(envs.env, request.grader),
    ...settingsOf(request),
    ...judge(plays, request),
    sequences: players.flatMap(sequenceOf),
    meanEpisodes: players.flatMap((player) => meanEpisodeOf(envs, player)),
    seconds: (performance.now() - startTime) / 1000,
  };
}

function judge(plays: readonly Play[], { grader, weights }: AuditRequest) {
  const rows = rowsOf(plays, weights);
  const best = bestBlindOf(plays);
  const gains = gainsOf(plays, best);
  const bestRow = rows[plays.indexOf(best)];
  return { rows, bestBlind: bestRow.policy, gains, verdict: verdictOf(grader.name, bestRow, gains) };
}

function settingsOf({ seed, evaluations, episodes, profiles }: AuditRequest) {
  const describeSeeds = (seeds: Uint32Array): string => `${seeds.length} from ${seeds[0]} to ${seeds.at(-1)}`;
  return {
    seed,
    evaluations,
    seeds: {
      training: describeSeeds(trainingSeeds()),
      perProfile: describeSeeds(profileTrainingSeeds()),
      fresh: `${FRESH_FIRST}-${FRESH_FIRST + episodes - 1}`,
      profiles: `${FRESH_FIRST}-${FRESH_FIRST + profiles - 1}`,
    },
  };
}

function sequenceOf({ name, belief, searchResult }: Player): AuditActionSequence[] {
  if (searchResult === null || belief !== 'none') return [];
  const { actions: codes, score, evaluations } = searchResult;
  const actions = Array.from(codes, (action) => ACTION_NAMES[action]);
  return [{ policy: name, actions, trainingScore: score, evaluations }];
}
