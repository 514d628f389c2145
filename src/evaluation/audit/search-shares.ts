/**
 * Computes how much each search of an audit does: evaluations (scored sequences), generations, rounds, and episodes in all.
 * The shares and divisors are chosen by hand: larger searches find better sequences and policies, and take longer.
 */
import { REACTIVE_EPISODES } from '../../agents/search/reactive.js';
import type { AuditRequest } from './audit-options.js';
import { NUM_TRAINING_SEEDS, SEEDS_PER_PROFILE } from './audit-seeds.js';
import { isBeliefComponent } from './beliefs.js';

/** The share of the evaluations for the search for a push, the sequence that maximises one component. */
const PUSH_SHARE = 1 / 6;
/** The share of the evaluations for the search for one profile. */
const PROFILE_SHARE = 1 / 60;
/** The share of the evaluations for the search in the world where every profile is neutral (impossible-world.ts). */
const NEUTRAL_SHARE = 1 / 3;
/** The smallest number of evaluations that a search accepts (search-request.ts). */
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
  // Three searches: for open-loop and open-loop-honest (docs/graders.md), and for open-loop on discrete profiles.
  const forAll = evaluations * 3 + pushEvaluations(request) * pushableComponents(weights).length;
  const sequences = (forAll + neutralEvaluations(request)) * NUM_TRAINING_SEEDS;
  // The 1 is the neutral profile of the impossible world.
  const perProfile = profileEvaluations(request) * (profiles + 1) * SEEDS_PER_PROFILE;
  // Three planners for sampled profiles and one for discrete profiles; two planners play the impossible world.
  const planned = plannerEpisodes * 4 + neutralPlannerEpisodes(request) * 2;
  return sequences + perProfile + generationsOf(request) * REACTIVE_EPISODES + planned * IMAGINED_EPISODES;
}
