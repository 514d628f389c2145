/** The episodes that a student learns from: played by the teacher or the student, labelled by the teacher. */
import type { SteppedPlayer, SteppedPolicy } from '../../agents/policies/stepped-policies.js';
import { FEATURE_COUNT, Features, type Network, OUTPUT, OUTPUT_COUNT } from '../../agents/student/network.js';
import { highestLogit, StudentPlayer, statedBelief } from '../../agents/student/student-player.js';
import { NODE } from '../../engine/backends/node.js';
import { yieldTurn } from '../../engine/engine-calls.js';
import type { Grader } from '../../engine/graders/grader.js';
import { beliefTarget, sampleProfile } from '../../engine/reference/profile.js';
import { openEnvOn } from '../../engine/vec-env/async-vec-env.js';
import type { EngineOptions } from '../../engine/vec-env/vec-env-options.js';
import type { SeedRange } from '../../world/conditions.js';
import { NUM_ACTIONS, NUM_BELIEFS, NUM_STEPS, PROFILE_SIZE } from '../../world/fields.js';
import type { World } from '../../world/world.js';
import { permutation } from '../permutation.js';

/**
 * One in this many labelled episodes is held out of the training. So the training needs at least this many. Chosen by hand: a
 * smaller number leaves fewer episodes to learn from.
 */
export const HELD_OUT_EVERY = 20;

/** Whole episodes of sampled profiles. */
export interface Played {
  /** u32 [n]. */
  readonly seeds: Uint32Array;
  /** u8 [n, 28]: the actions that were played. */
  readonly actions: Uint8Array;
}

/** Episodes with the teacher's action at each step. */
export interface Labelled extends Played {
  /** u8 [n, 28]: the actions that the teacher chooses after the same observations. */
  readonly labels: Uint8Array;
}

export const NO_EPISODES: Labelled = {
  seeds: new Uint32Array(),
  actions: new Uint8Array(),
  labels: new Uint8Array(),
};

/** Returns the episodes of two sets, in order. */
export const joined = (one: Labelled, other: Labelled): Labelled => ({
  seeds: Uint32Array.from([...one.seeds, ...other.seeds]),
  actions: Uint8Array.from([...one.actions, ...other.actions]),
  labels: Uint8Array.from([...one.labels, ...other.labels]),
});

/** Returns `count` episodes, from the episode at index `first` on. */
export const partOf = ({ seeds, actions, labels }: Labelled, first: number, count: number): Labelled => ({
  seeds: seeds.slice(first, first + count),
  actions: actions.slice(first * NUM_STEPS, (first + count) * NUM_STEPS),
  labels: labels.slice(first * NUM_STEPS, (first + count) * NUM_STEPS),
});

export interface LabelOptions {
  readonly teacher: SteppedPolicy<SteppedPlayer>;
  /** The network that plays the episodes; null if the teacher plays them. */
  readonly student: Network | null;
  readonly grader: Grader;
  readonly engine: EngineOptions;
  /** Ends the work: its reason is thrown between two steps. */
  readonly signal: AbortSignal;
}

/**
 * Returns `count` seeds of the training's range in a shuffled order, from index `first` of this order on. No seed is repeated
 * before all were used. @param key u32: with the training's seed, it chooses the order. All rounds of a training share a key.
 */
export function seedsOf(
  { seed, seeds }: { readonly seed: number; readonly seeds: SeedRange },
  { first, count, key }: { first: number; count: number; key: number },
): Uint32Array {
  const size = seeds.last - seeds.first + 1;
  return Uint32Array.from({ length: count }, (_, k) => {
    const at = first + k;
    // Each pass over the range has another order.
    const order = permutation(size, [seed, (key + Math.floor(at / size)) >>> 0]);
    return seeds.first + order(at % size);
  });
}

