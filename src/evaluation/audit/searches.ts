/** Searches for the action sequences and the reactive policy of an audit, with their sizes and their progress. */
import { type FoundActionSequence, searchActionSequences } from '../../agents/search/find-sequences.js';
import { findReactivePolicy, REACTIVE_EPISODES } from '../../agents/search/reactive.js';
import type {
  ActionSequenceProblem,
  ActionSequenceSearchOptions,
} from '../../agents/search/search-options.js';
import { openEnv } from '../../engine/node.js';
import { Episode } from '../../engine/reference/episode.js';
import { COMPONENT_NAMES } from '../../world/fields.js';
import { inDomain } from '../../world/validate-world.js';
import {
  type AuditRequest,
  freshSeeds,
  NUM_TRAINING_SEEDS,
  profileTrainingSeeds,
  SEEDS_PER_PROFILE,
  trainingSeeds,
} from './audit-options.js';
import { isBeliefComponent } from './beliefs.js';
import type { Findings } from './players.js';

/** The share of the evaluations for the search for a push, the sequence that maximises one component. */
const PUSH_SHARE = 1 / 6;
/** The share of the evaluations for the search for one profile. */
const PROFILE_SHARE = 1 / 60;
/** The share of the evaluations for the search in the world where every profile is neutral (controls.ts). */
const NEUTRAL_SHARE = 1 / 3;
/** The smallest number of evaluations that a search accepts (search-options.ts). */
const MIN_EVALUATIONS = 1000;
/** The option `evaluations`, divided by this, is the number of generations of the search for a reactive policy. */
const EVALUATIONS_PER_GENERATION = 1500;
/** Chosen by hand. */
const MIN_GENERATIONS = 4;
/**
 * The number of episodes that progress counts for one episode of a planner, which imagines many episodes to play it. Chosen by
 * hand: only the progress depends on it.
 */
export const IMAGINED_EPISODES = 200_000;

const evaluationsOf = ({ evaluations }: AuditRequest, share: number): number =>
  Math.max(MIN_EVALUATIONS, Math.round(evaluations * share));

/** The number of evaluations of each search: for a push, for one profile, and for the impossible world. */
export const pushEvaluations = (request: AuditRequest): number => evaluationsOf(request, PUSH_SHARE);
export const profileEvaluations = (request: AuditRequest): number => evaluationsOf(request, PROFILE_SHARE);
export const neutralEvaluations = (request: AuditRequest): number => evaluationsOf(request, NEUTRAL_SHARE);

/** Returns the number of generations of the search for a reactive policy. */
export const generationsOf = ({ evaluations }: AuditRequest): number =>
  Math.max(MIN_GENERATIONS, Math.round(evaluations / EVALUATIONS_PER_GENERATION));

/** The option `evaluations`, divided by this, is the number of rounds of a planner's search, up to the planner's default. */
const EVALUATIONS_PER_ROUND = 2500;
/** The planner's default number of rounds (planner-options.ts). */
const FULL_ROUNDS = 16;

/** Returns the number of rounds of a planner's search at each step; undefined for the planner's default. */
export function roundsOf({ evaluations }: AuditRequest): number | undefined {
  const rounds = Math.floor(evaluations / EVALUATIONS_PER_ROUND);
  return rounds < FULL_ROUNDS ? rounds : undefined;
}

/** Returns the number of episodes that each planner plays in the impossible world: half of `plannerEpisodes`, at least 2. */
export const neutralPlannerEpisodes = ({ plannerEpisodes }: AuditRequest): number =>
  Math.max(2, Math.round(plannerEpisodes / 2));

/** Returns the indices of the components for which a push is searched: they have a weight and depend on actions. */
export const pushableComponents = (weights: Float32Array): number[] =>
  [...weights.keys()].filter((k) => !isBeliefComponent(k) && weights[k] !== 0);

