/** Splits labelled episodes, fills the rows of updates from them, and measures a network on them. */
import { FEATURE_COUNT } from '../../agents/student/features.js';
import { type Network, OUTPUT, OUTPUT_COUNT } from '../../agents/student/network.js';
import { highestLogit, statedBelief } from '../../agents/student/student.js';
import { NUM_ACTIONS, NUM_BELIEFS, NUM_STEPS } from '../../world/fields.js';
import type { EpochFigures } from './checkpoint.js';
import type { Labelled, Samples } from './episodes.js';
import { HELD_OUT_EVERY } from './train-options.js';

/** Returns the episodes to train on, and those that are held out. */
export function split(episodes: Labelled): [Labelled, Labelled] {
  const indices = Array.from(episodes.seeds.keys());
  const isHeldOut = (i: number): boolean => i % HELD_OUT_EVERY === HELD_OUT_EVERY - 1;
  const pick = (kept: readonly number[]): Labelled => ({
    seeds: Uint32Array.from(kept, (i) => episodes.seeds[i]),
    actions: rowsOf(episodes.actions, kept),
    labels: rowsOf(episodes.labels, kept),
  });
  return [pick(indices.filter((i) => !isHeldOut(i))), pick(indices.filter(isHeldOut))];
}

/** Returns the rows of a table, u8 [n, 28], at some indices. */
function rowsOf(table: Uint8Array, indices: readonly number[]): Uint8Array {
  const picked = new Uint8Array(indices.length * NUM_STEPS);
  for (const [k, row] of indices.entries()) {
    picked.set(table.subarray(row * NUM_STEPS, (row + 1) * NUM_STEPS), k * NUM_STEPS);
  }
  return picked;
}

/** Returns arrays for `count` rows of an update (see `Rows` in learner.ts). Labels are one-hot. */
export const createRows = (count: number) => ({
  inputs: new Float32Array(count * FEATURE_COUNT),
  labels: new Float32Array(count * NUM_ACTIONS),
  beliefInputs: new Float32Array(count * FEATURE_COUNT),
  targets: new Float32Array(count * NUM_BELIEFS),
});

/** The episodes of an epoch, and the order in which its updates use their rows. A row is a step of an episode. */
export interface RowSource {
  /** u8 [n, 28]: the actions to imitate. */
  readonly labels: Uint8Array;
  /** The inputs and belief targets of the labelled episodes. */
  readonly samples: Samples;
  /** Returns the row of `samples` that is used at a position of the order. */
  readonly rowOf: (position: number) => number;
  /** The inputs and belief targets of the episodes on which the beliefs are trained: the same actions under other seeds. */
  readonly fresh: Samples;
  /** Returns the row of `fresh` that is used at a position of the order. */
  readonly freshRowOf: (position: number) => number;
}

/** Fills the rows of update k of an epoch. */
export function fillRows(rows: ReturnType<typeof createRows>, k: number, source: RowSource): void {
  const { labels, samples, rowOf, fresh, freshRowOf } = source;
  const count = rows.labels.length / NUM_ACTIONS;
  rows.labels.fill(0);
  for (let j = 0; j < count; j++) {
    const [row, freshRow] = [rowOf(k * count + j), freshRowOf(k * count + j)];
    copyInputs(samples.inputs, row, rows.inputs, j);
    rows.labels[j * NUM_ACTIONS + labels[row]] = 1;
    copyInputs(fresh.inputs, freshRow, rows.beliefInputs, j);
    const target = Math.floor(freshRow / NUM_STEPS) * NUM_BELIEFS;
    rows.targets.set(fresh.targets.subarray(target, target + NUM_BELIEFS), j * NUM_BELIEFS);
  }
}

/** Copies the inputs of row `row` of `from` to row j of `to`. */
export const copyInputs = (from: Float32Array, row: number, to: Float32Array, j: number): void =>
  to.set(from.subarray(row * FEATURE_COUNT, (row + 1) * FEATURE_COUNT), j * FEATURE_COUNT);

/** Returns a network's agreement with labels at all steps, and the error of its beliefs at each episode's last step. */
export function figuresOf(
  network: Network,
  { inputs, targets }: Samples,
  labels: Uint8Array,
): Pick<EpochFigures, 'agreement' | 'beliefMae'> {
  let [agreed, error] = [0, 0];
  const allOutputs = network.forward(inputs);
  for (let row = 0; row < labels.length; row++) {
    const outputs = allOutputs.subarray(row * OUTPUT_COUNT, (row + 1) * OUTPUT_COUNT);
    if (highestLogit(outputs) === labels[row]) agreed++;
    if (row % NUM_STEPS !== NUM_STEPS - 1) continue;
    const target = Math.floor(row / NUM_STEPS) * NUM_BELIEFS;
    for (let k = 0; k < NUM_BELIEFS; k++) {
      error += Math.abs(statedBelief(outputs[OUTPUT.means + k]) - targets[target + k]) / targets.length;
    }
  }
  return { agreement: agreed / labels.length, beliefMae: error };
}
