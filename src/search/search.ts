/** A search's course: islands for every problem, and then one population each from the best of all. */
import { Draws } from './draws.js';
import { isBetter, type ScoredTape } from './objective.js';
import type { Plan } from './plan.js';
import { Population } from './population.js';
import type { SearchRequest } from './request.js';
import { type Scorer, trialOf } from './scorer.js';

/** What is known of a problem so far. */
interface Progress {
  readonly draws: Draws;
  /** u8 [n, 28]: the best of each island. */
  readonly emigrants: Uint8Array[];
  /** The best of the islands, and what a shortfall cost on its own. */
  best: ScoredTape | null;
  price: number;
}

export class Search {
  readonly #request: SearchRequest;
  readonly #plan: Plan;
  readonly #scorer: Scorer;
  readonly #problems: readonly Progress[];

  constructor(request: SearchRequest, plan: Plan, scorer: Scorer) {
    this.#request = request;
    this.#plan = plan;
    this.#scorer = scorer;
    // All problems draw the same numbers: none is luckier by its place among them.
    this.#problems = Array.from({ length: request.problems }, () => ({
      draws: new Draws(request.seed),
      emigrants: [],
      best: null,
      price: 1,
    }));
  }

  /** Yields how many tapes were scored since it last did. @returns the best tape of each problem. */
  *run(): Generator<number, ScoredTape[]> {
    for (let island = 0; island < this.#plan.islands; island++) yield* this.#visitIsland();
    return yield* this.#finish();
  }

  *#visitIsland(): Generator<number> {
    const { size, offspring, generations, stride, emigrants } = this.#plan;
    const populations = this.#problems.map(({ draws }) => new Population(draws, size, offspring));
    yield* this.#evolve(populations, generations, stride);
    this.#problems.forEach((problem, k) => {
      const { best, price } = populations[k];
      // Of tapes that fall short at what that costs here, the best may be none.
      problem.emigrants.push(best.tape, populations[k].first(emigrants - 1));
      if (problem.best === null || isBetter(best, problem.best)) Object.assign(problem, { best, price });
    });
  }

  *#finish(): Generator<number, ScoredTape[]> {
    const { size, offspring, immigrants, lastGenerations } = this.#plan;
    const guests = this.#guests();
    const populations = this.#problems.map(({ draws, emigrants, price }) => {
      const population = new Population(draws, size, Math.max(offspring, immigrants), price);
      population.offer([...emigrants, ...guests, this.#request.initialTapes]);
      return population;
    });
    yield* this.#select(populations, 1);
    yield* this.#evolve(populations, lastGenerations, 1);
    return populations.map(({ best }) => best);
  }

  /** What was found for problems that stand evenly among all. */
  #guests(): Uint8Array[] {
    const { guests } = this.#plan;
    const { length } = this.#problems;
    return Array.from(
      { length: guests },
      (_, k) => this.#problems[Math.floor((k * length) / guests)].best!.tape,
    );
  }

  *#evolve(populations: readonly Population[], generations: number, stride: number): Generator<number> {
    for (let generation = 0; generation < generations; generation++) {
      for (const population of populations) population.breed(this.#plan.offspring);
      yield* this.#select(populations, stride);
    }
  }

  *#select(populations: readonly Population[], stride: number): Generator<number> {
    const trials = populations.map(({ candidates }, problem) => trialOf(problem, candidates));
    yield* this.#scorer.score(trials, stride);
    populations.forEach((population, k) => {
      population.select(trials[k].scores, trials[k].shortfalls);
    });
  }
}
