/** Comparisons of a planner on an asynchronous backend with the planner on the reference. */
import { expect } from 'vitest';
import { openAsyncPlanner } from '../../src/agents/planner/planner.js';
import type { OpenBatch } from '../../src/engine/backends/open-batch.js';
import type { PlannerOptions } from '../../src/index.js';
import { playPlannedEpisodes, seedsFrom } from './planned-episodes.js';

/** Options of a search so small that even an emulated device finishes it in seconds. */
export const TINY = { posteriorSamples: 4, candidates: 4, rounds: 1 } as const;

/** Expects the same decisions as on the reference, and the same reports and reasons of environment 1 at `steps`. */
export async function expectSamePlans(
  openBatch: OpenBatch,
  options: Partial<PlannerOptions>,
  steps: readonly number[],
): Promise<void> {
  const expected: unknown[] = [];
  const played = playPlannedEpisodes(
    seedsFrom(700, 2),
    { ...TINY, ...options, backend: 'reference' },
    (planner, step) => {
      if (steps.includes(step)) expected.push(planner.report(1), planner.reasons(1));
    },
  );
  await using planner = await openAsyncPlanner({ numEnvs: 2, ...TINY, ...options }, openBatch);
  const got: unknown[] = [];
  for (const [step, observations] of played.observations.entries()) {
    const { actions, beliefs } = await planner.decide(observations);
    expect(actions, `step ${step}`).toEqual(played.actions[step]);
    expect(beliefs).toEqual(played.beliefs[step]);
    if (steps.includes(step)) got.push(await planner.report(1), await planner.reasons(1));
  }
  expect(got).toEqual(expected);
}
