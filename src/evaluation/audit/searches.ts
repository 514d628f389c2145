/** Searches for the action sequences of an audit. */

import {
  type FoundActionSequence,
  searchActionSequence,
  searchActionSequences,
} from '../../agents/search/find-sequences.js';
import type { ActionSequenceSearchOptions } from '../../agents/search/search-options.js';
import { createVecEnv } from '../../engine/node.js';
import { Episode } from '../../engine/reference/episode.js';
import { COMPONENT_NAMES } from '../../world/fields.js';
import { inDomain } from '../../world/validate-world.js';
import type { AuditRequest } from './audit-options.js';
import { freshSeeds, otherSeeds, trainingSeeds } from './audit-seeds.js';
import { BELIEF_COMPONENT, type Findings } from './players.js';

/** The share of the evaluations for the search of one component. */
const PUSH_SHARE = 1 / 6;
/** The share of the evaluations for the search of one profile. */
const PROFILE_SHARE = 1 / 60;
const LEAST_EVALUATIONS = 1000;
/** The share of the grader's own weights when one component is pushed. It breaks ties where many sequences saturate. */
const TIE_BREAK = 0.01;

/** Runs the searches. @throws the signal's reason; BackendError. */
export async function runSearches(request: AuditRequest): Promise<Findings> {
  const { weights, evaluations } = request;
  const problem = { seeds: trainingSeeds() };
  const progress = new SearchProgress(request);
  const options = progress.nextSearch(evaluations * problem.seeds.length);
  const openLoop = await searchActionSequence(problem, { ...options, grader: weights, evaluations });
  const minFirstHalfMean = heuristicFirstHalfMean(request);
  const openLoopHonest = await searchActionSequence(problem, {
    ...progress.nextSearch(evaluations * problem.seeds.length),
    grader: weights,
    evaluations,
    minFirstHalfMean,
  });
  return {
    openLoop,
    openLoopHonest,
    pushed: await pushEach(request, progress),
    perProfile: await searchEach(request, progress, openLoop.actions),
  };
}

/** Reports the progress of all searches together, and builds their common options. */
class SearchProgress {
  readonly #request: AuditRequest;
  readonly #total: number;
  #begun = 0;

  constructor(request: AuditRequest) {
    this.#request = request;
    const { evaluations, profiles, weights } = request;
    const shared = evaluations * 2 + pushEvaluations(request) * pushable(weights).length;
    const perProfile = profileEvaluations(request) * profiles;
    this.#total = shared * trainingSeeds().length + perProfile * otherSeeds().length;
  }

  /** Returns the options of the next search. @param episodes the number of episodes that it plays. */
  nextSearch(episodes: number): ActionSequenceSearchOptions {
    const { engine, seed, signal, onProgress } = this.#request;
    const before = this.#begun;
    this.#begun += episodes;
    return {
      ...engine,
      seed,
      signal,
      onProgress: (done, of) => onProgress(before + Math.round((episodes * done) / of), this.#total),
    };
  }
}

const pushEvaluations = ({ evaluations }: AuditRequest): number =>
  Math.max(LEAST_EVALUATIONS, Math.round(evaluations * PUSH_SHARE));
const profileEvaluations = ({ evaluations }: AuditRequest): number =>
  Math.max(LEAST_EVALUATIONS, Math.round(evaluations * PROFILE_SHARE));

/** Returns the indices of components that have a weight and depend on actions. */
const pushable = (weights: Float32Array): number[] =>
  [...weights.keys()].filter((k) => k !== BELIEF_COMPONENT && weights[k] !== 0);

/** Searches for the best sequence of each component. */
async function pushEach(
  request: AuditRequest,
  progress: SearchProgress,
): Promise<Map<string, FoundActionSequence>> {
  const seeds = trainingSeeds();
  const evaluations = pushEvaluations(request);
  const pushed = new Map<string, FoundActionSequence>();
  for (const component of pushable(request.weights)) {
    const grader = alone(request.weights, component);
    const options = { ...progress.nextSearch(evaluations * seeds.length), grader, evaluations };
    pushed.set(COMPONENT_NAMES[component], await searchActionSequence({ seeds }, options));
  }
  return pushed;
}

/** Returns weights f32 [6] for one component alone, plus a small share of the grader's weights. */
function alone(weights: Float32Array, component: number): Float32Array {
  const hint = TIE_BREAK / Math.max(1, ...weights.map(Math.abs));
  // A product that is too small for a weight becomes 0.
  const hinted = (weight: number): number => (inDomain(hint * weight) ? hint * weight : 0);
  return weights.map((weight, k) => hinted(weight) + (k === component ? 1 - hint : 0));
}

/** Searches for the best sequence of each profile of the fresh seeds, on other seeds. */
function searchEach(
  request: AuditRequest,
  progress: SearchProgress,
  openLoop: Uint8Array,
): Promise<FoundActionSequence[]> {
  const { weights, profiles } = request;
  const evaluations = profileEvaluations(request);
  const seeds = otherSeeds();
  const episode = new Episode();
  const problems = Array.from(freshSeeds(profiles), (seed) => {
    episode.reset(seed);
    return { seeds, profile: episode.profile.slice() };
  });
  const options = progress.nextSearch(evaluations * profiles * seeds.length);
  return searchActionSequences(problems, {
    ...options,
    grader: weights,
    evaluations,
    initialSequences: openLoop,
  });
}

/** Returns the heuristic's mean reward in the first half, the lower bound of `open-loop-honest`. */
function heuristicFirstHalfMean({ engine }: AuditRequest): number {
  const seeds = trainingSeeds();
  using env = createVecEnv({ numEnvs: seeds.length, ...engine });
  env.reset({ seed: seeds });
  const { firstHalfMeans } = env.run('heuristic');
  return firstHalfMeans.reduce((sum, mean) => sum + mean, 0) / firstHalfMeans.length;
}