/** Returns the number of episodes that progress counts, for all searches and planners. */
export function totalEpisodes(request: AuditRequest): number {
  const { evaluations, profiles, plannerEpisodes, weights } = request;
  // Three searches: for open-loop and open-loop-honest (docs/grader-audit.md), and for open-loop on discrete profiles.
  const forAll = evaluations * 3 + pushEvaluations(request) * pushableComponents(weights).length;
  const sequences = (forAll + neutralEvaluations(request)) * NUM_TRAINING_SEEDS;
  // The 1 is the neutral profile of the impossible world.
  const perProfile = profileEvaluations(request) * (profiles + 1) * SEEDS_PER_PROFILE;
  // Three planners for sampled profiles and one for discrete profiles; two planners play the impossible world.
  const planned = plannerEpisodes * 4 + neutralPlannerEpisodes(request) * 2;
  return sequences + perProfile + generationsOf(request) * REACTIVE_EPISODES + planned * IMAGINED_EPISODES;
}

/** The progress of an audit, in episodes. */
export class SearchProgress {
  readonly #request: AuditRequest;
  readonly #total: number;
  /** The number of episodes of the parts that have begun. */
  #episodes = 0;

  constructor(request: AuditRequest) {
    this.#request = request;
    this.#total = totalEpisodes(request);
  }

  /** Returns the callback of the next part. @param episodes the number of episodes that it plays. */
  next(episodes: number): (done: number, total: number) => void {
    const before = this.#episodes;
    this.#episodes += episodes;
    return (done, total) =>
      this.#request.onProgress(before + Math.round((episodes * done) / total), this.#total);
  }

  /** Searches for the best sequence of each problem, by default under the audited grader, with the option `evaluations`. */
  search(
    problems: readonly ActionSequenceProblem[],
    options: ActionSequenceSearchOptions = {},
  ): Promise<FoundActionSequence[]> {
    const { engine, seed, signal, weights: grader, evaluations } = this.#request;
    const settings = { ...engine, seed, signal, grader, evaluations, ...options };
    const episodes = settings.evaluations * problems.length * problems[0].seeds.length;
    return searchActionSequences(problems, { ...settings, onProgress: this.next(episodes) });
  }
}

/**
 * The share of the grader's weights in the search for a push, a sequence that raises one component. These weights break ties
 * between sequences. Chosen by hand: with a larger share, the search raises other components at the cost of that one.
 */
const TIE_BREAK = 0.01;

/** Searches for the action sequences for sampled profiles. @throws the signal's reason; BackendError. */
export async function runSearches(request: AuditRequest, progress: SearchProgress): Promise<Findings> {
  const problems = [{ seeds: trainingSeeds() }];
  const [openLoop] = await progress.search(problems);
  const minFirstHalfMean = await heuristicFirstHalfMean(request);
  const [openLoopHonest] = await progress.search(problems, { minFirstHalfMean });
  return {
    openLoop,
    openLoopHonest,
    pushes: await searchEachComponent(request, progress),
    perProfile: await searchEachProfile(request, progress, openLoop),
  };
}

/** Searches for the sequences that raise one component each, called pushes. Returns them by the component's name. */
async function searchEachComponent(
  request: AuditRequest,
  progress: SearchProgress,
): Promise<Map<string, FoundActionSequence>> {
  const problems = [{ seeds: trainingSeeds() }];
  const evaluations = pushEvaluations(request);
  const pushes = new Map<string, FoundActionSequence>();
  for (const component of pushableComponents(request.weights)) {
    const grader = pushWeights(request.weights, component);
    const [found] = await progress.search(problems, { grader, evaluations });
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
  const seeds = profileTrainingSeeds();
  const episode = new Episode();
  const problems = Array.from(freshSeeds(request.profiles), (seed) => {
    episode.reset(seed);
    return { seeds, profile: episode.profile.slice() };
  });
  const evaluations = profileEvaluations(request);
  return progress.search(problems, { evaluations, initialSequences: openLoop.actions });
}

/** Returns the heuristic's mean reward in the first half, which `open-loop-honest` must reach in its first half. */
async function heuristicFirstHalfMean({ engine }: AuditRequest): Promise<number> {
  const seeds = trainingSeeds();
  await using env = await openEnv({ numEnvs: seeds.length, ...engine });
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
  return (await findReactivePolicy({ ...options, seeds: trainingSeeds() })).parameters;
}
