/** A tape played through in mind, step by step, with everybody whom the person might be: what is to be expected of it. */
import type { Batch, Outputs } from '../../backends/backend.js';
import { NODE } from '../../backends/node.js';
import { openBatch } from '../../backends/open.js';
import { allocateTrajectory } from '../../backends/outputs.js';
import type { Stage } from '../../search/scorer.js';
import { NUM_COMPONENTS, NUM_METERS, NUM_STEPS } from '../../world/fields.js';
import { repeatTape } from '../tapes.js';
import { Starts } from './starts.js';
import type { Tracks } from './tracks.js';

/** Means over those persons and their luck. */
export interface Outlook {
  /** f64 [28, 5]: the meters after each step; those of steps already taken are 0. */
  readonly meters: Float64Array;
  /** f64 [6]: the grade's components, the belief's accuracy left out: 0. */
  readonly components: Float64Array;
  /** Mean reward of each half, without luck. */
  readonly earlyMean: number;
  readonly lateMean: number;
}

export interface RehearsalOptions extends Pick<Stage, 'world' | 'backend' | 'kernel'> {
  readonly people: number;
  readonly seed: number;
  /** f32 [6]. */
  readonly grader: Float32Array;
}

export class Rehearsal implements Disposable {
  readonly #people: number;
  readonly #starts: Starts;
  readonly #batch: Batch;
  readonly #outputs: Outputs;

  constructor(options: RehearsalOptions) {
    const { people, seed, grader, world } = options;
    const layout = { columnMajor: false, finalObservations: false };
    const shape = { numEnvs: people, world, imagination: true, threads: 1, layout };
    const { batch, outputs } = openBatch(NODE, options, shape);
    this.#people = people;
    this.#starts = new Starts(1, people, seed, grader);
    this.#batch = batch;
    this.#outputs = outputs;
  }

  /** @param tape u8 [28]. Other arguments as of `Starts.write`. */
  play(tape: Uint8Array, step: number, episode: number, tracks: Tracks, people: Float32Array): Outlook {
    this.#starts.write(step, [episode], tracks, people);
    this.#batch.reset(this.#starts.reset);
    const trajectory = allocateTrajectory(this.#people);
    const actions = repeatTape(tape, this.#people);
    this.#batch.run({ policy: { kind: 'tape', actions }, beliefs: null, stops: null, trajectory });
    this.#batch.read();
    const { components, earlyMeans, lateMeans } = this.#outputs;
    return {
      meters: meanRows(trajectory.meters, NUM_STEPS * NUM_METERS),
      components: meanRows(components, NUM_COMPONENTS),
      earlyMean: meanRows(earlyMeans, 1)[0],
      lateMean: meanRows(lateMeans, 1)[0],
    };
  }

  [Symbol.dispose](): void {
    this.#batch.close();
  }
}

/** f64 [width]: the mean of rows of so many numbers. */
function meanRows(rows: Float32Array, width: number): Float64Array {
  const mean = new Float64Array(width);
  for (let k = 0; k < rows.length; k++) mean[k % width] += rows[k];
  const count = rows.length / width;
  return mean.map((sum) => sum / count);
}