/** Plays an episode of each seed, and records the teacher's choice at each step. @param seeds u32 [n]. */
export async function labelEpisodes(seeds: Uint32Array, options: LabelOptions): Promise<Labelled> {
  const { teacher, student, grader, engine, signal } = options;
  const numEnvs = seeds.length;
  await using env = await openEnvOn(NODE, { ...engine, numEnvs });
  const setting = { ...engine, numEnvs, grader, world: env.world };
  using labeller: SteppedPlayer = await teacher.open(setting);
  const player = student && new StudentPlayer(student, new Features(env.world.words, numEnvs), numEnvs);
  const playing = new Uint8Array(numEnvs).fill(1);
  await labeller.reset({ mask: playing.slice(), seeds: seeds.slice(), profiles: refuseProfiles });
  const [actions, labels] = [new Uint8Array(numEnvs * NUM_STEPS), new Uint8Array(numEnvs * NUM_STEPS)];
  let { observations } = await env.reset({ seed: seeds });
  for (let step = 0; step < NUM_STEPS; step++) {
    const view = { observations, playing, steps: new Uint8Array(numEnvs).fill(step) };
    const wanted = (await labeller.act(view)).actions;
    const chosen = player === null ? wanted : player.act(view).actions;
    for (let i = 0; i < numEnvs; i++) {
      actions[i * NUM_STEPS + step] = chosen[i];
      labels[i * NUM_STEPS + step] = wanted[i];
    }
    ({ observations } = await env.step(chosen));
    await yieldTurn();
    signal.throwIfAborted();
  }
  return { seeds, actions, labels };
}

/** Only a teacher that uses hidden profiles calls this function. `toTrainRequest` refuses such teachers. */
function refuseProfiles(): never {
  throw new Error('Expected a teacher that does not use hidden profiles.');
}

/** The inputs and belief targets of episodes. */
export interface Samples {
  /** f32 [n * 28, FEATURE_COUNT]: the student's inputs before each step. */
  readonly inputs: Float32Array;
  /** f32 [n, 3]: the true belief targets of each episode. */
  readonly targets: Float32Array;
}

/** Replays episodes and returns their samples. */
export async function samplesOf(
  { seeds, actions }: Played,
  world: World,
  engine: LabelOptions['engine'],
): Promise<Samples> {
  const numEnvs = seeds.length;
  await using env = await openEnvOn(NODE, { ...engine, numEnvs });
  const features = new Features(world.words, numEnvs);
  const [seen, inputs] = [numEnvs, numEnvs * NUM_STEPS].map((n) => new Float32Array(n * FEATURE_COUNT));
  let { observations } = await env.reset({ seed: seeds });
  for (let step = 0; step < NUM_STEPS; step++) {
    features.observe(observations, seen);
    for (let i = 0; i < numEnvs; i++) {
      const row = seen.subarray(i * FEATURE_COUNT, (i + 1) * FEATURE_COUNT);
      inputs.set(row, (i * NUM_STEPS + step) * FEATURE_COUNT);
    }
    ({ observations } = await env.step(Uint8Array.from(seeds, (_, i) => actions[i * NUM_STEPS + step])));
  }
  return { inputs, targets: targetsOf(seeds, world) };
}

/** Returns the belief targets of seeds, f32 [n, 3]. */
function targetsOf(seeds: Uint32Array, { params }: World): Float32Array {
  const profile = new Float32Array(PROFILE_SIZE);
  const targets = new Float32Array(seeds.length * NUM_BELIEFS);
  for (const [i, seed] of seeds.entries()) {
    sampleProfile(params, seed, profile);
    beliefTarget(params, profile, targets.subarray(i * NUM_BELIEFS, (i + 1) * NUM_BELIEFS));
  }
  return targets;
}

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
interface RowSource {
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
const copyInputs = (from: Float32Array, row: number, to: Float32Array, j: number): void =>
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

/** Figures of the student after an epoch. */
export interface EpochFigures {
  /**
   * 0 while the student clones the teacher's episodes, then the number of the round of DAgger: in each round, the student plays
   * and the teacher labels the states that it reaches.
   */
  readonly round: number;
  /** The epoch of the round, from 0. */
  readonly epoch: number;
  /** Mean losses over the epoch's updates. */
  readonly actionLoss: number;
  readonly beliefLoss: number;
  /** In held-out episodes: the share of steps at which the student chooses the teacher's action. */
  readonly agreement: number;
  /** In held-out episodes: the mean absolute error of the last belief. */
  readonly beliefMae: number;
}
