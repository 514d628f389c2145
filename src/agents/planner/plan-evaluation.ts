/** Plays an action sequence with posterior samples and averages the outcomes. */
import type { AnyBatch, OpenBatch } from '../../engine/backends/any-batch.js';
import { NODE } from '../../engine/backends/node.js';
import type { OpenedBatch } from '../../engine/backends/open-batch.js';
import { allocateTrajectory } from '../../engine/backends/outputs.js';
import { type EngineCalls, resultOf } from '../../engine/engine-calls.js';
import { NUM_COMPONENTS, NUM_METERS, NUM_STEPS } from '../../world/fields.js';
import { repeatActions } from '../policies/open-loop.js';
import type { ScorerSettings } from '../search/scorer.js';
import type { EpisodeSums } from './episode-sums.js';
import { ImaginedStarts } from './imagined-starts.js';

/** Means over imagined episodes, each with its own posterior sample, noise and events. */
export interface Outlook {
  /** f64 [28, 5]: the meters after each step; 0 for steps already taken. */
  readonly meters: Float64Array;
  /**
   * f64 [8]: the components of the grade. If the grader has a weight of `belief_skill`, the imagined episodes keep the last
   * stated belief to the end. Else they state none.
   */
  readonly components: Float64Array;
  /** Mean reward of the first half, without the reward's noise. */
  readonly firstHalfMean: number;
  /** Mean reward of the second half, without the reward's noise. */
  readonly secondHalfMean: number;
}

/** Options of a `PlanEvaluation`. */
export interface PlanEvaluationOptions extends Pick<ScorerSettings, 'world' | 'backend' | 'kernel'> {
  /** The number of posterior samples of an episode. */
  readonly samples: number;
  /** u32: draws the seeds of the imagined episodes. */
  readonly seed: number;
  /** f32 [8]: the weights of the grade. */
  readonly grader: Float32Array;
}

/** Plays the action sequences of one episode at a time. */
export class PlanEvaluation implements Disposable {
  readonly #samples: number;
  readonly #starts: ImaginedStarts;
  readonly #opened: OpenedBatch<AnyBatch>;

  private constructor(starts: ImaginedStarts, samples: number, opened: OpenedBatch<AnyBatch>) {
    this.#samples = samples;
    this.#starts = starts;
    this.#opened = opened;
  }

  /** Opens the environments of the imagined episodes. @throws as `createVecEnv`. */
  static *open(options: PlanEvaluationOptions, openBatch: OpenBatch): EngineCalls<PlanEvaluation> {
    const { samples, seed, grader, world } = options;
    const layout = { columnMajor: false, finalObservations: false };
    const shape = { numEnvs: samples, world, imagination: true, threads: 1, layout };
    const starts = new ImaginedStarts(world.params, 1, samples, seed, grader);
    return new PlanEvaluation(starts, samples, yield* resultOf(openBatch(NODE, options, shape)));
  }

  /** Returns the mean outcome of an action sequence, u8 [28]. Other arguments are as in `ImaginedStarts.write`. */
  *play(
    sequence: Uint8Array,
    step: number,
    episode: number,
    sums: EpisodeSums,
    profiles: Float32Array,
  ): EngineCalls<Outlook> {
    const { batch, outputs } = this.#opened;
    this.#starts.write(step, [episode], sums, profiles);
    batch.reset(this.#starts.reset);
    const trajectory = allocateTrajectory(this.#samples);
    const actions = repeatActions(sequence, this.#samples);
    const policy = { kind: 'sequence', actions } as const;
    yield* resultOf(batch.run({ policy, beliefs: null, stops: null, trajectory }));
    yield* resultOf(batch.read(['components', 'firstHalfMeans', 'secondHalfMeans']));
    const { components, firstHalfMeans, secondHalfMeans } = outputs;
    return {
      meters: meanRows(trajectory.meters, NUM_STEPS * NUM_METERS),
      components: meanRows(components, NUM_COMPONENTS),
      firstHalfMean: meanRows(firstHalfMeans, 1)[0],
      secondHalfMean: meanRows(secondHalfMeans, 1)[0],
    };
  }

  [Symbol.dispose](): void {
    this.#opened.batch.close();
  }
}

/** Returns the mean row, f64 [width]. */
function meanRows(rows: Float32Array, width: number): Float64Array {
  const mean = new Float64Array(width);
  for (let k = 0; k < rows.length; k++) mean[k % width] += rows[k];
  const count = rows.length / width;
  return mean.map((sum) => sum / count);
}
