/**
 * Runs the two phases of a search (see `SearchPlan`). A problem is a list of starting states for which the search finds one
 * action sequence. An island is a population of the first phase.
 */

import type { EngineCalls } from '../../engine/engine-calls.js';
import { isBetter, type ScoredActionSequence } from './objective.js';
import { Population } from './population.js';
import { type Scorer, spacedStarts, trialOf } from './scorer.js';
import type { SearchPlan } from './search-budget.js';
import { SearchDraws } from './search-draws.js';
import type { SearchRequest } from './search-request.js';

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

/** A search for the best sequence of each problem. */
export class Search {
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
