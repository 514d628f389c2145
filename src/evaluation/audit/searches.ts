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
import { freshSeeds, profileTrainingSeeds, trainingSeeds } from './audit-seeds.js';
import { BELIEF_COMPONENT, type Findings } from './players.js';

/** The share of the evaluations for the search of one component. */
const PUSH_SHARE = 1 / 6;
/** The share of the evaluations for the search of one profile. */
const PROFILE_SHARE = 1 / 60;
const MIN_EVALUATIONS = 1000;
/** The share of the grader's weights when one component is pushed. It breaks ties of sequences with the full score. */
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
    pushed: await searchEachComponent(request, progress),
    perProfile: await searchEachProfile(request, progress, openLoop.actions),
  };
}

/** Reports the progress of all searches together, and builds their common options. */
class SearchProgress {
  readonly #request: AuditRequest;
  readonly #total: number;
  /** The number of episodes of the searches that have begun. */
  #episodes = 0;

  constructor(request: AuditRequest) {
    this.#request = request;
    const { evaluations, profiles, weights } = request;
    const shared = evaluations * 2 + pushEvaluations(request) * pushableComponents(weights).length;
    const perProfile = profileEvaluations(request) * profiles;
    this.#total = shared * trainingSeeds().length + perProfile * profileTrainingSeeds().length;
  }

  /** Returns the options of the next search. @param episodes the number of episodes that it plays. */
  nextSearch(episodes: number): ActionSequenceSearchOptions {
    const { engine, seed, signal, onProgress } = this.#request;
    const before = this.#episodes;
    this.#episodes += episodes;
    return {
      ...engine,
      seed,
      signal,
      onProgress: (done, total) => onProgress(before + Math.round((episodes * done) / total), this.#total),
    };
  }
}

const pushEvaluations = ({ evaluations }: AuditRequest): number =>
  Math.max(MIN_EVALUATIONS, Math.round(evaluations * PUSH_SHARE));
const profileEvaluations = ({ evaluations }: AuditRequest): number =>
  Math.max(MIN_EVALUATIONS, Math.round(evaluations * PROFILE_SHARE));

/** Returns the indices of components that have a weight and depend on actions. */
const pushableComponents = (weights: Float32Array): number[] =>
  [...weights.keys()].filter((k) => k !== BELIEF_COMPONENT && weights[k] !== 0);

/** Searches for the best sequence of each component. */
async function searchEachComponent(
  request: AuditRequest,
  progress: SearchProgress,
): Promise<Map<string, FoundActionSequence>> {
  const seeds = trainingSeeds();
  const evaluations = pushEvaluations(request);
  const pushed = new Map<string, FoundActionSequence>();
  for (const component of pushableComponents(request.weights)) {
    const grader = pushWeights(request.weights, component);
    const options = { ...progress.nextSearch(evaluations * seeds.length), grader, evaluations };
    pushed.set(COMPONENT_NAMES[component], await searchActionSequence({ seeds }, options));
  }
  return pushed;
}

/** Returns weights f32 [6] for one component alone, plus a small share of the grader's weights. */
function pushWeights(weights: Float32Array, component: number): Float32Array {
  const scale = TIE_BREAK / Math.max(1, ...weights.map(Math.abs));
  // A product below the smallest valid weight becomes 0.
  const scaled = (weight: number): number => (inDomain(scale * weight) ? scale * weight : 0);
  return weights.map((weight, k) => scaled(weight) + (k === component ? 1 - scale : 0));
}

/** Searches for the best sequence of each profile of the fresh seeds, on other seeds. */
function searchEachProfile(
  request: AuditRequest,
  progress: SearchProgress,
  openLoop: Uint8Array,
): Promise<FoundActionSequence[]> {
  const { weights, profiles } = request;
  const evaluations = profileEvaluations(request);
  const seeds = profileTrainingSeeds();
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
