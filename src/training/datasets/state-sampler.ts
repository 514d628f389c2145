/** Computes the states of a dataset for GRPO: plays each row's episode up to the row's step. */

import { type EngineCalls, resultOf } from '../../engine/engine-calls.js';
import type { AnyVecEnv } from '../../engine/node.js';
import type { VecEnvOptions } from '../../engine/vec-env/vec-env-options.js';
import { NUM_METERS, NUM_STEPS, OBSERVATION } from '../../world/fields.js';
import type { DatasetPlan } from './grpo/grpo-options.js';
import { drawsOf, type MixedPolicy, type PolicyInput, policyOf } from './policy-mix.js';
import { type StateKey, stateKeysOf } from './state-keys.js';

/** Options of the computation. They change no result. */
export type Engine = Pick<VecEnvOptions, 'backend' | 'kernel' | 'threads'>;

/** The states of consecutive rows. */
export interface StateBatch {
  readonly keys: readonly StateKey[];
  readonly policies: readonly MixedPolicy[];
  /** u8 [n, 28]: codes of the actions before the state; zeros from `stepIndex` on. */
  readonly actions: Uint8Array;
  /** f32 [n, 106]: observations with their history. A view, valid until the next call. */
  readonly observations: Float32Array;
}

/** Opens a requested number of environments: a ResizableEnv or a ResizableAnyEnv. */
interface Environments {
  of(numEnvs: number): AnyVecEnv | Promise<AnyVecEnv>;
}

/** Computes the states of one plan. */
export class StateSampler {
  readonly #plan: DatasetPlan;
  readonly #keyOf: (row: number) => StateKey;
  readonly #envs: Environments;

  /** @param envs opens environments with `observation: { history: true }`. */
  constructor(plan: DatasetPlan, envs: Environments) {
    this.#plan = plan;
    this.#keyOf = stateKeysOf(plan);
    this.#envs = envs;
  }

  /** Returns the states of `count` rows from row `first` on. The size of a batch changes no state. */
  *sample(first: number, count: number): EngineCalls<StateBatch> {
    const rows = Array.from({ length: count }, (_, i) => first + i);
    const keys = rows.map(this.#keyOf);
    const draws = rows.map((row) => drawsOf(this.#plan.seed, row));
    const policies = draws.map(policyOf);
    const env = yield* resultOf(this.#envs.of(count));
    const starts = {
      seed: Uint32Array.from(keys, ({ seed }) => seed),
      profiles: keys.map(({ profile }) => profile),
    };
    const { observations } = yield* resultOf(env.reset(starts));
    const actions = yield* playToStates(env, observations, { keys, policies, draws });
    return { keys, policies, actions, observations };
  }
}

/** The state key, the policy and the draws of each row: they determine its actions. */
interface EpisodePlans extends Pick<StateBatch, 'keys' | 'policies'> {
  readonly draws: readonly PolicyInput['draw'][];
}

/**
 * Steps each environment until its state is reached.
 * @param observations a view of the environment's observations, which each step overwrites. @returns u8 [n, 28], the actions.
 */
function* playToStates(
  env: AnyVecEnv,
  observations: Float32Array,
  { keys, policies, draws }: EpisodePlans,
): EngineCalls<Uint8Array> {
  const { params } = env.world;
  const width = env.observationSpace.shape[0];
  const taken = new Uint8Array(env.numEnvs * NUM_STEPS);
  const actions = new Uint8Array(env.numEnvs);
  const mask = new Uint8Array(env.numEnvs);
  const steps = keys.reduce((most, { stepIndex }) => Math.max(most, stepIndex), 0);
  for (let step = 0; step < steps; step++) {
    for (const [i, { seed, stepIndex }] of keys.entries()) {
      mask[i] = stepIndex > step ? 1 : 0;
      if (mask[i] === 0) continue;
      const from = i * width + OBSERVATION.meters;
      const meters = observations.subarray(from, from + NUM_METERS);
      actions[i] = policies[i].act({ params, draw: draws[i], seed, step, meters });
      taken[i * NUM_STEPS + step] = actions[i];
    }
    yield* resultOf(env.step(actions, { mask }));
  }
  return taken;
}
