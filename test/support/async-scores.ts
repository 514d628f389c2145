/** Compares the scores of action sequences on an asynchronous backend with the scores on the reference. */
import { expect } from 'vitest';
import { Scorer, spacedStarts, trialOf } from '../../src/agents/search/scorer.js';
import { toSearchRequest } from '../../src/agents/search/search-options.js';
import type { OpenBatch } from '../../src/engine/backends/open-batch.js';
import { openSyncBatch } from '../../src/engine/backends/open-batch.js';
import { runAsync, runSync } from '../../src/engine/engine-calls.js';

const PROBLEMS = [{ seeds: [3, 4, 5] }, { seeds: [9, 8, 7], profile: 'discrete' }];
/** Five different sequences. */
const SEQUENCES = Uint8Array.from({ length: 5 * 28 }, (_, k) => (k * 7 + Math.floor(k / 8)) % 10);
/** A trial is a list of sequences for one problem, and their scores. */
const trials = () => PROBLEMS.map((_, problem) => trialOf(problem, SEQUENCES));
/** Limits so low that several calls play each trial. */
const SCORING = { maxSequences: 5, episodesPerThread: 4 };

/**
 * Expects that the backend gives each trial the scores and shortfalls of the reference (a shortfall says how far a
 * first-half mean is below its minimum), and that the counts of the progress add up to all sequences.
 */
export async function expectSameScores(openBatch: OpenBatch): Promise<void> {
  const request = toSearchRequest(PROBLEMS, { minFirstHalfMean: 0.2, backend: 'reference' });
  // The first and the last of the three seeds of a problem.
  const starts = spacedStarts(3, 2);
  using reference = runSync(Scorer.open(request, openSyncBatch, SCORING));
  const expected = trials();
  runSync(reference.score(expected, starts));
  using scorer = await runAsync(Scorer.open({ ...request, backend: 'webgpu' }, openBatch, SCORING));
  const got = trials();
  const played: number[] = [];
  await runAsync(scorer.score(got, starts, { onPlayed: (count) => played.push(count) }));
  expect(got).toEqual(expected);
  expect(new Set(expected[0].scores).size).toBe(5);
  // Five sequences for each of two problems.
  expect(played.reduce((sum, count) => sum + count, 0)).toBe(10);
}
