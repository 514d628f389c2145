/** Divides a search's evaluations among its phases. */
import { NUM_STEPS } from '../../world/fields.js';
import type { SearchRequest } from './search-request.js';

export interface Plan {
  /**
   * First phase: separate populations (islands), each from uniformly drawn sequences. Most converge to similar sequences,
   * some to bad ones. They evaluate every `stride`-th starting state only.
   */
  readonly islands: number;
  readonly generations: number;
  readonly stride: number;
  /** Second phase: one population on all starting states. It begins with this many sequences of each island, ... */
  readonly emigrants: number;
  /** ... with the best sequence of this many other problems, and with the caller's; and their total. */
  readonly guests: number;
  readonly immigrants: number;
  readonly lastGenerations: number;
  /** Of every population: sequences kept, and sequences made in a generation. */
  readonly size: number;
  readonly offspring: number;
}

/** The share of evaluations for the second phase. */
const LAST = 1 / 6;
/** Generations of an island. More find little that is new. */
const GENERATIONS = 100;
/** The fewest islands. A larger budget first makes generations larger, then adds islands. */
const ISLANDS = 4;
const LEAST_OFFSPRING = 32;
const MOST_OFFSPRING = 256;
const MOST_GUESTS = 256;
/** The fewest starting states of an island. With fewer it would overfit to their noise. */
const LEAST_STARTS = 8;
const MOST_STRIDE = 4;

/** Returns the plan of a search. */
export function planOf({ evaluations, starts, problems, initialSequences }: SearchRequest): Plan {
  const first = evaluations * (1 - LAST);
  const last = evaluations - first;
  const wanted = 2 ** Math.floor(Math.log2(first / (ISLANDS * GENERATIONS)));
  const offspring = Math.min(Math.max(wanted, LEAST_OFFSPRING), MOST_OFFSPRING);
  const islands = Math.max(1, Math.floor(first / (offspring * GENERATIONS)));
  const emigrants = Math.ceil(offspring / islands);
  const guests = problems === 1 ? 0 : Math.min(problems, MOST_GUESTS, Math.floor(last / 2));
  const immigrants = islands * emigrants + guests + initialSequences.length / NUM_STEPS;
  return {
    islands,
    generations: Math.ceil(first / (islands * offspring)),
    stride: Math.min(MOST_STRIDE, Math.max(1, Math.floor(starts / LEAST_STARTS))),
    emigrants,
    guests,
    immigrants,
    lastGenerations: Math.ceil(Math.max(0, last - immigrants) / offspring),
    size: offspring / 2,
    offspring,
  };
}

/** Returns the number of sequences scored for each problem. */
export function evaluationsOf(plan: Plan): number {
  const { islands, generations, lastGenerations, offspring, immigrants } = plan;
  return (islands * generations + lastGenerations) * offspring + immigrants;
}
