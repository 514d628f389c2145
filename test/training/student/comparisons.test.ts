/** The comparisons of a refinement: which actions are compared, and what they gain. */
import { expect, it } from 'vitest';
import { FEATURE_COUNT, OUTPUT_COUNT } from '../../../src/agents/student/network.js';
import { createVecEnv } from '../../../src/engine/node.js';
import { sampleProfile } from '../../../src/engine/reference/profile.js';
import { compareActions, drawOthers } from '../../../src/training/student/comparisons.js';
import { NUM_ACTIONS, NUM_STEPS, PROFILE_SIZE } from '../../../src/world/fields.js';
import { createWorld } from '../../../src/world/world.js';

const COUNT = 14;
const PROFILE_SEEDS = Uint32Array.from({ length: COUNT }, (_, i) => 100 + (i % 3));
const SEEDS = Uint32Array.from({ length: COUNT }, (_, i) => 7 + i);
/** The action at each step, the same in all episodes. */
const PLAN = Array.from({ length: NUM_STEPS }, (_, step) => (step * 3) % NUM_ACTIONS);

/** Returns outputs that choose the plan's actions. The first 28 inputs are the step, one-hot. */
function outputsOf(inputs: Float32Array): Float32Array {
  const outputs = new Float32Array((inputs.length / FEATURE_COUNT) * OUTPUT_COUNT);
  for (let row = 0; row < inputs.length / FEATURE_COUNT; row++) {
    const step = inputs.subarray(row * FEATURE_COUNT, row * FEATURE_COUNT + NUM_STEPS).indexOf(1);
    outputs[row * OUTPUT_COUNT + PLAN[step]] = 1;
  }
  return outputs;
}

/**
 * Plays the plan with another action at a step. Returns by episode the final score, and the result that a refinement
 * compares: the score minus 0.1 times the mean error of the last belief. Step -1 changes nothing.
 */
function playWith(step: number, action: number) {
  const { params } = createWorld();
  const profiles = new Float32Array(COUNT * PROFILE_SIZE);
  for (const [i, seed] of PROFILE_SEEDS.entries())
    sampleProfile(params, seed, profiles.subarray(i * PROFILE_SIZE, (i + 1) * PROFILE_SIZE));
  using env = createVecEnv({ numEnvs: COUNT, imagination: true });
  let result = env.reset({ seed: SEEDS, profiles });
  for (const [t, planned] of PLAN.entries()) {
    const actions = new Uint8Array(COUNT).fill(t === step ? action : planned);
    result = env.step(actions, { beliefs: new Float32Array(COUNT * 3).fill(0.5) });
  }
  const { finalScores, beliefMae } = result;
  return {
    finalScores: finalScores.slice(),
    results: finalScores.map((score, i) => score - 0.1 * beliefMae[i]),
  };
}

it('compareActions compares actions in the same episode: same profile, noise and events', async () => {
  using env = createVecEnv({ numEnvs: COUNT, imagination: true });
  const options = { profileSeeds: PROFILE_SEEDS, seeds: SEEDS, outputsOf };
  const played = await compareActions(env, options);
  expect(await compareActions(env, options)).toEqual(played);
  const own = playWith(-1, 0);
  expect(played.finalScores).toEqual(own.finalScores);
  // On average 8 of the 28 steps of an episode are compared: at each step, 4 of the 14 episodes.
  const perStep = 4;
  expect(played.inputs.length).toBe(NUM_STEPS * perStep * FEATURE_COUNT);
  const compared = new Set<number>();
  for (const step of [0, 5, 27]) {
    for (let row = step * perStep; row < (step + 1) * perStep; row++) {
      const inputs = played.inputs.slice(row * FEATURE_COUNT, (row + 1) * FEATURE_COUNT);
      const episode = SEEDS.findIndex(
        (_, i) => String(inputsAt(played.allInputs, step, i)) === String(inputs),
      );
      compared.add(episode);
      for (let action = 0; action < NUM_ACTIONS; action++) {
        const at = row * NUM_ACTIONS + action;
        if (played.compared[at] === 0) expect(played.gains[at]).toBe(0);
        // At step 0 all episodes have the same inputs, so `episode` may be another one than that of the row.
        else if (step > 0)
          expect(played.gains[at]).toBe(
            Math.fround(playWith(step, action).results[episode] - own.results[episode]),
          );
      }
      const marks = played.compared.slice(row * NUM_ACTIONS, (row + 1) * NUM_ACTIONS);
      // The student's own action and two others are compared.
      expect(marks.reduce((sum, mark) => sum + mark)).toBe(3);
      expect(marks[PLAN[step]]).toBe(1);
    }
  }
  expect(compared.size).toBeGreaterThan(2);
});

const inputsAt = (allInputs: Float32Array, step: number, i: number): Float32Array =>
  allInputs.slice((step * COUNT + i) * FEATURE_COUNT, (step * COUNT + i + 1) * FEATURE_COUNT);

it('drawOthers draws two other actions, the likely ones more often', () => {
  const outputs = new Float32Array(OUTPUT_COUNT);
  outputs[3] = 4;
  outputs[5] = 3;
  const counts = new Array(NUM_ACTIONS).fill(0);
  for (let seed = 0; seed < 1000; seed++) {
    // The student's own action is 3, the step 9.
    const others = drawOthers(outputs, 3, seed, 9);
    expect(new Set([...others, 3]).size).toBe(3);
    for (const action of others) counts[action]++;
  }
  // Action 5 is expected 747 times, each other action 157 times; without the logits, each of the nine 222 times.
  expect(counts[5]).toBeGreaterThan(700);
  for (const action of [0, 1, 2, 4, 6, 7, 8, 9]) expect(counts[action]).toBeGreaterThan(80);
});
