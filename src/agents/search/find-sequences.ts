/** Finds the best action sequence, for all profiles or for one profile. */

import { openBatch } from '../../engine/backends/open-batch.js';
import { type EngineCalls, runAsync, yieldTurn } from '../../engine/engine-calls.js';
import { NUM_STEPS } from '../../world/fields.js';
import { SearchDraws } from './breeding.js';
import { isBetter, Population, type ScoredActionSequence } from './population.js';
import { Scorer, spacedStarts, trialOf } from './scorer.js';
import {
  type ActionSequenceProblem,
  type ActionSequenceSearchOptions,
  type SearchRequest,
  toSearchRequest,
} from './search-options.js';

/** The best action sequence that a search found. */
export interface FoundActionSequence extends ScoredActionSequence {
  /** The number of sequences scored for this problem. With many seeds, most sequences are played on some of the seeds only. */
  readonly evaluations: number;
}

/** Searches for the best action sequence of one problem. @throws as `searchActionSequences`. */
export async function searchActionSequence(
  problem: ActionSequenceProblem,
  options: ActionSequenceSearchOptions = {},
): Promise<FoundActionSequence> {
  const [result] = await searchActionSequences([problem], options);
  return result;
}

/**
 * Searches for the action sequence with the highest mean final score over the episodes of each problem, by an
 * evolutionary algorithm. No belief is stated. Problems that are searched together exchange sequences. The backend, kernel and
 * threads do not change the result.
 * @param problems all with the same number of seeds. @returns a sequence for each problem with its training score, which
 *   is biased: measure the sequence on other seeds.
 * @throws InputError for an invalid problem or option, before any episode; BackendError if the requested backend or
 *   kernel is not available, or memory runs out; the signal's reason.
 */
export async function searchActionSequences(
  problems: readonly ActionSequenceProblem[],
  options: ActionSequenceSearchOptions = {},
): Promise<FoundActionSequence[]> {
  const request = toSearchRequest(problems, options);
  const { onProgress, signal } = options;
  const plan = searchPlanOf(request);
  const evaluations = evaluationsOf(plan);
  signal?.throwIfAborted();
  const maxSequences = Math.max(plan.offspring, plan.immigrants);
  using scorer = await runAsync(Scorer.open(request, openBatch, { maxSequences }));
  let done = 0;
  const onPlayed = async (sequences: number): Promise<void> => {
    done += sequences;
    onProgress?.(done, evaluations * request.numProblems);
    // Lets signals and timers run.
    await yieldTurn();
    signal?.throwIfAborted();
  };
  const found = await runAsync(new Search(request, plan, scorer, onPlayed).run());
  return found.map((sequence) => ({ ...sequence, evaluations }));
}

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

/** Intermediate results of a problem. */
interface Progress {
  readonly draws: SearchDraws;
  /** u8 [n, 28] each: the best sequences of the islands so far, with which the second phase begins. */
  readonly emigrants: Uint8Array[];
  /** The best sequence of all islands so far. */
  best: ScoredActionSequence | null;
  /** The penalty (population.ts) at the start of the second phase: the last penalty of the island that found `best`. */
  penalty: number;
}

/**
 * A search for the best sequence of each problem, in two phases (see `SearchPlan`). A problem is a list of starting states for
 * which the search finds one action sequence. An island is a population of the first phase.
 */
class Search {
  readonly #request: SearchRequest;
  readonly #plan: SearchPlan;
  readonly #scorer: Scorer;
  readonly #onPlayed: (sequences: number) => unknown;
  readonly #problems: readonly Progress[];

  /** @param onPlayed as in `ScoreOptions`. */
  constructor(
    request: SearchRequest,
    plan: SearchPlan,
    scorer: Scorer,
    onPlayed: (sequences: number) => unknown = () => {},
  ) {
    this.#request = request;
    this.#plan = plan;
    this.#scorer = scorer;
    this.#onPlayed = onPlayed;
    // All problems use the same random numbers, so the islands of a problem do not depend on its index.
    this.#problems = Array.from({ length: request.numProblems }, () => ({
      draws: new SearchDraws(request.seed),
      emigrants: [],
      best: null,
      penalty: 1,
    }));
  }

  /** Returns the best sequence of each problem. */
  *run(): EngineCalls<ScoredActionSequence[]> {
    for (let island = 0; island < this.#plan.islands; island++) yield* this.#evolveIsland();
    return yield* this.#runLastPhase();
  }

  /** Evolves one island of each problem. */
  *#evolveIsland(): EngineCalls<void> {
    const { size, offspring, generations, stride, emigrants } = this.#plan;
    const populations = this.#problems.map(({ draws }) => new Population(draws, size, offspring));
    yield* this.#evolve(populations, generations, stride);
    this.#problems.forEach((problem, k) => {
      const { best, penalty } = populations[k];
      // `bestKept` ranks with the penalty, so the sequences that it returns may lack the best one.
      problem.emigrants.push(best.actions, populations[k].bestKept(emigrants - 1));
      if (problem.best === null || isBetter(best, problem.best)) Object.assign(problem, { best, penalty });
    });
  }

  /** Runs the second phase: one population of each problem. */
  *#runLastPhase(): EngineCalls<ScoredActionSequence[]> {
    const { size, offspring, immigrants, lastGenerations } = this.#plan;
    const sharedSequences = this.#sharedSequences();
    const populations = this.#problems.map(({ draws, emigrants, penalty }) => {
      const population = new Population(draws, size, Math.max(offspring, immigrants), penalty);
      population.setCandidates([...emigrants, ...sharedSequences, this.#request.initialSequences]);
      return population;
    });
    yield* this.#select(populations, 1);
    yield* this.#evolve(populations, lastGenerations, 1);
    return populations.map(({ best }) => best);
  }

  /** Returns the best sequences of evenly spaced problems. */
  #sharedSequences(): Uint8Array[] {
    const { sharedSequences } = this.#plan;
    const { length } = this.#problems;
    return Array.from(
      { length: sharedSequences },
      (_, k) => this.#problems[Math.floor((k * length) / sharedSequences)].best!.actions,
    );
  }

  /** Breeds and selects a number of generations. Scores them on every `stride`-th starting state. */
  *#evolve(populations: readonly Population[], generations: number, stride: number): EngineCalls<void> {
    for (let generation = 0; generation < generations; generation++) {
      for (const population of populations) population.breed(this.#plan.offspring);
      yield* this.#select(populations, stride);
    }
  }

  /** Scores the candidates of the populations, and keeps the best. */
  *#select(populations: readonly Population[], stride: number): EngineCalls<void> {
    const trials = populations.map(({ candidates }, problem) => trialOf(problem, candidates));
    const starts = spacedStarts(this.#request.numStarts, stride);
    yield* this.#scorer.score(trials, starts, { onPlayed: this.#onPlayed });
    populations.forEach((population, k) => {
      population.select(trials[k].scores, trials[k].shortfalls);
    });
  }
}
