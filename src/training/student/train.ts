/** Trains a student: it imitates a teacher that sees observations only, and learns the true belief targets. */
import seedrandom from 'seedrandom';
import { FEATURE_COUNT } from '../../agents/student/features.js';
import { Network, OUTPUT } from '../../agents/student/network.js';
import { highestLogit, statedBelief } from '../../agents/student/student.js';
import { yieldTurn } from '../../engine/vec-env/yield-turn.js';
import { NUM_ACTIONS, NUM_BELIEFS, NUM_STEPS } from '../../world/fields.js';
import { createWorld, type World } from '../../world/world.js';
import { permutation } from '../datasets/permutation.js';
import type { Checkpoint, EpochFigures } from './checkpoint.js';
import {
  joined,
  type Labelled,
  type LabelOptions,
  labelEpisodes,
  NO_EPISODES,
  partOf,
  type Samples,
  samplesOf,
} from './episodes.js';
import { initialState, Learner } from './learner.js';
import { HELD_OUT_EVERY, type TrainRequest } from './train-options.js';

/** The sizes of the hidden layers. */
const HIDDEN = [96, 96];
/** Rows of an update, of actions and of beliefs each. */
const ROWS = 512;
/** The learning rate of the first update of a round. It falls linearly to 0 over the round. */
const RATE = 3e-3;
/** Episodes that are labelled together, between two checkpoints. */
const CHUNK = 64;
/** The second words of the keys of permutations. */
const KEYS = { seeds: 0x53454544, rows: 0x524f5753, fresh: 0x46524553 };

/** How far a training is. */
export interface TrainProgress {
  /** What is done now, such as "the teacher plays". */
  readonly stage: string;
  /** Steps of work done and in all: an episode to label counts as many as its epochs will cost. */
  readonly done: number;
  readonly total: number;
  readonly figures: EpochFigures | null;
}

export interface TrainHooks {
  readonly engine: LabelOptions['engine'];
  readonly signal: AbortSignal;
  /** Called with the state after each chunk of episodes and each epoch. */
  readonly onCheckpoint: (state: Checkpoint) => Promise<void>;
  readonly onProgress: (progress: TrainProgress) => void;
}

/** A finished training. */
export interface Trained {
  readonly network: Network;
  readonly figures: readonly EpochFigures[];
  readonly world: World;
}

/**
 * Trains a student. The request determines its bits on one machine; the hooks and threads change nothing.
 * @param from continues from this state; null begins anew. @throws the signal's reason; the errors of the engine.
 */
export async function trainStudent(
  request: TrainRequest,
  from: Checkpoint | null,
  hooks: TrainHooks,
): Promise<Trained> {
  using training = new Training(request, from, hooks);
  for (let round = 0; round <= request.rounds; round++) {
    await training.label(round);
    await training.fit(round);
  }
  return training.result();
}

class Training {
  readonly #request: TrainRequest;
  readonly #hooks: TrainHooks;
  readonly #world = createWorld();
  readonly #learner: Learner;
  readonly #figures: EpochFigures[];
  #episodes: Labelled;

