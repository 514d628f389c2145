/** Merges policies of a ranking that score exactly the same in every episode. */
import type { Standing } from '../../../src/evaluation/ranking.js';
import type { Interval } from '../../../src/shared/statistics.js';

/** A place of the ranking, shared by policies with the same scores. */
export interface Place {
  /** The names of the policies. */
  readonly policies: readonly string[];
  readonly finalScore: Interval;
  /** The lead over the next place; null for the last one. */
  readonly lead: Interval | null;
}

/** Returns the places of a ranking, the best first. */
export function placesOf(ranking: readonly Standing[]): Place[] {
  const places: Place[] = [];
  let policies: string[] = [];
  for (const { policy, finalScore, lead } of ranking) {
    policies.push(policy);
    if (isTie(lead)) continue;
    places.push({ policies, finalScore, lead });
    policies = [];
  }
  return places;
}

/** Whether a lead is 0 in every episode: then its mean is 0, and its interval has no width. */
const isTie = (lead: Interval | null): boolean =>
  lead !== null && lead.mean === 0 && (lead.low ?? 0) === 0 && (lead.high ?? 0) === 0;
