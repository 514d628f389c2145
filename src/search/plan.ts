/** How a search spends its evaluations. */
import { NUM_STEPS } from '../world/fields.js';
import type { SearchRequest } from './request.js';

export interface Plan {
  /**
   * First, islands: populations that know nothing of each other, each from tapes drawn uniformly. Most find much the same,
   * some are led astray. They look at every `stride`-th start only.
   */
  readonly islands: number;
  readonly generations: number;
  readonly stride: number;
  /** Then one population on all starts. It begins with so many of each island's tapes ... */
  readonly emigrants: number;
  /** ... with the best of so many problems, and with the caller's: with so many in all. */
  readonly guests: number;
  readonly immigrants: number;
  readonly lastGenerations: number;
  /** Of every population: tapes kept, and made a generation. */
  readonly size: number;
  readonly offspring: number;
}

/** The share of evaluations that is left for the last population. */
const LAST = 1 / 6;
/** After so many generations, or a few more, an island finds little new. */
const GENERATIONS = 100;
/** Islands at least, before generations become larger instead. */
const ISLANDS = 4;
const LEAST_OFFSPRING = 32;
const MOST_OFFSPRING = 256;
const MOST_GUESTS = 256;
/** An island looks at so many starts at least, or it would learn their luck. */
const LEAST_STARTS = 8;
const MOST_STRIDE = 4;

export function planOf({ evaluations, starts, problems, initialTapes }: SearchRequest): Plan {
  const first = evaluations * (1 - LAST);
  const last = evaluations - first;
  const wanted = 2 ** Math.floor(Math.log2(first / (ISLANDS * GENERATIONS)));
  const offspring = Math.min(Math.max(wanted, LEAST_OFFSPRING), MOST_OFFSPRING);
  const islands = Math.max(1, Math.floor(first / (offspring * GENERATIONS)));
  const emigrants = Math.ceil(offspring / islands);
  const guests = problems === 1 ? 0 : Math.min(problems, MOST_GUESTS, Math.floor(last / 2));
  const immigrants = islands * emigrants + guests + initialTapes.length / NUM_STEPS;
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

/** How many tapes are scored for each problem. */
export function evaluationsOf(plan: Plan): number {
  const { islands, generations, lastGenerations, offspring, immigrants } = plan;
  return (islands * generations + lastGenerations) * offspring + immigrants;
}
