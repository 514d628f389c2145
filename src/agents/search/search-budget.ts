/** Divides a search's evaluations among its phases. */
import { NUM_STEPS } from '../../world/fields.js';
import type { SearchRequest } from './search-request.js';

/**
 * The plan of a search. In the first phase, separate populations (islands) evolve from uniformly drawn sequences. In the second
 * phase, one population evolves from the best sequences.
 */
export interface SearchPlan {
  /** The number of islands. */
  readonly islands: number;
  /** The number of generations of each island. */
  readonly generations: number;
  /**
   * Islands evaluate only every `stride`-th starting state of a problem (`ActionSequenceProblem`). The second phase evaluates
   * all. A problem has one starting state for each of its seeds: the state after the reset.
   */
  readonly stride: number;
  /** The number of sequences of each island with which the second phase begins. */
  readonly emigrants: number;
  /**
   * The number of problems that share their best sequence. The second phase of every problem begins with these sequences too.
   * 0 for a single problem.
   */
  readonly sharedSequences: number;
  /** The number of all sequences with which a problem's second phase begins: emigrants, shared ones and the caller's. */
  readonly immigrants: number;
  /** The number of generations of the second phase. */
  readonly lastGenerations: number;
  /** The number of sequences that a population keeps. */
  readonly size: number;
  /** The number of sequences that a population makes in a generation. */
  readonly offspring: number;
}

// The numbers of the plan are chosen by hand. They divide the evaluations among islands, generations and the second phase.

/** The share of the evaluations that the second phase gets. */
const LAST_SHARE = 1 / 6;
/** The intended number of generations of an island; a small budget gives fewer. More generations improve the result little. */
const GENERATIONS = 100;
/**
 * The minimum number of islands, if the budget suffices for GENERATIONS generations of MIN_OFFSPRING sequences on each. A
 * larger budget first makes generations larger, then adds islands.
 */
const MIN_ISLANDS = 4;
/** The bounds of `offspring`. */
const MIN_OFFSPRING = 32;
const MAX_OFFSPRING = 256;
/** The maximum of `sharedSequences`. */
const MAX_SHARED = 256;
/**
 * The minimum number of starting states that an island evaluates, if the problem has so many. With fewer, the island would
 * overfit to their noise.
 */
const MIN_STARTS = 8;
/** The maximum of `stride`. */
const MAX_STRIDE = 4;

/** Returns the plan of a search. */
export function searchPlanOf({
  evaluations,
  numStarts,
  numProblems,
  initialSequences,
}: SearchRequest): SearchPlan {
  const islandEvaluations = evaluations * (1 - LAST_SHARE);
  const lastEvaluations = evaluations - islandEvaluations;
  // The largest power of two with which the minimum number of islands can have the intended number of generations.
  const ideal = 2 ** Math.floor(Math.log2(islandEvaluations / (MIN_ISLANDS * GENERATIONS)));
  const offspring = Math.min(Math.max(ideal, MIN_OFFSPRING), MAX_OFFSPRING);
  const islands = Math.max(1, Math.floor(islandEvaluations / (offspring * GENERATIONS)));
  // All islands together send at least as many emigrants as a generation has offspring.
  const emigrants = Math.ceil(offspring / islands);
  const sharedSequences =
    numProblems === 1 ? 0 : Math.min(numProblems, MAX_SHARED, Math.floor(lastEvaluations / 2));
  const immigrants = islands * emigrants + sharedSequences + initialSequences.length / NUM_STEPS;
  return {
    islands,
    generations: Math.ceil(islandEvaluations / (islands * offspring)),
    stride: Math.min(MAX_STRIDE, Math.max(1, Math.floor(numStarts / MIN_STARTS))),
    emigrants,
    sharedSequences,
    immigrants,
    lastGenerations: Math.ceil(Math.max(0, lastEvaluations - immigrants) / offspring),
    size: offspring / 2,
    offspring,
  };
}

/** Returns the number of sequences scored for each problem. */
export function evaluationsOf(plan: SearchPlan): number {
  const { islands, generations, lastGenerations, offspring, immigrants } = plan;
  return (islands * generations + lastGenerations) * offspring + immigrants;
}
