/**
 * Refines a clone (a student that imitates its teacher): raises the probabilities of actions that gain more than the student's
 * own action (comparisons.ts). Each iteration compares the actions of the current student, then updates it.
 */
import { FEATURE_COUNT, type Layer } from '../../agents/student/network.js';
import { NODE } from '../../engine/backends/node.js';
import { yieldTurn } from '../../engine/engine-calls.js';
import { floatsOf } from '../../engine/graders/grader.js';
import { type Draw, threefry } from '../../engine/reference/threefry.js';
import { openEnvOn } from '../../engine/vec-env/async-vec-env.js';
import { NUM_ACTIONS, NUM_BELIEFS } from '../../world/fields.js';
import { permutation } from '../permutation.js';
import type { RefinementFigures, RefinementState } from './checkpoint.js';
import { type Comparisons, compareActions } from './comparisons.js';
import { type LabelOptions, seedsOf } from './episodes.js';
import { RefineLearner, type RefineRows } from './learner.js';
import { stateOf } from './model.js';
import type { TrainRequest } from './train-options.js';

/** The maximum number of comparisons, and of belief targets, in an update. Chosen by hand, as PASSES and RATE. */
const ROWS = 512;
/** Passes over the comparisons of an iteration. More passes take more time for the same episodes. */
const PASSES = 4;
/** The learning rate of the first iteration. It falls linearly towards 0. */
const RATE = 5e-4;
/**
 * The second words of the keys of permutations and draws: four letters each, in ASCII. The first word is the training's seed.
 */
const KEYS = { profiles: 0x50524f46, rows: 0x50524f57, beliefs: 0x42454c53, noise: 0x4e4f4953 };

/** A refinement in progress. The caller disposes it. */
export class Refinement {
  readonly #request: TrainRequest;
  readonly #learner: RefineLearner;
  readonly #figures: RefinementFigures[];

  /** @param from the state to continue from; null begins with the clone. */
  constructor(request: TrainRequest, clone: readonly Layer[], from: RefinementState | null) {
    this.#request = request;
    this.#learner = new RefineLearner(from?.actor ?? stateOf(clone));
    this.#figures = [...(from?.figures ?? [])];
  }

  /** Runs all iterations that are not finished. @param onIteration is called after each of them. */
  async run(engine: LabelOptions['engine'], onIteration: () => Promise<void>): Promise<void> {
    const { refineEpisodes, refineBatch: numEnvs, grader } = this.#request;
    const iterations = Math.ceil(refineEpisodes / numEnvs);
    await using env = await openEnvOn(NODE, {
      ...engine,
      numEnvs,
      grader: floatsOf(grader.weights),
      imagination: true,
    });
    for (let done = this.#figures.length; done < iterations; done++) {
      const first = done * numEnvs;
      const comparisons = await compareActions(env, {
        profileSeeds: seedsOf(this.#request, { first, count: numEnvs, key: KEYS.profiles }),
        seeds: noiseSeeds(this.#request.seed, first, numEnvs),
        outputsOf: this.#learner.outputsOf,
      });
      const gain = await this.#fit(comparisons, done, RATE * (1 - done / iterations));
      const { finalScores, beliefMae } = comparisons;
      const means = { finalScore: meanOf(finalScores), beliefMae: meanOf(beliefMae) };
      this.#figures.push({ episodes: first + numEnvs, ...means, gain });
      await onIteration();
    }
  }

  /** Updates the student by the comparisons of an iteration, in several passes. @returns `gain` of `RefinementFigures`. */
  async #fit(comparisons: Comparisons, iteration: number, rate: number): Promise<number> {
    const count = comparisons.inputs.length / FEATURE_COUNT;
    const all = comparisons.allInputs.length / FEATURE_COUNT;
    const rows = createRows(Math.min(ROWS, count));
    const size = rows.targets.length / NUM_BELIEFS;
    const updates = Math.floor(count / size);
    const orderOf = (length: number, key: number) =>
      permutation(length, [this.#request.seed, (key ^ iteration) >>> 0]);
    const beliefOf = orderOf(all, KEYS.beliefs);
    let gain = 0;
    for (let pass = 0; pass < PASSES; pass++) {
      // Each pass has another order. The iteration changes the low bits of the key, the pass its high bits.
      const rowOf = orderOf(count, KEYS.rows ^ (pass << 24));
      for (let k = 0; k < updates; k++) {
        const first = (pass * updates + k) * size;
        fillComparisons(rows, comparisons, (j) => rowOf(k * size + j));
        fillBeliefs(rows, comparisons, (j) => beliefOf((first + j) % all));
        gain += (await this.#learner.update(rows, rate)) / (PASSES * updates);
        await yieldTurn();
      }
    }
    return gain;
  }

  /** Returns a copy of the state after the last iteration. */
  async state(): Promise<RefinementState> {
    return { actor: await this.#learner.state(), figures: [...this.#figures] };
  }

  [Symbol.dispose](): void {
    this.#learner[Symbol.dispose]();
  }
}

const draw: Draw = { x0: 0, x1: 0 };

/** Returns the seeds of noise and events of episodes `first` to `first + count - 1`. @param seed that of the training. */
const noiseSeeds = (seed: number, first: number, count: number): Uint32Array =>
  Uint32Array.from({ length: count }, (_, i) => threefry(seed, KEYS.noise, first + i, 0, draw).x0);

const meanOf = (numbers: Float32Array): number =>
  numbers.reduce((sum, number) => sum + number, 0) / numbers.length;

const createRows = (count: number): RefineRows => ({
  inputs: new Float32Array(count * FEATURE_COUNT),
  compared: new Float32Array(count * NUM_ACTIONS),
  gains: new Float32Array(count * NUM_ACTIONS),
  beliefInputs: new Float32Array(count * FEATURE_COUNT),
  targets: new Float32Array(count * NUM_BELIEFS),
});

/** Fills the comparisons of an update. @param rowOf returns the index in `from` of comparison j of the update. */
function fillComparisons(rows: RefineRows, from: Comparisons, rowOf: (j: number) => number): void {
  for (let j = 0; j < rows.inputs.length / FEATURE_COUNT; j++) {
    const row = rowOf(j);
    copyRow(from.inputs, row, rows.inputs, j, FEATURE_COUNT);
    copyRow(from.compared, row, rows.compared, j, NUM_ACTIONS);
    copyRow(from.gains, row, rows.gains, j, NUM_ACTIONS);
  }
}

/** Fills the belief targets of an update. @param rowOf returns the index in `allInputs` of target j of the update. */
function fillBeliefs(rows: RefineRows, from: Comparisons, rowOf: (j: number) => number): void {
  const episodes = from.finalScores.length;
  for (let j = 0; j < rows.targets.length / NUM_BELIEFS; j++) {
    const row = rowOf(j);
    copyRow(from.allInputs, row, rows.beliefInputs, j, FEATURE_COUNT);
    // `allInputs` has a row for each episode at step 0, then for each at step 1, and so on.
    copyRow(from.targets, row % episodes, rows.targets, j, NUM_BELIEFS);
  }
}

const copyRow = (from: Float32Array, row: number, to: Float32Array, j: number, size: number): void =>
  to.set(from.subarray(row * size, (row + 1) * size), j * size);
