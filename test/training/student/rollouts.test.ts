/** The episodes of a refinement: the actions that the student draws, and the inputs of the critic. */
import { expect, it } from 'vitest';
import { FEATURE_COUNT } from '../../../src/agents/student/features.js';
import { OUTPUT_COUNT } from '../../../src/agents/student/network.js';
import { createVecEnv } from '../../../src/engine/node.js';
import { CRITIC_INPUTS } from '../../../src/training/student/refine/critic-shape.js';
import { choose, rollOut } from '../../../src/training/student/refine/rollouts.js';
import { NUM_ACTIONS, NUM_STEPS } from '../../../src/world/fields.js';
import { Random } from '../../support/random.js';

it('choose draws each action with its probability', () => {
  const logits = Float32Array.from({ length: NUM_ACTIONS }, (_, k) => Math.log(k + 1));
  const random = new Random('choices');
  const counts = new Array(NUM_ACTIONS).fill(0);
  const draws = 50_000;
  for (let k = 0; k < draws; k++) {
    const { action, logProb } = choose(logits, random.real(0, 1));
    if (counts[action]++ === 0) expect(logProb).toBeCloseTo(Math.log((action + 1) / 55), 5);
  }
  for (const [k, count] of counts.entries()) {
    const share = (k + 1) / 55;
    expect(Math.abs(count / draws - share)).toBeLessThan(5 * Math.sqrt((share * (1 - share)) / draws));
  }
  expect(choose(logits, 1 - 2 ** -32).action).toBe(NUM_ACTIONS - 1);
  expect(choose(logits, 0).action).toBe(0);
});

it('rollOut plays the profiles of the profile seeds with the noise of other seeds', async () => {
  const count = 6;
  const profileSeeds = Uint32Array.from({ length: count }, (_, i) => 100 + (i % 3));
  const outputsOf = (inputs: Float32Array) =>
    new Float32Array((inputs.length / FEATURE_COUNT) * OUTPUT_COUNT);
  using env = createVecEnv({ numEnvs: count, imagination: true });
  const seeds = Uint32Array.from({ length: count }, (_, i) => 7 + i);
  const played = await rollOut(env, { profileSeeds, seeds, outputsOf });
  const again = await rollOut(env, { profileSeeds, seeds, outputsOf });
  expect(again).toEqual(played);
  /** Returns the profile among the critic's inputs, at the first step of episode i. */
  const profileInputs = (i: number) =>
    played.criticInputs.slice(
      i * NUM_STEPS * CRITIC_INPUTS + FEATURE_COUNT,
      (i * NUM_STEPS + 1) * CRITIC_INPUTS,
    );
  expect(profileInputs(0)).toEqual(profileInputs(3));
  expect(profileInputs(0)).not.toEqual(profileInputs(1));
  expect(Math.max(...profileInputs(0).map(Math.abs))).toBeGreaterThan(0.5);
  expect(played.targets.slice(0, 3)).toEqual(played.targets.slice(9, 12));
  // The same profile with the same outputs, but with other noise and other draws.
  expect(played.actions.slice(0, NUM_STEPS)).not.toEqual(played.actions.slice(3 * NUM_STEPS, 4 * NUM_STEPS));
  expect(new Set(played.finalScores).size).toBe(count);
  expect(new Set(played.logProbs)).toEqual(new Set([Math.fround(-Math.log(NUM_ACTIONS))]));
});
