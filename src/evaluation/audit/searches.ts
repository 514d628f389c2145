/**
 * Searches for the action sequences and the reactive policy of an audit. If an audit is divided into shards, each shard skips
 * some of the searches (see audit-pieces.ts).
 */

import {
  type FoundActionSequence,
  searchActionSequence,
  searchActionSequences,
} from '../../agents/search/find-sequences.js';
import { findReactivePolicy, REACTIVE_EPISODES, REACTIVE_PARAMETERS } from '../../agents/search/reactive.js';
import { openAnyVecEnv } from '../../engine/node.js';
import { Episode } from '../../engine/reference/episode.js';
import { COMPONENT_NAMES } from '../../world/fields.js';
import { inDomain } from '../../world/validate-world.js';
import type { AuditRequest } from './audit-options.js';
import { freshSeeds, profileTrainingSeeds, trainingSeeds } from './audit-seeds.js';
import type { Findings } from './players.js';
import type { SearchProgress } from './search-progress.js';
import { generationsOf, profileEvaluations, pushableComponents, pushEvaluations } from './search-shares.js';

/**
 * The share of the grader's weights in the search for a push, a sequence that raises one component. These weights break ties
 * between sequences. Chosen by hand: with a larger share, the search raises other components at the cost of that one.
 */
const TIE_BREAK = 0.01;

/** Searches for the action sequences for sampled profiles. @throws the signal's reason; BackendError. */
export async function runSearches(request: AuditRequest, progress: SearchProgress): Promise<Findings> {
  const { weights, evaluations } = request;
  const problem = { seeds: trainingSeeds() };
  const options = progress.nextSearch(evaluations * problem.seeds.length);
  const openLoop = await request.piece({
    name: 'open-loop',
    compute: () => searchActionSequence(problem, { ...options, grader: weights, evaluations }),
    ifSkipped: null,
  });
  const minFirstHalfMean = await heuristicFirstHalfMean(request);
  const honestOptions = {
    ...progress.nextSearch(evaluations * problem.seeds.length),
    grader: weights,
    evaluations,
    minFirstHalfMean,
  };
  const openLoopHonest = await request.piece({
    name: 'open-loop-honest',
    compute: () => searchActionSequence(problem, honestOptions),
    ifSkipped: () => openLoop,
  });
  return {
    openLoop,
    openLoopHonest,
    pushes: await searchEachComponent(request, progress, openLoop),
    perProfile: await searchEachProfile(request, progress, openLoop),
  };
}

/** Searches for the sequences that raise one component each, called pushes. Returns them by the component's name. */
async function searchEachComponent(
  request: AuditRequest,
  progress: SearchProgress,
  openLoop: FoundActionSequence,
): Promise<Map<string, FoundActionSequence>> {
  const seeds = trainingSeeds();
  const evaluations = pushEvaluations(request);
  const pushes = new Map<string, FoundActionSequence>();
  for (const component of pushableComponents(request.weights)) {
    const grader = pushWeights(request.weights, component);
    const options = { ...progress.nextSearch(evaluations * seeds.length), grader, evaluations };
    const found = await request.piece({
      name: `push:${COMPONENT_NAMES[component]}`,
      compute: () => searchActionSequence({ seeds }, options),
      ifSkipped: () => openLoop,
    });
    pushes.set(COMPONENT_NAMES[component], found);
  }
  return pushes;
}

/** Returns weights f32 [8] for one component alone, plus a share of the grader's weights, each at most TIE_BREAK. */
function pushWeights(weights: Float32Array, component: number): Float32Array {
  const scale = TIE_BREAK / Math.max(1, ...weights.map(Math.abs));
  // A product below the smallest valid weight becomes 0.
  const scaled = (weight: number): number => (inDomain(scale * weight) ? scale * weight : 0);
  return weights.map((weight, k) => scaled(weight) + (k === component ? 1 - scale : 0));
}

/**
 * Searches for the best sequence for each profile. The profiles are those of the first `profiles` fresh seeds. Each search
 * plays episodes with its profile and the seeds of profileTrainingSeeds().
 */
function searchEachProfile(
  request: AuditRequest,
  progress: SearchProgress,
  openLoop: FoundActionSequence,
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
  const settings = { ...options, grader: weights, evaluations, initialSequences: openLoop.actions };
  return request.piece({
    name: 'profiles',
    compute: () => searchActionSequences(problems, settings),
    ifSkipped: () => problems.map(() => openLoop),
  });
}

/** Returns the heuristic's mean reward in the first half, which `open-loop-honest` must reach in its first half. */
async function heuristicFirstHalfMean({ engine }: AuditRequest): Promise<number> {
  const seeds = trainingSeeds();
  await using env = await openAnyVecEnv({ numEnvs: seeds.length, ...engine });
  await env.reset({ seed: seeds });
  const { firstHalfMeans } = await env.run('heuristic');
  return firstHalfMeans.reduce((sum, mean) => sum + mean, 0) / firstHalfMeans.length;
}

/**
 * Searches for the reactive policy with the best score, starting from the open-loop sequence. Returns its parameters, f64
 * [480].
 */
export async function searchReactive(
  request: AuditRequest,
  progress: SearchProgress,
  sequence: Uint8Array,
): Promise<Float64Array> {
  const { weights: grader, seed, engine, signal } = request;
  const generations = generationsOf(request);
  const onProgress = progress.next(generations * REACTIVE_EPISODES);
  const options = { grader, seed, engine, signal, generations, sequence, onProgress };
  return request.piece({
    name: 'reactive',
    compute: async () => (await findReactivePolicy({ ...options, seeds: trainingSeeds() })).parameters,
    ifSkipped: () => new Float64Array(REACTIVE_PARAMETERS),
  });
}
