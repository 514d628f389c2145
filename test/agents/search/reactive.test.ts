/** Reactive policies, and the search for the best one. */
import { describe, expect, it } from 'vitest';
import {
  findReactivePolicy,
  isMeterWeight,
  parametersOf,
  playReactive,
  REACTIVE_PARAMETERS,
  type ReactiveSearchOptions,
  reactiveAction,
} from '../../../src/agents/search/reactive.js';
import { createVecEnv, graderWeights, openLoopActions } from '../../../src/index.js';
import { spreadSeeds } from '../../../src/world/conditions.js';
import { playProblem } from '../../support/action-sequences.js';
import { NATIVE, reportAbsentEngines } from '../../support/engines.js';

reportAbsentEngines();

const sequence = openLoopActions('v2');
const INITIAL_METERS = Float32Array.of(0.7, 0.7, 0.7, 0.7, 0.7);

describe('a reactive policy', () => {
  it('plays its sequence if no meter has a weight', () => {
    const parameters = parametersOf(sequence);
    const played = Array.from(sequence, (_, step) => reactiveAction(parameters, 0, step, INITIAL_METERS, 0));
    expect(played).toEqual([...sequence]);
    expect(parameters.filter((_, k) => isMeterWeight(k)).every((weight) => weight === 0)).toBe(true);
    expect(parameters).toHaveLength(REACTIVE_PARAMETERS);
  });

  it('plays the action that a low meter favours in this slot, and the first of equally rated actions', () => {
    const parameters = new Float64Array(2 * REACTIVE_PARAMETERS);
    // The second policy. Its first 280 parameters are preferences, one for each of 28 steps and 10 actions; the others are
    // weights of meters. This is the weight in the evening (slot 2), of action 3 and of serenity (meter 3), counted from 0.
    parameters[REACTIVE_PARAMETERS + 280 + (2 * 10 + 3) * 5 + 3] = -1;
    // The meters begin at index 1. Steps 2 and 6 are evenings, and step 3 is a night.
    const low = Float32Array.of(9, 0.7, 0.7, 0.7, 0.2, 0.7);
    const actionAt = (step: number, meters: Float32Array, at: number) =>
      reactiveAction(parameters, REACTIVE_PARAMETERS, step, meters, at);
    expect([actionAt(2, low, 1), actionAt(6, low, 1), actionAt(3, low, 1)]).toEqual([3, 3, 0]);
  });
});

describe.skipIf(NATIVE.length === 0)('the search for a reactive policy', () => {
  const seeds = spreadSeeds(64);
  const options: ReactiveSearchOptions = {
    seeds,
    sequence,
    generations: 6,
    seed: 1,
    grader: graderWeights('v2'),
    signal: undefined,
    engine: { threads: 1 },
    onProgress: () => {},
  };

  it('does not depend on threads, reports progress, and finds a policy that scores no less than its sequence', async () => {
    const progress: string[] = [];
    const onProgress = (done: number, total: number) => progress.push(`${done}/${total}`);
    const found = await findReactivePolicy({ ...options, onProgress });
    expect(await findReactivePolicy({ ...options, engine: { threads: 2 } })).toEqual(found);
    expect([progress.length, progress.at(-1)]).toEqual([6, '6/6']);
    const { score } = playProblem(sequence, { seeds });
    expect(found.score).toBeGreaterThanOrEqual(score - 1e-9);
    using env = createVecEnv({ numEnvs: seeds.length });
    const played = new Uint8Array(seeds.length * 28);
    const scores = (await playReactive(env, found.parameters, seeds, seeds.length, played)).slice();
    expect(scores.reduce((sum, value) => sum + value, 0) / seeds.length).toBeCloseTo(found.score, 9);
    env.reset({ seed: seeds });
    expect(env.run(played).finalScores).toEqual(scores);
  });

  it('improves a bad sequence by more than 0.05', async () => {
    const bad = new Uint8Array(28);
    const { score } = await findReactivePolicy({ ...options, sequence: bad });
    // The margin is chosen by hand.
    expect(score).toBeGreaterThan(playProblem(bad, { seeds }).score + 0.05);
  });

  it('rejects with the reason of its signal', async () => {
    const reason = new Error('enough');
    await expect(findReactivePolicy({ ...options, signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  });
});
