/** examples/grpo with a tiny configuration: determinism, rollouts, gradients and evaluation. */
import { numpy as np, tree } from '@jax-js/jax';
import { createVecEnv, OBSERVATION, OBSERVATION_SIZE } from 'rhythm-vec';
import seedrandom from 'seedrandom';
import { describe, expect, it } from 'vitest';
import { greedy, sampled } from '../../examples/grpo/choose.js';
import { evaluateBaselines, evaluatePolicy } from '../../examples/grpo/evaluate.js';
import { FEATURE_COUNT, Features } from '../../examples/grpo/features.js';
import { createLearner, loss, toBatch, update } from '../../examples/grpo/grpo.js';
import { ACTIONS, createParameters, LEVELS, type Parameters } from '../../examples/grpo/policy.js';
import { type Episodes, playEpisodes, STEPS } from '../../examples/grpo/rollout.js';
import { interval } from '../../examples/grpo/statistics.js';
import { DEFAULTS, type Progress, train } from '../../examples/grpo/train.js';

const GROUPS = 3;
const GROUP_SIZE = 4;
const NUM_ENVS = GROUPS * GROUP_SIZE;
const SEEDS = Uint32Array.from({ length: NUM_ENVS }, (_, env) => 100 + Math.floor(env / GROUP_SIZE));

/** Plays episodes of an untrained policy. */
function playUntrained(parameters: Parameters, seed = 'episodes'): Episodes {
  const env = createVecEnv({ numEnvs: NUM_ENVS });
  return playEpisodes(env, SEEDS, parameters, sampled(seedrandom.alea(seed)));
}

const untrained = (): Parameters => createParameters(seedrandom.alea('untrained'));
const numbersOf = (parameters: Parameters): number[][] =>
  tree.leaves(tree.ref(parameters)).map((values) => Array.from((values as np.Array).dataSync()));

describe('training', () => {
  const tiny = { ...DEFAULTS, updates: 2, groups: GROUPS, groupSize: GROUP_SIZE };
  const trained = (seed: number): { numbers: number[][]; reports: Progress[] } => {
    const reports: Progress[] = [];
    const parameters = train({ ...tiny, seed }, (progress) => reports.push(progress) > 0);
    return { numbers: numbersOf(parameters), reports };
  };
  const [first, repeated, other] = [trained(1), trained(1), trained(2)];

  it('is determined by its seed, to the bit', () => {
    expect(repeated).toEqual(first);
    expect(other.numbers).not.toEqual(first.numbers);
  });

  it('reports each update', () => {
    expect(first.reports.map((progress) => progress.update)).toEqual([1, 2]);
    for (const { loss, finalScore, beliefMae, zeroSpread } of first.reports) {
      expect([loss, finalScore, beliefMae, zeroSpread].every(Number.isFinite)).toBe(true);
      expect(finalScore).toBeGreaterThan(0);
      expect(beliefMae).toBeGreaterThan(0);
    }
  });

  it('stops on request', () => {
    let updates = 0;
    train({ ...tiny, updates: 9, seed: 1 }, ({ update }) => {
      updates = update;
      return update < 3;
    });
    expect(updates).toBe(3);
  });
});

describe('episodes', () => {
  const episodes = playUntrained(untrained());

  it('have the observations and choices of every step', () => {
    expect(episodes.inputs).toHaveLength(STEPS * NUM_ENVS * FEATURE_COUNT);
    expect(episodes.inputs.every(Number.isFinite)).toBe(true);
    expect(episodes.actions).toHaveLength(STEPS * NUM_ENVS);
    expect(episodes.actions.every((code) => code < ACTIONS)).toBe(true);
    expect(new Set(episodes.actions).size).toBe(ACTIONS);
    expect(episodes.levels).toHaveLength(NUM_ENVS * 3);
    expect(episodes.levels.every((level) => level < LEVELS)).toBe(true);
    expect(episodes.result.terminated.every((over) => over === 1)).toBe(true);
  });

  it('equal a replay of their actions and beliefs', () => {
    const env = createVecEnv({ numEnvs: NUM_ENVS });
    env.reset({ seed: SEEDS });
    const sequences = Uint8Array.from({ length: NUM_ENVS * STEPS }, (_, at) => {
      return episodes.actions[(at % STEPS) * NUM_ENVS + Math.floor(at / STEPS)];
    });
    const beliefs = Float32Array.from({ length: NUM_ENVS * STEPS * 3 }, (_, at) => {
      return episodes.levels[Math.floor(at / (STEPS * 3)) * 3 + (at % 3)] / (LEVELS - 1);
    });
    expect(env.run(sequences, { beliefs }).finalScores).toEqual(episodes.result.finalScores);
  });
});

