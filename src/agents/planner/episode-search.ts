/** The search for the best plan of one episode at one step. */
import { NUM_ACTIONS, NUM_STEPS } from '../../world/fields.js';
import type { Population } from '../search/population.js';
import { type Trial, trialOf } from '../search/scorer.js';

/**
 * A search may stop (plan-search.ts) if the best sequence is better by at least this value than the best sequence with another
 * first action. In units of the objective, and chosen by hand: with a lower value, searches stop after fewer rounds.
 */
const CLEAR_LEAD = 0.004;

/** The result for one episode. The first action of a sequence is its action at the step of the choice. */
export interface Choice {
  /** The first action of the best sequence. */
  readonly action: number;
  /** The first action of the best sequence with another first action. */
  readonly rivalAction: number;
  /** u8 [kept, 28]: the best sequences, the best first. */
  readonly sequences: Uint8Array;
  /** f64 [10]: the best value with each first action, including the value of information; -Infinity without a sequence. */
  readonly values: Float64Array;
  /** u8 [10, 28]: the best sequence with each first action. */
  readonly best: Uint8Array;
}

/** A population of sequences, and the best of them for each first action. */
export class EpisodeSearch {
  readonly population: Population;
  readonly #problem: number;
  readonly #step: number;
  readonly #informationValues: Float64Array;
  readonly #values = new Float64Array(NUM_ACTIONS).fill(-Infinity);
  readonly #best = new Uint8Array(NUM_ACTIONS * NUM_STEPS);

  /**
   * @param problem the index of the episode in the `Imagination`. @param step the step whose action is chosen.
   * @param informationValues f64 [10]: the value of information of each action, in units of the objective.
   */
  constructor(problem: number, population: Population, step: number, informationValues: Float64Array) {
    this.population = population;
    this.#problem = problem;
    this.#step = step;
    this.#informationValues = informationValues;
  }

  /** Returns a trial (scorer.ts) of the population's candidates, to be scored. */
  trial(): Trial {
    return trialOf(this.#problem, this.population.candidates);
  }

  /**
   * Drops all candidates of a trial but the `count` best by the sum of score and value of information.
   * @returns a trial of the remaining candidates, with their scores. Its shortfalls (scorer.ts) stay 0, because planners set no
   *   `minFirstHalfMean`.
   */
  narrow({ sequences, scores }: Trial, count: number): Trial {
    const values = scores.map(
      (score, k) => score + this.#informationValues[sequences[k * NUM_STEPS + this.#step]],
    );
    const best = this.population.narrow(values, count);
    const trial = this.trial();
    best.forEach((k, at) => {
      trial.scores[at] = scores[k];
    });
    return trial;
  }

  /**
   * Adds the value of information of the first actions to the scores, records the best sequence for each first action, and lets
   * the population keep the best candidates.
   */
  select({ scores, shortfalls }: Trial): void {
    const { candidates } = this.population;
    for (let k = 0; k < scores.length; k++) {
      const row = k * NUM_STEPS;
      const action = candidates[row + this.#step];
      scores[k] += this.#informationValues[action];
      if (scores[k] <= this.#values[action]) continue;
      this.#values[action] = scores[k];
      this.#best.set(candidates.subarray(row, row + NUM_STEPS), action * NUM_STEPS);
    }
    this.population.select(scores, shortfalls);
  }

  /** Returns whether the best first action has a clear lead over all others. */
  hasClearLead(): boolean {
    const [action, rival] = this.#ranking();
    return this.#values[action] - this.#values[rival] >= CLEAR_LEAD;
  }

  /** Returns the result, with the best `kept` sequences. */
  choose(kept: number): Choice {
    const [action, rivalAction] = this.#ranking();
    const { population } = this;
    return {
      action,
      rivalAction,
      sequences: population.bestKept(kept),
      values: this.#values,
      best: this.#best,
    };
  }

  /** Returns the first actions, the best first. */
  #ranking(): number[] {
    const values = this.#values;
    return Array.from(values.keys()).sort((a, b) => values[b] - values[a] || a - b);
  }
}
