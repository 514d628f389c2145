/** Finds the best action sequence, for all profiles or for one profile. */
import { openAnyBatch } from '../../engine/backends/any-batch.js';
import { runAsync } from '../../engine/engine-calls.js';
import { yieldTurn } from '../../engine/vec-env/yield-turn.js';
import type { ScoredActionSequence } from './objective.js';
import { Scorer } from './scorer.js';
import { Search } from './search.js';
import { evaluationsOf, searchPlanOf } from './search-budget.js';
import type { ActionSequenceProblem, ActionSequenceSearchOptions } from './search-options.js';
import { toSearchRequest } from './search-request.js';

/** The best action sequence that a search found. */
export interface FoundActionSequence extends ScoredActionSequence {
  /** The number of sequences scored for this problem. With many seeds, most sequences are played on some of the seeds only. */
  readonly evaluations: number;
}

/** Searches for the best action sequence of one problem. @throws as `searchActionSequences`. */
export async function searchActionSequence(
  problem: ActionSequenceProblem,
  options: ActionSequenceSearchOptions = {},
): Promise<FoundActionSequence> {
  const [result] = await searchActionSequences([problem], options);
  return result;
}

/**
 * Searches for the action sequence with the highest mean final score over the episodes of each problem, by an
 * evolutionary algorithm. No belief is stated. Problems that are searched together exchange sequences. The backend, kernel and
 * threads do not change the result.
 * @param problems all with the same number of seeds. @returns a sequence for each problem with its training score, which
 *   is biased: measure the sequence on other seeds.
 * @throws InputError for an invalid problem or option, before any episode; BackendError if the requested backend or
 *   kernel is not available, or memory runs out; the signal's reason.
 */
export async function searchActionSequences(
  problems: readonly ActionSequenceProblem[],
  options: ActionSequenceSearchOptions = {},
): Promise<FoundActionSequence[]> {
  const request = toSearchRequest(problems, options);
  const { onProgress, signal } = options;
  const plan = searchPlanOf(request);
  const evaluations = evaluationsOf(plan);
  signal?.throwIfAborted();
  const maxSequences = Math.max(plan.offspring, plan.immigrants);
  using scorer = await runAsync(Scorer.open(request, openAnyBatch, { maxSequences }));
  let done = 0;
  const onPlayed = async (sequences: number): Promise<void> => {
    done += sequences;
    onProgress?.(done, evaluations * request.numProblems);
    // Lets signals and timers run.
    await yieldTurn();
    signal?.throwIfAborted();
  };
  const found = await runAsync(new Search(request, plan, scorer, onPlayed).run());
  return found.map((sequence) => ({ ...sequence, evaluations }));
}
