/** Searches for the best plan of each episode at one step. A plan is the actions from this step to the last. */
import type { EngineCalls } from '../../engine/engine-calls.js';
import { type Draw, threefry } from '../../engine/reference/threefry.js';
import { COMPONENT_NAMES, NUM_ACTIONS, NUM_STEPS } from '../../world/fields.js';
import { openLoopActions } from '../policies/open-loop.js';
import { Population } from '../search/population.js';
import { trialOf } from '../search/scorer.js';
import { sharedDraws } from '../search/search-draws.js';
import type { Imagination } from './imagination.js';

export interface Budget {
  /** Posterior samples of each episode. */
  readonly samples: number;
  /** Action sequences in each round. */
  readonly candidates: number;
  readonly rounds: number;
}

/** The result for one episode. */
export interface Choice {
  /** The first action of the best sequence. */
  readonly action: number;
  /** The first action of the best sequence with another first action. */
  readonly rival: number;
  /** u8 [kept, 28]: the best sequences, in order. */
  readonly sequences: Uint8Array;
  /** f64 [10]: the value of the best sequence for each first action, with the value of information. */
  readonly values: Float64Array;
  /** u8 [10, 28]: the best sequence for each first action. */
  readonly best: Uint8Array;
}

/** The second word of the generator's key. It differs from all streams of the world. */
const STREAM = 0x504c414e;
/** If at most this many sequences are possible, all are evaluated. */
const MAX_EXHAUSTIVE = 100;
const WELLBEING = COMPONENT_NAMES.indexOf('wellbeing');
const BELIEF_SKILL = COMPONENT_NAMES.indexOf('belief_skill');

/**
 * Returns the open-loop sequences that every search under a grader, f32 [8], includes, so that no plan is worse than
 * open-loop. The sequence of v3 is one of them if the grader weighs a component that only v3 weighs.
 */
export const openLoopUnder = (grader: Float32Array): Uint8Array[] =>
  [...(grader[WELLBEING] > 0 || grader[BELIEF_SKILL] > 0 ? ['v3'] : []), 'v2', 'v1'].map(openLoopActions);

/** The number of sequences kept for the next step. */
const numKeptOf = ({ candidates }: Budget): number => Math.max(1, candidates >> 2);

/** Returns the maximum number of action sequences evaluated at once. */
export const maxSequencesOf = ({ candidates }: Budget): number => Math.max(candidates, MAX_EXHAUSTIVE);

const stepsLeft = (step: number): number => NUM_STEPS - step;
const sequencesLeft = (step: number): number => NUM_ACTIONS ** stepsLeft(step);

/**
 * Plans one step. @param step the step count of all episodes. `imagination` holds their starting states.
 * @param kept the sequences of the previous step for each episode; null at the first step.
 * @param curiosity f64 [10] for each: the value of information of each action, in units of the objective.
 * @param openLoop u8 [28] each: sequences that the search includes.
 */
export function* searchPlans(
  imagination: Imagination,
  budget: Budget,
  seed: number,
  step: number,
  kept: readonly (Uint8Array | null)[],
  curiosity: readonly Float64Array[],
  openLoop: readonly Uint8Array[],
): EngineCalls<Choice[]> {
  const isExhaustive = sequencesLeft(step) <= MAX_EXHAUSTIVE;
  const { x0 } = threefry(seed, STREAM, step, 0, { x0: 0, x1: 0 } satisfies Draw);
  const newDraws = sharedDraws(x0);
  const searches = kept.map((sequences, k) => {
    const population = new Population(newDraws(), numKeptOf(budget), maxSequencesOf(budget), 1, step);
    population.offer(isExhaustive ? [everySequence(step)] : firstSequences(sequences, openLoop, step));
    return new EpisodeSearch(population, step, curiosity[k]);
  });
  yield* select(imagination, searches);
  for (let round = 0; round < (isExhaustive ? 0 : budget.rounds); round++) {
    for (const search of searches) search.population.breed(budget.candidates);
    yield* select(imagination, searches);
  }
  return searches.map((search) => search.choose(numKeptOf(budget)));
}

function* select(imagination: Imagination, searches: readonly EpisodeSearch[]): EngineCalls<void> {
  const trials = searches.map(({ population }, problem) => trialOf(problem, population.candidates));
  yield* imagination.play(trials);
  searches.forEach((search, k) => {
    search.select(trials[k].scores, trials[k].shortfalls);
  });
}

/** The search of one episode. */
class EpisodeSearch {
  readonly population: Population;
  readonly #step: number;
  readonly #curiosity: Float64Array;
  readonly #values = new Float64Array(NUM_ACTIONS).fill(-Infinity);
  readonly #best = new Uint8Array(NUM_ACTIONS * NUM_STEPS);

  constructor(population: Population, step: number, curiosity: Float64Array) {
    this.population = population;
    this.#step = step;
    this.#curiosity = curiosity;
  }

  /** Adds the value of information of the first actions, and records the best sequence for each. */
  select(scores: Float64Array, shortfalls: Float64Array): void {
    const { candidates } = this.population;
    for (let k = 0; k < scores.length; k++) {
      const row = k * NUM_STEPS;
      const action = candidates[row + this.#step];
      scores[k] += this.#curiosity[action];
      if (scores[k] <= this.#values[action]) continue;
      this.#values[action] = scores[k];
      this.#best.set(candidates.subarray(row, row + NUM_STEPS), action * NUM_STEPS);
    }
    this.population.select(scores, shortfalls);
  }

  choose(kept: number): Choice {
    const values = this.#values;
    const [action, rival] = Array.from(values.keys()).sort((a, b) => values[b] - values[a] || a - b);
    return { action, rival, sequences: this.population.first(kept), values, best: this.#best };
  }
}

/** Returns all remaining sequences, in order: u8 [n, 28]. */
function everySequence(step: number): Uint8Array {
  const sequences = new Uint8Array(sequencesLeft(step) * NUM_STEPS);
  for (let k = 0; k < sequencesLeft(step); k++) {
    for (let at = NUM_STEPS - 1, rest = k; at >= step; at--, rest = Math.floor(rest / NUM_ACTIONS)) {
      sequences[k * NUM_STEPS + at] = rest % NUM_ACTIONS;
    }
  }
  return sequences;
}

/** Returns the initial sequences: the kept ones, the open-loop ones, and the best of both with each first action. */
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

/** Sets past steps to 0, so that sequences that differ only in these are equal. */
function withoutPast(sequences: Uint8Array, step: number): Uint8Array {
  const rows = sequences.slice();
  for (let row = 0; row < rows.length; row += NUM_STEPS) rows.fill(0, row, row + step);
  return rows;
}
