/** The states of a dataset: plays each row's episode by a policy of the mix up to the row's moment. */

import type { VecEnv } from '../../engine/node.js';
import type { VecEnvOptions } from '../../engine/vec-env/vec-env-options.js';
import { ResizableEnv } from '../../evaluation/resizable-env.js';
import { NUM_METERS, NUM_STEPS, OBSERVATION } from '../../world/fields.js';
import { type Cell, cellsOf } from './cells.js';
import type { DatasetPlan } from './grpo/grpo-options.js';
import { drawsOf, type MixedPolicy, type Moment, policyOf } from './policy-mix.js';

/** How to compute: changes no result. */
export type Engine = Pick<VecEnvOptions, 'backend' | 'kernel' | 'threads'>;

/** States of consecutive rows. */
export interface States {
  readonly cells: readonly Cell[];
  readonly policies: readonly MixedPolicy[];
  /** u8 [n, 28]: codes of the actions taken; zeros from `stepIndex` on. */
  readonly histories: Uint8Array;
  /** f32 [n, 106]: what an agent sees, with its history. A view, valid until the next call. */
  readonly observations: Float32Array;
}

/** Plays the weeks of one plan. */
export class Weeks implements Disposable {
  readonly #plan: DatasetPlan;
  readonly #cellOf: (row: number) => Cell;
  readonly #envs: ResizableEnv;

  constructor(plan: DatasetPlan, { backend, kernel, threads }: Engine) {
    this.#plan = plan;
    this.#cellOf = cellsOf(plan);
    this.#envs = new ResizableEnv({ backend, kernel, threads, observation: { history: true } });
  }

  /** The states of `count` rows from row `first` on. Which rows are reached together changes no result. */
  reach(first: number, count: number): States {
    const rows = Array.from({ length: count }, (_, i) => first + i);
    const cells = rows.map(this.#cellOf);
    const draws = rows.map((row) => drawsOf(this.#plan.seed, row));
    const policies = draws.map(policyOf);
    const env = this.#envs.of(count);
    const { observations } = env.reset({
      seed: Uint32Array.from(cells, ({ seed }) => seed),
      profiles: cells.map(({ profile }) => profile),
    });
    const histories = play(env, observations, { cells, policies, draws });
    return { cells, policies, histories, observations };
  }

  [Symbol.dispose](): void {
    this.#envs[Symbol.dispose]();
  }
}

interface Players extends Pick<States, 'cells' | 'policies'> {
  readonly draws: readonly Moment['draw'][];
}

/** @param observations of the environment, which each step overwrites. @returns the action sequences. */
function play(env: VecEnv, observations: Float32Array, { cells, policies, draws }: Players): Uint8Array {
  const { params } = env.world;
  const width = env.observationSpace.shape[0];
  const sequence = new Uint8Array(env.numEnvs * NUM_STEPS);
  const actions = new Uint8Array(env.numEnvs);
  const mask = new Uint8Array(env.numEnvs);
  const steps = cells.reduce((most, { stepIndex }) => Math.max(most, stepIndex), 0);
  for (let step = 0; step < steps; step++) {
    for (const [i, { seed, stepIndex }] of cells.entries()) {
      mask[i] = stepIndex > step ? 1 : 0;
      if (mask[i] === 0) continue;
      const from = i * width + OBSERVATION.meters;
      const meters = observations.subarray(from, from + NUM_METERS);
      actions[i] = policies[i].act({ params, draw: draws[i], seed, step, meters });
      sequence[i * NUM_STEPS + step] = actions[i];
    }
    env.step(actions, { mask });
  }
  return sequence;
}
