/** Searches for the best plan of each episode at one step. A plan is the actions from this step to the last. */

import type { EngineCalls } from '../../engine/engine-calls.js';
import { type Draw, threefry } from '../../engine/reference/threefry.js';
import { COMPONENT, NUM_ACTIONS, NUM_STEPS } from '../../world/fields.js';
import { openLoopActions } from '../policies/open-loop.js';
import { sharedDraws } from '../search/breeding.js';
import { Population } from '../search/population.js';
import { type Trial, trialOf } from '../search/scorer.js';
import type { Imagination } from './imagination.js';

/**
 * A search may stop if the best sequence is better by at least this value than the best sequence with another
 * first action. In units of the objective, and chosen by hand: with a lower value, searches stop after fewer rounds.
 */
const CLEAR_LEAD = 0.004;

/** The result of a search for one episode. The first action of a sequence is its action at the step of the choice. */
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
    const values = new Float64Array(scores.length);
    for (let k = 0; k < scores.length; k++)
      values[k] = scores[k] + this.#informationValues[sequences[k * NUM_STEPS + this.#step]];
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

/** How much the search of a step evaluates. */
export interface Budget {
  /** The number of posterior samples of each episode. */
  readonly samples: number;
  /** The number of new action sequences that a round plays. */
  readonly candidates: number;
  /** The maximum number of rounds. */
  readonly rounds: number;
}

/** The stream of the search's draws, the second word of Threefry's key: "PLAN" in ASCII. It is none of the world's streams. */
const STREAM = 0x504c414e;
/** If at most this many sequences are possible, all are evaluated: in the last two steps. Chosen by hand: more take longer. */
const MAX_EXHAUSTIVE = 100;
/**
 * A search whose best action has a clear lead (CLEAR_LEAD) stops, but not before this many rounds. With
 * fewer rounds the planner scored less under v3.
 */
const MIN_ROUNDS = 6;

/**
 * Returns the open-loop sequences that every search includes, so that no search chooses a plan that it values less than these.
 * The sequence of v3 is included if a component that v1 and v2 ignore has a positive weight. @param grader f32 [8].
 */
export const openLoopSequencesUnder = (grader: Float32Array): Uint8Array[] =>
  [...(grader[COMPONENT.wellbeing] > 0 || grader[COMPONENT.beliefSkill] > 0 ? ['v3'] : []), 'v2', 'v1'].map(
    openLoopActions,
  );

/**
 * Returns how many candidates of a round are played with all samples: a quarter, chosen by hand. As many sequences are kept
 * for the search of the next step.
 */
const numKeptOf = ({ candidates }: Budget): number => Math.max(1, candidates >> 2);

/** Returns the maximum number of action sequences evaluated at once. */
export const maxSequencesOf = ({ candidates }: Budget): number => Math.max(candidates, MAX_EXHAUSTIVE);

const stepsLeft = (step: number): number => NUM_STEPS - step;
/** Returns how many different sequences the remaining steps allow. */
const numSequencesLeft = (step: number): number => NUM_ACTIONS ** stepsLeft(step);

/**
 * Plans one step of several episodes. @param imagination holds the starting states of the episodes.
 * @param seed u32: the planner's seed.
 * @param step the step count of all episodes.
 * @param kept the sequences that the search of the previous step kept for each episode; null at the first step.
 * @param informationValues f64 [10] for each episode: the value of information of each action, in units of the objective.
 * @param openLoop u8 [28] each: sequences that the search includes.
 */
export function* searchPlans(
  imagination: Imagination,
  budget: Budget,
  seed: number,
  step: number,
  kept: readonly (Uint8Array | null)[],
  informationValues: readonly Float64Array[],
  openLoop: readonly Uint8Array[],
): EngineCalls<Choice[]> {
  const isExhaustive = numSequencesLeft(step) <= MAX_EXHAUSTIVE;
  const { x0 } = threefry(seed, STREAM, step, 0, { x0: 0, x1: 0 } satisfies Draw);
  const newDraws = sharedDraws(x0);
  const searches = kept.map((sequences, problem) => {
    const population = new Population(newDraws(), numKeptOf(budget), maxSequencesOf(budget), 1, step);
    population.setCandidates(
      isExhaustive ? [everySequence(step)] : firstSequences(sequences, openLoop, step),
    );
    return new EpisodeSearch(problem, population, step, informationValues[problem]);
  });
  yield* playFirst(imagination, searches);
  let active = searches;
  for (let round = 1; round <= (isExhaustive ? 0 : budget.rounds) && active.length > 0; round++) {
    yield* playRound(imagination, budget, active);
    if (round >= MIN_ROUNDS) active = active.filter((search) => !search.hasClearLead());
  }
  return searches.map((search) => search.choose(numKeptOf(budget)));
}

/** Plays the initial sequences. */
function* playFirst(imagination: Imagination, searches: readonly EpisodeSearch[]): EngineCalls<void> {
  const trials = searches.map((search) => search.trial());
  yield* imagination.play(trials);
  searches.forEach((search, k) => {
    search.select(trials[k]);
  });
}

/** Plays new candidates with few samples, and the best of them with all. */
function* playRound(
  imagination: Imagination,
  budget: Budget,
  searches: readonly EpisodeSearch[],
): EngineCalls<void> {
  for (const { population } of searches) population.breed(budget.candidates);
  const screened = searches.map((search) => search.trial());
  yield* imagination.screen(screened);
  const finalists = searches.map((search, k) => search.narrow(screened[k], numKeptOf(budget)));
  yield* imagination.complete(finalists);
  searches.forEach((search, k) => {
    search.select(finalists[k]);
  });
}

/** Returns every sequence of the remaining steps, in ascending order: u8 [n, 28]. */
function everySequence(step: number): Uint8Array {
  const sequences = new Uint8Array(numSequencesLeft(step) * NUM_STEPS);
  for (let k = 0; k < numSequencesLeft(step); k++) {
    for (let at = NUM_STEPS - 1, rest = k; at >= step; at--, rest = Math.floor(rest / NUM_ACTIONS)) {
      sequences[k * NUM_STEPS + at] = rest % NUM_ACTIONS;
    }
  }
  return sequences;
}

/**
 * Returns the initial sequences: the kept sequences, the open-loop sequences, and variants of the first of these, one for each
 * action at this step.
 */
function firstSequences(
  kept: Uint8Array | null,
  openLoop: readonly Uint8Array[],
  step: number,
): Uint8Array[] {
  const initial = kept === null ? openLoop : [kept, ...openLoop];
  const variants = Array.from({ length: NUM_ACTIONS }, (_, action) => {
    const actions = initial[0].slice(0, NUM_STEPS);
    actions[step] = action;
    return actions;
  });
  return [...initial, ...variants].map((sequences) => withoutPast(sequences, step));
}

/** Sets the actions of past steps to 0, so that sequences that differ only in these are equal. */
function withoutPast(sequences: Uint8Array, step: number): Uint8Array {
  const rows = sequences.slice();
  for (let row = 0; row < rows.length; row += NUM_STEPS) rows.fill(0, row, row + step);
  return rows;
}
