/** Evaluates a policy on held-out seeds. Reports the same figures as an audit of a grader. */
import { COMPONENT_NAMES, createVecEnv, type Evaluation, evaluate, type StepResult } from 'rhythm-vec';
import { greedy } from './choose.js';
import { BELIEFS, type Parameters } from './policy.js';
import { beliefsOf, playEpisodes, STEPS } from './rollout.js';
import { interval, meanOf } from './statistics.js';

/** Neither training nor the published evaluation uses these seeds. */
export const HELD_OUT = { first: 20000, last: 21999 };

const BASELINES = ['random+constant', 'heuristic+constant', 'open-loop', 'open-loop+constant'];

/** Means over episodes. */
export interface Row {
  readonly policy: string;
  readonly finalScore: number;
  /** Half of the 95 % interval of the mean score, over episodes. */
  readonly halfWidth: number;
  /** Mean rewards of the halves of an episode. The adaptation component rewards a second half above the first. */
  readonly firstHalfMean: number;
  readonly secondHalfMean: number;
  readonly adaptation: number;
  readonly beliefMae: number;
}

/** Results of the baselines, and the backend and machine. */
export interface Baselines {
  readonly rows: readonly Row[];
  readonly info: Omit<Evaluation, 'rows' | 'seconds'>;
}

/** Evaluates the baselines. @param seeds of the episodes. */
export async function evaluateBaselines(seeds = HELD_OUT): Promise<Baselines> {
  const rows: Row[] = [];
  const {
    rows: _,
    seconds: __,
    ...info
  } = await evaluate({
    policies: BASELINES,
    seeds,
    onEpisodes: ({ policy, belief, result }) => {
      rows.push(toRow(belief === 'none' ? policy : `${policy}+${belief}`, result));
    },
  });
  return { rows, info };
}

/** Results of a policy, and of its actions and beliefs replayed as fixed sequences in other episodes. */
export interface PolicyRows {
  readonly trained: Row;
  /** With the same profiles and other noise. The drop below the score of `trained` is the gain from reacting to noise. */
  readonly otherNoise: Row;
  /** With the profile of the next seed and other noise. The drop below `otherNoise` is the gain from inference. */
  readonly otherProfile: Row;
}

/** Evaluates a policy that chooses greedily. @param range the first and last seed of the episodes. */
export function evaluatePolicy(parameters: Parameters, range = HELD_OUT): PolicyRows {
  const numEnvs = range.last - range.first + 1;
  const seeds = Uint32Array.from({ length: numEnvs }, (_, envIndex) => range.first + envIndex);
  const nextSeeds = seeds.map((_, envIndex) => seeds[(envIndex + 1) % numEnvs]);
  using env = createVecEnv({ numEnvs, threads: 1 });
  const { actions, levels, result } = playEpisodes(env, seeds, parameters, greedy);
  const trained = toRow('trained', result);
  const sequences = Uint8Array.from({ length: numEnvs * STEPS }, (_, at) => {
    return actions[(at % STEPS) * numEnvs + Math.floor(at / STEPS)];
  });
  const lastBeliefs = beliefsOf(levels);
  const beliefs = Float32Array.from({ length: numEnvs * STEPS * BELIEFS }, (_, at) => {
    return lastBeliefs[Math.floor(at / (STEPS * BELIEFS)) * BELIEFS + (at % BELIEFS)];
  });
  // An environment with imagination has other noise for the same seeds.
  using otherEnv = createVecEnv({ numEnvs, threads: 1, imagination: true });
  const replay = (policy: string, seed: Uint32Array): Row => {
    otherEnv.reset({ seed });
    return toRow(policy, otherEnv.run(sequences, { beliefs }));
  };
  return {
    trained,
    otherNoise: replay('its choices, other noise', seeds),
    otherProfile: replay('its choices, other profiles', nextSeeds),
  };
}

function toRow(policy: string, result: StepResult): Row {
  const { finalScores, firstHalfMeans, secondHalfMeans, beliefMae, components } = result;
  const at = COMPONENT_NAMES.indexOf('adaptation');
  const { mean, halfWidth } = interval(finalScores);
  return {
    policy,
    finalScore: mean,
    halfWidth,
    firstHalfMean: meanOf(firstHalfMeans),
    secondHalfMean: meanOf(secondHalfMeans),
    adaptation: meanOf(finalScores.map((_, envIndex) => components[envIndex * COMPONENT_NAMES.length + at])),
    beliefMae: meanOf(beliefMae),
  };
}
