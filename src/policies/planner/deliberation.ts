/** One step's search: what each of some episodes might do to the end of its week, and what that might come to. */
import { type Draw, threefry } from '../../reference/threefry.js';
import { Draws } from '../../search/draws.js';
import { Population } from '../../search/population.js';
import { trialOf } from '../../search/scorer.js';
import { NUM_ACTIONS, NUM_STEPS } from '../../world/fields.js';
import { blindTape } from '../tapes.js';
import type { Imagination } from './imagination.js';

export interface Budget {
  /** Persons that each episode's might be, and rounds of so many tapes each. */
  readonly people: number;
  readonly candidates: number;
  readonly rounds: number;
}

/** What was found for one episode. */
export interface Choice {
  /** The first action of the best tape, and that of the best one with another. */
  readonly action: number;
  readonly rival: number;
  /** u8 [kept, 28]: the best tapes, the best first. */
  readonly tapes: Uint8Array;
  /** f64 [10]: what the best tape that begins with each action comes to, its curiosity included. */
  readonly worth: Float64Array;
  /** u8 [10, 28]: those tapes. */
  readonly best: Uint8Array;
}

/** The second word of the key, which no stream of the published world has. */
const STREAM = 0x504c414e;
/** Where no more tapes than these are left, all of them are tried. */
const FEW_TAPES = 100;
/** Tapes that are no worse anywhere than what is blind. */
const BLIND = ['v2', 'v1'].map(blindTape);

/** How many tapes are kept from one step to the next. */
const keptOf = ({ candidates }: Budget): number => Math.max(1, candidates >> 2);

/** How many tapes are tried at once, at most. */
export const mostOf = (budget: Budget): number =>
  Math.max(budget.candidates, FEW_TAPES, keptOf(budget) + NUM_ACTIONS + BLIND.length);

const stepsLeft = (step: number): number => NUM_STEPS - step;
const tapesLeft = (step: number): number => NUM_ACTIONS ** stepsLeft(step);

/**
 * @param step that all episodes have taken; `imagination` began with them.
 * @param kept for each episode the tapes of the step before; null at the first step.
 * @param curiosity for each f64 [10], what each action is worth for what it would tell, in units of the objective.
 */
export function deliberate(
  imagination: Imagination,
  budget: Budget,
  seed: number,
  step: number,
  kept: readonly (Uint8Array | null)[],
  curiosity: readonly Float64Array[],
): Choice[] {
  const few = tapesLeft(step) <= FEW_TAPES;
  const { x0 } = threefry(seed, STREAM, step, 0, { x0: 0, x1: 0 } satisfies Draw);
  const minds = kept.map((tapes, k) => {
    const population = new Population(new Draws(x0), keptOf(budget), mostOf(budget), 1, step);
    population.offer(few ? [everyTape(step)] : firstTapes(tapes, step));
    return new Mind(population, step, curiosity[k]);
  });
  select(imagination, minds);
  for (let round = 0; round < (few ? 0 : budget.rounds); round++) {
    for (const mind of minds) mind.population.breed(budget.candidates);
    select(imagination, minds);
  }
  return minds.map((mind) => mind.choose(keptOf(budget)));
}

function select(imagination: Imagination, minds: readonly Mind[]): void {
  const trials = minds.map(({ population }, problem) => trialOf(problem, population.candidates));
  imagination.play(trials);
  minds.forEach((mind, k) => {
    mind.select(trials[k].scores, trials[k].shortfalls);
  });
}

/** What one episode is thinking. */
class Mind {
  readonly population: Population;
  readonly #step: number;
  readonly #curiosity: Float64Array;
  readonly #worth = new Float64Array(NUM_ACTIONS).fill(-Infinity);
  readonly #best = new Uint8Array(NUM_ACTIONS * NUM_STEPS);

  constructor(population: Population, step: number, curiosity: Float64Array) {
    this.population = population;
    this.#step = step;
    this.#curiosity = curiosity;
  }

  /** Adds what the first action would tell, and notes the best tape for each. */
  select(scores: Float64Array, shortfalls: Float64Array): void {
    const { candidates } = this.population;
    for (let k = 0; k < scores.length; k++) {
      const row = k * NUM_STEPS;
      const action = candidates[row + this.#step];
      scores[k] += this.#curiosity[action];
      if (scores[k] <= this.#worth[action]) continue;
      this.#worth[action] = scores[k];
      this.#best.set(candidates.subarray(row, row + NUM_STEPS), action * NUM_STEPS);
    }
    this.population.select(scores, shortfalls);
  }

  choose(kept: number): Choice {
    const worth = this.#worth;
    const [action, rival] = Array.from(worth.keys()).sort((a, b) => worth[b] - worth[a] || a - b);
    return { action, rival, tapes: this.population.first(kept), worth, best: this.#best };
  }
}

/** All that is left to do, in order: u8 [n, 28]. */
function everyTape(step: number): Uint8Array {
  const tapes = new Uint8Array(tapesLeft(step) * NUM_STEPS);
  for (let k = 0; k < tapesLeft(step); k++) {
    for (let at = NUM_STEPS - 1, rest = k; at >= step; at--, rest = Math.floor(rest / NUM_ACTIONS)) {
      tapes[k * NUM_STEPS + at] = rest % NUM_ACTIONS;
    }
  }
  return tapes;
}

/** What was best a step ago, with that also each first action, and what is blind; without what was done before. */
function firstTapes(kept: Uint8Array | null, step: number): Uint8Array[] {
  const known = kept === null ? BLIND : [kept, ...BLIND];
  const variants = Array.from({ length: NUM_ACTIONS }, (_, action) => {
    const tape = known[0].slice(0, NUM_STEPS);
    tape[step] = action;
    return tape;
  });
  return [...known, ...variants].map((tapes) => withoutPast(tapes, step));
}

/** Rows that differ in what was done long ago are the same. */
function withoutPast(tapes: Uint8Array, step: number): Uint8Array {
  const rows = tapes.slice();
  for (let row = 0; row < rows.length; row += NUM_STEPS) rows.fill(0, row, row + step);
  return rows;
}
