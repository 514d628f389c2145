/** What a policy earns on people whom it never met, and how: the figures that the project's audits of graders show. */
import { COMPONENT_NAMES, createVecEnv, type Evaluation, evaluate, type StepResult } from 'rhythm-vec';
import { best } from './choose.js';
import { BELIEFS, type Parameters } from './policy.js';
import { beliefsOf, playWeeks, STEPS } from './rollout.js';
import { interval, meanOf } from './statistics.js';

/** Fresh: neither training nor the published evaluation plays them. */
export const HELD_OUT = { first: 20000, last: 21999 };

const BASELINES = ['random+constant', 'heuristic+constant', 'open-loop', 'open-loop+constant'];

/** Means over weeks. */
export interface Row {
  readonly policy: string;
  readonly finalScore: number;
  /** Half of the 95 % interval of the mean score, over weeks. */
  readonly halfWidth: number;
  /** Mean rewards of the two halves of the week. A late one far above the early one is what adaptation pays for. */
  readonly firstHalfMean: number;
  readonly secondHalfMean: number;
  readonly adaptation: number;
  readonly beliefMae: number;
}

/** Baselines on the same weeks, with what ran and where. */
export interface Baselines {
  readonly rows: readonly Row[];
  readonly info: Omit<Evaluation, 'rows' | 'seconds'>;
}

/** @param held the seeds of the weeks, the first and the last. */
export async function evaluateBaselines(held = HELD_OUT): Promise<Baselines> {
  const rows: Row[] = [];
  const {
    rows: _,
    seconds: __,
    ...info
  } = await evaluate({
    policies: BASELINES,
    seeds: held,
    onEpisodes: ({ policy, belief, result }) => {
      rows.push(toRow(belief === 'none' ? policy : `${policy}+${belief}`, result));
    },
  });
  return { rows, info };
}

/** A policy's own weeks, and its choices there played again where they do not belong: blind, as action sequences. */
export interface Judged {
  readonly own: Row;
  /** The same persons with other luck. What it scores less came of reacting to luck. */
  readonly otherLuck: Row;
  /** Each time the person of the next seed, and other luck. What it scores less than `otherLuck` came of knowing whom. */
  readonly otherPerson: Row;
}

/** The policy on the held-out weeks, its likeliest actions each. @param held the seeds of the weeks, first and last. */
export function evaluatePolicy(parameters: Parameters, held = HELD_OUT): Judged {
  const numEnvs = held.last - held.first + 1;
  const seeds = Uint32Array.from({ length: numEnvs }, (_, slot) => held.first + slot);
  const others = seeds.map((_, slot) => seeds[(slot + 1) % numEnvs]);
  using env = createVecEnv({ numEnvs, threads: 1 });
  const { actions, levels, result } = playWeeks(env, seeds, parameters, best);
  const own = toRow('trained', result);
  const sequences = Uint8Array.from({ length: numEnvs * STEPS }, (_, at) => {
    return actions[(at % STEPS) * numEnvs + Math.floor(at / STEPS)];
  });
  const given = beliefsOf(levels);
  const beliefs = Float32Array.from({ length: numEnvs * STEPS * BELIEFS }, (_, at) => {
    return given[Math.floor(at / (STEPS * BELIEFS)) * BELIEFS + (at % BELIEFS)];
  });
  using imagined = createVecEnv({ numEnvs, threads: 1, imagination: true });
  const replay = (policy: string, seed: Uint32Array): Row => {
    imagined.reset({ seed });
    return toRow(policy, imagined.run(sequences, { beliefs }));
  };
  return {
    own,
    otherLuck: replay('its choices, other luck', seeds),
    otherPerson: replay('its choices, other people', others),
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
    adaptation: meanOf(finalScores.map((_, slot) => components[slot * COMPONENT_NAMES.length + at])),
    beliefMae: meanOf(beliefMae),
  };
}
