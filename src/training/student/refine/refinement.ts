/**
 * Refines a clone on the engine: the student plays whole episodes, and PPO raises the probability of the actions whose final
 * scores were above the critic's prediction. A penalty for leaving the clone, and one pass over each batch, keep the steps small.
 */
import seedrandom from 'seedrandom';
import { FEATURE_COUNT } from '../../../agents/student/features.js';
import type { Layer } from '../../../agents/student/network.js';
import { floatsOf } from '../../../engine/graders/grader.js';
import { openAnyVecEnv } from '../../../engine/node.js';
import { type Draw, threefry } from '../../../engine/reference/threefry.js';
import { yieldTurn } from '../../../engine/vec-env/yield-turn.js';
import { NUM_ACTIONS, NUM_BELIEFS, NUM_STEPS } from '../../../world/fields.js';
import { permutation } from '../../datasets/permutation.js';
import type { RefinementFigures, RefinementState } from '../checkpoint.js';
import type { LabelOptions } from '../episodes.js';
import { initialState, stateOf } from '../model.js';
import { seedsOf } from '../seeds.js';
import type { TrainRequest } from '../train-options.js';
import { type Advantages, advantagesOf } from './advantages.js';
import { CRITIC_INPUTS, CRITIC_OUTPUTS } from './critic-shape.js';
import { PpoLearner, type PpoLosses, type PpoRows } from './ppo-learner.js';
import { type Rollouts, rollOut } from './rollouts.js';

/** Rows of an update. */
const ROWS = 4096;
/** The weight of later predictions in advantages. */
const LAMBDA = 0.95;
/** The learning rate of the first iteration. It falls linearly to 0. */
const RATE = 1e-3;
/** The weight of the divergence from the clone. */
const PENALTY = 0.01;
const CRITIC_HIDDEN = [64, 64];
/** The second words of the keys of permutations. */
const KEYS = { profiles: 0x50524f46, rows: 0x50524f57, noise: 0x4e4f4953 };

type Samples = Rollouts & Advantages;

export class Refinement {
  readonly #request: TrainRequest;
  readonly #learner: PpoLearner;
  readonly #figures: RefinementFigures[];

  /** @param from continues from this state; null begins with the clone. */
  constructor(request: TrainRequest, clone: readonly Layer[], from: RefinementState | null) {
    const random = seedrandom.alea(`critic ${request.seed}`);
    const critic = from?.critic ?? initialState(random, [CRITIC_INPUTS, ...CRITIC_HIDDEN, CRITIC_OUTPUTS]);
    this.#request = request;
    this.#learner = new PpoLearner(from?.actor ?? stateOf(clone), critic, clone);
    this.#figures = [...(from?.figures ?? [])];
  }

  /** Runs the iterations that are left. @param onIteration is called after each of them. */
  async run(engine: LabelOptions['engine'], onIteration: () => Promise<void>): Promise<void> {
    const { refineEpisodes, refineBatch: numEnvs, grader } = this.#request;
    const iterations = Math.ceil(refineEpisodes / numEnvs);
    await using env = await openAnyVecEnv({
      ...engine,
      numEnvs,
      grader: floatsOf(grader.weights),
      imagination: true,
    });
    for (let done = this.#figures.length; done < iterations; done++) {
      const first = done * numEnvs;
      const rollouts = await rollOut(env, {
        profileSeeds: seedsOf(this.#request, { first, count: numEnvs, key: KEYS.profiles }),
        seeds: noiseSeeds(this.#request.seed, first, numEnvs),
        outputsOf: this.#learner.outputsOf,
      });
      const values = this.#learner.valuesOf(rollouts.criticInputs);
      const samples = { ...rollouts, ...advantagesOf(values, rollouts.finalScores, LAMBDA) };
      const losses = await this.#fit(samples, done, RATE * (1 - done / iterations));
      this.#figures.push({ episodes: first + numEnvs, ...meansOf(rollouts), ...losses });
      await onIteration();
    }
  }

  /** Passes once over the rows of an iteration. */
  async #fit(samples: Samples, iteration: number, rate: number): Promise<PpoLosses> {
    const count = samples.actions.length;
    const rowOf = permutation(count, [this.#request.seed, (KEYS.rows ^ iteration) >>> 0]);
    const rows = createRows(Math.min(ROWS, count));
    const updates = Math.floor(count / rows.logProbs.length);
    const sums = { divergence: 0, criticLoss: 0 };
    for (let k = 0; k < updates; k++) {
      fillRows(rows, k, samples, rowOf);
      const { divergence, criticLoss } = this.#learner.update(rows, { rate, penalty: PENALTY });
      sums.divergence += divergence / updates;
      sums.criticLoss += criticLoss / updates;
      await yieldTurn();
    }
    return sums;
  }

  state = (): RefinementState => ({
    actor: this.#learner.actor.state(),
    critic: this.#learner.critic.state(),
    figures: [...this.#figures],
  });

  [Symbol.dispose](): void {
    this.#learner[Symbol.dispose]();
  }
}

const draw: Draw = { x0: 0, x1: 0 };

/** Returns the seeds of the noise of episodes `first` to `first + count - 1`. @param seed the training's. */
const noiseSeeds = (seed: number, first: number, count: number): Uint32Array =>
  Uint32Array.from({ length: count }, (_, i) => threefry(seed, KEYS.noise, first + i, 0, draw).x0);

const meanOf = (numbers: Float32Array): number =>
  numbers.reduce((sum, number) => sum + number, 0) / numbers.length;

const meansOf = ({ finalScores, beliefMae }: Rollouts) => ({
  finalScore: meanOf(finalScores),
  beliefMae: meanOf(beliefMae),
});

const createRows = (count: number): PpoRows => ({
  inputs: new Float32Array(count * FEATURE_COUNT),
  criticInputs: new Float32Array(count * CRITIC_INPUTS),
  actions: new Float32Array(count * NUM_ACTIONS),
  logProbs: new Float32Array(count),
  advantages: new Float32Array(count),
  returns: new Float32Array(count),
  targets: new Float32Array(count * NUM_BELIEFS),
});

/** Fills the rows of update k. @param rowOf the order of the samples. */
function fillRows(rows: PpoRows, k: number, samples: Samples, rowOf: (index: number) => number): void {
  const count = rows.logProbs.length;
  const copy = (name: 'inputs' | 'criticInputs' | 'targets', from: number, j: number, size: number): void =>
    rows[name].set(samples[name].subarray(from * size, (from + 1) * size), j * size);
  rows.actions.fill(0);
  for (let j = 0; j < count; j++) {
    const row = rowOf(k * count + j);
    copy('inputs', row, j, FEATURE_COUNT);
    copy('criticInputs', row, j, CRITIC_INPUTS);
    copy('targets', Math.floor(row / NUM_STEPS), j, NUM_BELIEFS);
    rows.actions[j * NUM_ACTIONS + samples.actions[row]] = 1;
    rows.logProbs[j] = samples.logProbs[row];
    rows.advantages[j] = samples.advantages[row];
    rows.returns[j] = samples.returns[row];
  }
}