describe('the input of the policy', () => {
  const observe = (env: number, step: number, lastAction: number): Float32Array => {
    const observation = new Float32Array(OBSERVATION_SIZE);
    observation[OBSERVATION.step] = step;
    observation[OBSERVATION.lastAction] = lastAction;
    observation.fill(step === 0 ? 0 : 0.1 * (env + 1), OBSERVATION.anomalies, OBSERVATION.anomalies + 5);
    return observation;
  };
  const inputsAfter = (observations: readonly Float32Array[]): Float32Array => {
    const features = new Features(1);
    const inputs = new Float32Array(FEATURE_COUNT);
    for (const observation of observations) features.observe(observation, inputs);
    return inputs;
  };

  it('is a function of the observations of the episode so far', () => {
    const [start, first, second] = [observe(0, 0, -1), observe(0, 1, 3), observe(0, 2, 3)];
    expect(inputsAfter([start, first, second])).toEqual(inputsAfter([start, first, second]));
    expect(inputsAfter([start, observe(1, 1, 3), second])).not.toEqual(inputsAfter([start, first, second]));
  });

  it('is cleared by a reset', () => {
    const [start, first] = [observe(0, 0, -1), observe(0, 1, 3)];
    expect(inputsAfter([start, observe(1, 1, 6), start, first])).toEqual(inputsAfter([start, first]));
  });
});

describe('an update', () => {
  const options = { groupSize: GROUP_SIZE, rate: 0.001, entropy: 0 };
  const lossOf = (parameters: Parameters, episodes: Episodes): number =>
    loss(tree.ref(parameters), toBatch(episodes, GROUP_SIZE).batch, np.array(0)).item();

  it('lowers the loss of its episodes, repeatedly', () => {
    const learner = createLearner(untrained());
    const episodes = playUntrained(learner.parameters);
    const losses = [lossOf(learner.parameters, episodes)];
    for (let k = 0; k < 3; k++) {
      expect(update(learner, episodes, options).loss).toBeCloseTo(losses[k], 5);
      losses.push(lossOf(learner.parameters, episodes));
      expect(losses[k + 1]).toBeLessThan(losses[k]);
    }
  });

  it('changes nothing for groups with equal scores', () => {
    const learner = createLearner(untrained());
    const episodes = playUntrained(learner.parameters);
    const same = {
      ...episodes.result,
      finalScores: new Float32Array(NUM_ENVS),
      beliefMae: new Float32Array(NUM_ENVS),
    };
    const before = numbersOf(learner.parameters);
    const figures = update(learner, { ...episodes, result: same }, options);
    expect(figures.loss).toBeCloseTo(0, 9);
    expect(figures.zeroSpread).toBe(1);
    expect(numbersOf(learner.parameters)).toEqual(before);
  });

  it('makes the better of two choices more likely, and the worse less likely', () => {
    const learner = createLearner(untrained());
    const episodes = playUntrained(learner.parameters);
    // Odd environments chose action 6 and belief 1, even ones action 4 and belief 0; the odd ones scored better in both.
    const odd = Float32Array.from(SEEDS, (_, env) => env % 2);
    const constructed = {
      ...episodes,
      actions: episodes.actions.map((_, row) => (odd[row % NUM_ENVS] === 1 ? 6 : 4)),
      levels: episodes.levels.map((_, at) => (odd[Math.floor(at / 3)] === 1 ? LEVELS - 1 : 0)),
      result: { ...episodes.result, finalScores: odd, beliefMae: odd.map((score) => 1 - score) },
    };
    for (let k = 0; k < 20; k++) update(learner, constructed, { ...options, rate: 0.01 });
    const after = playEpisodes(createVecEnv({ numEnvs: NUM_ENVS }), SEEDS, learner.parameters, greedy);
    expect(after.actions.every((code) => code === 6)).toBe(true);
    expect(after.levels.every((level) => level === LEVELS - 1)).toBe(true);
  });
});

describe('evaluation', () => {
  const seeds = { first: 20000, last: 20019 };

  it('plays the same episodes as the baselines', async () => {
    const { rows, info } = await evaluateBaselines(seeds);
    expect(rows.map(({ policy }) => policy)).toContain('heuristic+constant');
    expect(info.grader).toBe('v2');
    expect(new Set(rows.map(({ beliefMae }) => beliefMae)).size).toBe(1);
  });

  it('scores a policy, and replays of its choices with other noise and another profile', () => {
    // With large parameters the choices depend strongly on the input.
    const parameters = tree.map((values: np.Array) => values.mul(20), untrained()) as Parameters;
    const rows = evaluatePolicy(parameters, seeds);
    expect(new Set(Object.values(rows).map(({ finalScore }) => finalScore)).size).toBe(3);
    expect(rows.otherNoise.beliefMae).toBeCloseTo(rows.trained.beliefMae, 6);
    expect(rows.otherProfile.beliefMae).not.toBeCloseTo(rows.trained.beliefMae, 6);
    expect(evaluatePolicy(parameters, seeds)).toEqual(rows);
  });

  it("has intervals by Student's t, for 1, 2, 3 as in textbooks", () => {
    const { mean, halfWidth } = interval([1, 2, 3]);
    expect(mean).toBe(2);
    expect(halfWidth).toBeCloseTo(2.484, 3);
  });
});
