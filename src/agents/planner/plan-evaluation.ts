/** Plays an action sequence with posterior samples and averages the outcomes. */
import type { Batch, Outputs } from '../../engine/backends/backend.js';
import { NODE } from '../../engine/backends/node.js';
import { openBatch } from '../../engine/backends/open-batch.js';
import { allocateTrajectory } from '../../engine/backends/outputs.js';
import { NUM_COMPONENTS, NUM_METERS, NUM_STEPS } from '../../world/fields.js';
import { repeatActions } from '../policies/open-loop.js';
import type { ScorerSettings } from '../search/scorer.js';
import type { EpisodeNotes } from './episode-notes.js';
import { ImaginedStarts } from './imagined-starts.js';

/** Means over imagined episodes, each with a sampled profile and draws of its own. */
export interface Outlook {
  /** f64 [28, 5]: the meters after each step; 0 for steps already taken. */
  readonly meters: Float64Array;
  /** f64 [6]: the components of the grade; 0 for belief accuracy. */
  readonly components: Float64Array;
  /** Mean reward of the first half, without the reward's noise. */
  readonly firstHalfMean: number;
  /** Mean reward of the second half, without the reward's noise. */
  readonly secondHalfMean: number;
}

export interface PlanEvaluationOptions extends Pick<ScorerSettings, 'world' | 'backend' | 'kernel'> {
  readonly samples: number;
  readonly seed: number;
  /** f32 [6]. */
  readonly grader: Float32Array;
}

export class PlanEvaluation implements Disposable {
  readonly #samples: number;
  readonly #starts: ImaginedStarts;
  readonly #batch: Batch;
  readonly #outputs: Outputs;

  constructor(options: PlanEvaluationOptions) {
    const { samples, seed, grader, world } = options;
    const layout = { columnMajor: false, finalObservations: false };
    const shape = { numEnvs: samples, world, imagination: true, threads: 1, layout };
    const { batch, outputs } = openBatch(NODE, options, shape);
    this.#samples = samples;
    this.#starts = new ImaginedStarts(1, samples, seed, grader);
    this.#batch = batch;
    this.#outputs = outputs;
  }

  /** Returns the mean outcome of an action sequence, u8 [28]. Other arguments are as in `ImaginedStarts.write`. */
  play(
    sequence: Uint8Array,
    step: number,
    episode: number,
    notes: EpisodeNotes,
    profiles: Float32Array,
  ): Outlook {
    this.#starts.write(step, [episode], notes, profiles);
    this.#batch.reset(this.#starts.reset);
    const trajectory = allocateTrajectory(this.#samples);
    const actions = repeatActions(sequence, this.#samples);
    this.#batch.run({ policy: { kind: 'sequence', actions }, beliefs: null, stops: null, trajectory });
    this.#batch.read();
    const { components, firstHalfMeans, secondHalfMeans } = this.#outputs;
    return {
      meters: meanRows(trajectory.meters, NUM_STEPS * NUM_METERS),
      components: meanRows(components, NUM_COMPONENTS),
      firstHalfMean: meanRows(firstHalfMeans, 1)[0],
      secondHalfMean: meanRows(secondHalfMeans, 1)[0],
    };
  }

  [Symbol.dispose](): void {
    this.#batch.close();
  }
}

/** Returns the mean row, f64 [width]. */
function meanRows(rows: Float32Array, width: number): Float64Array {
  const mean = new Float64Array(width);
  for (let k = 0; k < rows.length; k++) mean[k % width] += rows[k];
  const count = rows.length / width;
  return mean.map((sum) => sum / count);
}
