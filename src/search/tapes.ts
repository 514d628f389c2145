/** The best tape of actions there is for whoever does not look at what happens: for everybody, or for one person. */
import { othersTurn } from '../vec-env/turns.js';
import type { ScoredTape } from './objective.js';
import type { TapeProblem, TapeSearchOptions } from './options.js';
import { evaluationsOf, planOf } from './plan.js';
import { toSearchRequest } from './request.js';
import { Scorer } from './scorer.js';
import { Search } from './search.js';

export interface FoundTape extends ScoredTape {
  /** How many tapes were scored for this problem, most of them on a part of the starts. */
  readonly evaluations: number;
}

/** The same for one problem. @throws as `searchTapes`. */
export async function searchTape(problem: TapeProblem, options: TapeSearchOptions = {}): Promise<FoundTape> {
  const [found] = await searchTapes([problem], options);
  return found;
}

/**
 * Searches for the tape with the highest mean final score over each problem's starts, by evolution: no belief is given.
 * Problems that are searched together learn from each other. What is found is a function of problems and options, whatever
 * backend, kernel and threads compute it.
 * @param problems each with as many seeds. @returns a tape for each, in their order, and what it comes to in training:
 *   only other seeds tell what it is worth.
 * @throws InputError for what is wrong with a problem or an option, before anything is played; BackendError if the backend
 *   or kernel asked for cannot be used here, or there is no memory; the signal's reason.
 */
export async function searchTapes(
  problems: readonly TapeProblem[],
  options: TapeSearchOptions = {},
): Promise<FoundTape[]> {
  const request = toSearchRequest(problems, options);
  const { onProgress, signal } = options;
  const plan = planOf(request);
  const evaluations = evaluationsOf(plan);
  signal?.throwIfAborted();
  using scorer = new Scorer(request, Math.max(plan.offspring, plan.immigrants));
  const search = new Search(request, plan, scorer).run();
  for (let done = 0, step = search.next(); ; step = search.next()) {
    if (step.done) return step.value.map((found) => ({ ...found, evaluations }));
    done += step.value;
    onProgress?.(done, evaluations * request.problems);
    // Lets signals and timers in.
    await othersTurn();
    signal?.throwIfAborted();
  }
}
