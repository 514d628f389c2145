/** Checks the stored open-loop sequences and their scores. `npm run audits -- --check` repeats the search. */
import { describe, expect, it } from 'vitest';
import { OPEN_LOOP_SEQUENCES } from '../../../src/agents/policies/open-loop-sequences.js';
import { Scorer, spacedStarts, trialOf } from '../../../src/agents/search/scorer.js';
import { toSearchRequest } from '../../../src/agents/search/search-request.js';
import { spreadSeeds } from '../../../src/agents/search/search-seeds.js';
import { openBatch } from '../../../src/engine/backends/open-batch.js';
import { runSync } from '../../../src/engine/engine-calls.js';
import { createWorld, GRADER_NAMES, openLoopActions } from '../../../src/index.js';
import { ACTION_NAMES, NUM_ACTIONS, NUM_STEPS } from '../../../src/world/fields.js';
import { playProblem } from '../../support/action-sequences.js';
import { type Engine, FASTEST, TWO_ENGINES } from '../../support/engines.js';
import { expectRefusal } from '../../support/refusals.js';

const { trainingSeeds, freshSeeds, sequences, worldDigest } = OPEN_LOOP_SEQUENCES;
const training = spreadSeeds(trainingSeeds.count, trainingSeeds);
const fresh = spreadSeeds(freshSeeds.last - freshSeeds.first + 1, freshSeeds);
const graders = Object.keys(sequences) as (keyof typeof sequences)[];

it('every built-in grader has a stored sequence, found in this world on other seeds than the fresh ones', () => {
  expect(graders).toEqual(GRADER_NAMES);
  expect(worldDigest).toBe(createWorld().digest);
  expect([trainingSeeds.first, trainingSeeds.last]).toEqual([100, 9999]);
  expect(freshSeeds.first).toBeGreaterThan(trainingSeeds.last);
  for (const { evaluations } of Object.values(sequences)) expect(evaluations).toBeGreaterThanOrEqual(300_000);
});

describe.each(graders)('the open-loop sequence of %s', (grader) => {
  const score = (seeds: Uint32Array, { backend, kernel }: Engine) =>
    playProblem(openLoopActions(grader), { seeds }, { backend, kernel, grader }).score;

  it.each(TWO_ENGINES)('has its stored training score on $name', (engine) => {
    expect(Number(score(training, engine).toFixed(5))).toBe(sequences[grader].trainingScore);
  });

  it.each(FASTEST)('has its stored fresh score on $name', (engine) => {
    expect(Number(score(fresh, engine).toFixed(5))).toBe(sequences[grader].freshScore);
  });

  it('is not improved on the training seeds by changing one action', () => {
    const changed = Array.from({ length: NUM_STEPS * NUM_ACTIONS }, (_, k) => {
      const sequence = openLoopActions(grader);
      sequence[Math.floor(k / NUM_ACTIONS)] = k % NUM_ACTIONS;
      return sequence;
    });
    const request = toSearchRequest([{ seeds: training }], { grader });
    using scorer = runSync(Scorer.open(request, openBatch, { maxSequences: changed.length }));
    const trial = trialOf(0, Uint8Array.from(changed.flatMap((sequence) => [...sequence])));
    runSync(scorer.score([trial], spacedStarts(training.length, 1)));
    expect(Number(Math.max(...trial.scores).toFixed(5))).toBe(sequences[grader].trainingScore);
  });

  it('is newly allocated at each call', () => {
    openLoopActions(grader).fill(0);
    expect(Array.from(openLoopActions(grader), (action) => ACTION_NAMES[action])).toEqual(
      sequences[grader].days.flat(),
    );
    expect(openLoopActions(grader)).toHaveLength(NUM_STEPS);
  });
});

// 0.58 is chosen by hand, slightly below the score. 0.545 is the score of an independent search (docs/graders.md).
it('the sequences of v2 and v3 score at least 0.58 and 0.545, and an unknown grader is refused', () => {
  expect(sequences.v2.freshScore).toBeGreaterThanOrEqual(0.58);
  expect(sequences.v3.freshScore).toBeGreaterThanOrEqual(0.545);
  expectRefusal(() => openLoopActions('v4'), 'unknown_name', 'v1, v2, v3', '"v4"');
});