  constructor(request: TrainRequest, from: Checkpoint | null, hooks: TrainHooks) {
    this.#request = request;
    this.#hooks = hooks;
    this.#figures = [...(from?.figures ?? [])];
    this.#episodes = from?.episodes ?? NO_EPISODES;
    this.#learner = new Learner(
      from?.learner ?? initialState(seedrandom.alea(`student ${request.seed}`), HIDDEN),
    );
  }

  /** Labels the episodes of a round: the teacher plays those of round 0, the student the others. */
  async label(round: number): Promise<void> {
    const { teacher, grader } = this.#request;
    const wanted = this.#episodesAfter(round);
    const student = round === 0 ? null : this.#network();
    while (this.#episodes.seeds.length < wanted) {
      const done = this.#episodes.seeds.length;
      const seeds = this.#seeds(done, Math.min(CHUNK, wanted - done), KEYS.seeds);
      const options = { teacher, student, grader, engine: this.#hooks.engine };
      this.#episodes = joined(this.#episodes, await labelEpisodes(seeds, options));
      await this.#finishPart(
        round === 0 ? `${teacher.name} plays` : `round ${round}: ${teacher.name} labels`,
      );
    }
  }

  /** Trains for the epochs of a round. */
  async fit(round: number): Promise<void> {
    const { epochs } = this.#request;
    const first = this.#figures.length - round * epochs;
    if (first >= epochs) return;
    const episodes = partOf(this.#episodes, 0, this.#episodesAfter(round));
    const [trained, heldOut] = split(episodes);
    const samples = await samplesOf(trained, this.#world, this.#hooks.engine);
    const test = await samplesOf(heldOut, this.#world, this.#hooks.engine);
    for (let epoch = first; epoch < epochs; epoch++) {
      const losses = await this.#fitEpoch(round, epoch, trained, samples);
      this.#figures.push({ round, epoch, ...losses, ...figuresOf(this.#network(), test, heldOut.labels) });
      await this.#finishPart(round === 0 ? 'cloning' : `round ${round}: training`);
    }
  }

  async #fitEpoch(
    round: number,
    epoch: number,
    episodes: Labelled,
    samples: Samples,
  ): Promise<Pick<EpochFigures, 'actionLoss' | 'beliefLoss'>> {
    const { epochs, seed } = this.#request;
    const number = round * epochs + epoch;
    const count = episodes.seeds.length;
    const played = { actions: episodes.actions, seeds: this.#seeds(number * count, count, KEYS.fresh) };
    const fresh = await samplesOf(played, this.#world, this.#hooks.engine);
    const [rowOf, freshRowOf] = [KEYS.rows, KEYS.fresh].map((key) =>
      permutation(count * NUM_STEPS, [seed, (key ^ number) >>> 0]),
    );
    const updates = Math.max(1, Math.floor((count * NUM_STEPS) / ROWS));
    const [sums, rows] = [{ actions: 0, beliefs: 0 }, createRows(Math.min(ROWS, count * NUM_STEPS))];
    for (let k = 0; k < updates; k++) {
      fillRows(rows, k, { labels: episodes.labels, samples, rowOf, fresh, freshRowOf });
      const rate = RATE * (1 - (epoch + k / updates) / epochs);
      const losses = this.#learner.update(rows, rate);
      sums.actions += losses.actions / updates;
      sums.beliefs += losses.beliefs / updates;
      if (k % YIELD_EVERY === 0) await this.#yield();
    }
    return { actionLoss: sums.actions, beliefLoss: sums.beliefs };
  }

  /** Returns seeds of the range, the next ones of an order that the training's seed chooses. */
  #seeds(first: number, count: number, key: number): Uint32Array {
    const { seed, seeds } = this.#request;
    const size = seeds.last - seeds.first + 1;
    return Uint32Array.from({ length: count }, (_, k) => {
      const at = first + k;
      // Each pass over the range has an order of its own.
      const order = permutation(size, [seed, (key + Math.floor(at / size)) >>> 0]);
      return seeds.first + order(at % size);
    });
  }

  #episodesAfter(round: number): number {
    return this.#request.episodes + round * this.#request.roundEpisodes;
  }

  #network = (): Network => new Network(this.#learner.state().layers);

  async #finishPart(stage: string): Promise<void> {
    const { rounds, epochs } = this.#request;
    const state = { figures: [...this.#figures], episodes: this.#episodes, learner: this.#learner.state() };
    await this.#hooks.onCheckpoint(state);
    const total = (rounds + 1) * epochs + this.#episodesAfter(rounds) / EPISODES_PER_EPOCH;
    const done = this.#figures.length + this.#episodes.seeds.length / EPISODES_PER_EPOCH;
    const percent = (part: number): number => Math.round((100 * part) / total);
    this.#hooks.onProgress({ stage, done: percent(done), total: 100, figures: this.#figures.at(-1) ?? null });
    await this.#yield();
  }

  async #yield(): Promise<void> {
    await yieldTurn();
    this.#hooks.signal.throwIfAborted();
  }

  result(): Trained {
    return { network: this.#network(), figures: this.#figures, world: this.#world };
  }

  [Symbol.dispose](): void {
    this.#learner[Symbol.dispose]();
  }
}

/** Updates between two turns of the event loop. */
const YIELD_EVERY = 8;
/** The episodes that take the planner about as long as an epoch takes the learner. */
const EPISODES_PER_EPOCH = 20;

/** Returns the episodes to train on, and those that are held out. */
function split(episodes: Labelled): [Labelled, Labelled] {
  const indices = Array.from(episodes.seeds.keys());
  const isHeldOut = (i: number): boolean => i % HELD_OUT_EVERY === HELD_OUT_EVERY - 1;
  const pick = (kept: readonly number[]): Labelled => ({
    seeds: Uint32Array.from(kept, (i) => episodes.seeds[i]),
    actions: rowsOf(episodes.actions, kept),
    labels: rowsOf(episodes.labels, kept),
  });
  return [pick(indices.filter((i) => !isHeldOut(i))), pick(indices.filter(isHeldOut))];
}

function rowsOf(table: Uint8Array, rows: readonly number[]): Uint8Array {
  const picked = new Uint8Array(rows.length * NUM_STEPS);
  for (const [k, row] of rows.entries()) {
    picked.set(table.subarray(row * NUM_STEPS, (row + 1) * NUM_STEPS), k * NUM_STEPS);
  }
  return picked;
}

const createRows = (count: number) => ({
  inputs: new Float32Array(count * FEATURE_COUNT),
  labels: new Float32Array(count * NUM_ACTIONS),
  beliefInputs: new Float32Array(count * FEATURE_COUNT),
  targets: new Float32Array(count * NUM_BELIEFS),
});

interface RowSource {
  readonly labels: Uint8Array;
  readonly samples: Samples;
  readonly rowOf: (index: number) => number;
  readonly fresh: Samples;
  readonly freshRowOf: (index: number) => number;
}

/** Fills the rows of update k of an epoch. */
function fillRows(rows: ReturnType<typeof createRows>, k: number, source: RowSource): void {
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

const copyInputs = (from: Float32Array, row: number, to: Float32Array, j: number): void =>
  to.set(from.subarray(row * FEATURE_COUNT, (row + 1) * FEATURE_COUNT), j * FEATURE_COUNT);

/** Returns the agreement and belief error of a network in episodes. */
function figuresOf(
  network: Network,
  { inputs, targets }: Samples,
  labels: Uint8Array,
): Pick<EpochFigures, 'agreement' | 'beliefMae'> {
  let [agreed, error] = [0, 0];
  for (let row = 0; row < labels.length; row++) {
    const outputs = network.forward(inputs.subarray(row * FEATURE_COUNT, (row + 1) * FEATURE_COUNT));
    if (highestLogit(outputs) === labels[row]) agreed++;
    if (row % NUM_STEPS !== NUM_STEPS - 1) continue;
    const target = Math.floor(row / NUM_STEPS) * NUM_BELIEFS;
    for (let k = 0; k < NUM_BELIEFS; k++) {
      error += Math.abs(statedBelief(outputs[OUTPUT.means + k]) - targets[target + k]) / targets.length;
    }
  }
  return { agreement: agreed / labels.length, beliefMae: error };
}
