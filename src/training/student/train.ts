/**
 * Trains a student: clones a teacher that sees observations only, fits beliefs to true targets, and may `refine` the student.
 */
import seedrandom from 'seedrandom';
import { Network } from '../../agents/student/network.js';
import { yieldTurn } from '../../engine/engine-calls.js';
import { NUM_STEPS } from '../../world/fields.js';
import { createWorld, type World } from '../../world/world.js';
import { permutation } from '../permutation.js';
import type { Checkpoint, ModelState, RefinementFigures, RefinementState } from './checkpoint.js';
import {
  createRows,
  type EpochFigures,
  figuresOf,
  fillRows,
  joined,
  type Labelled,
  type LabelOptions,
  labelEpisodes,
  NO_EPISODES,
  partOf,
  type Samples,
  samplesOf,
  seedsOf,
  split,
} from './episodes.js';
import { initialStudent, Learner } from './learner.js';
import { stateOf } from './model.js';
import { Refinement } from './refinement.js';
import type { TrainRequest } from './train-options.js';

/** The sizes of the hidden layers. Chosen by hand, as ROWS, RATE, CHUNK and YIELD_EVERY. */
const HIDDEN = [96, 96];
/** The maximum number of labelled actions of an update, and of its belief targets. */
const ROWS = 512;
/** The learning rate of the first update of a round (EpochFigures in checkpoint.ts). It falls linearly to 0 over the round. */
const RATE = 3e-3;
/** The maximum number of episodes that are labelled together, between two checkpoints. */
const CHUNK = 64;
/**
 * The second words of the keys of permutations: four letters each, in ASCII. The first word is the training's seed. `fresh` is
 * for the episodes from which the student learns beliefs.
 */
const KEYS = { seeds: 0x53454544, rows: 0x524f5753, fresh: 0x46524553 };

/** The progress of a training. */
export interface TrainProgress {
  /** What was done last, such as "planner plays". */
  readonly stage: string;
  /** The finished part of the work, in percent; `total` is 100. */
  readonly done: number;
  readonly total: number;
  /** The last figure, as text, such as "agreement 0.713" (EpochFigures in checkpoint.ts); null before the first. */
  readonly note: string | null;
}

/** The engine, the signal and the callbacks of a training. They do not change the student. */
export interface TrainHooks {
  readonly engine: LabelOptions['engine'];
  readonly signal: AbortSignal;
  /** Called with the state after each chunk of labelled episodes, epoch of cloning and batch of the refinement. */
  readonly onCheckpoint: (state: Checkpoint) => Promise<void>;
  readonly onProgress: (progress: TrainProgress) => void;
}

/** A finished training. */
export interface Trained {
  readonly network: Network;
  /** An entry for each epoch of cloning, over all rounds. */
  readonly figures: readonly EpochFigures[];
  /** An entry for each batch of the refinement. */
  readonly refinement: readonly RefinementFigures[];
  readonly world: World;
}

/**
 * Trains a student. On one machine the request determines the student's bits.
 * @param from the state to continue from; null begins a new training.
 */
export async function runTraining(
  request: TrainRequest,
  from: Checkpoint | null,
  hooks: TrainHooks,
): Promise<Trained> {
  using training = new Training(request, from, hooks);
  if (request.from === null) {
    for (let round = 0; round <= request.rounds; round++) {
      await training.label(round);
      await training.fit(round);
    }
  }
  if (request.refineEpisodes > 0) await training.refine();
  // The result is read before the learner's arrays are freed.
  return await training.result();
}

/** A training in progress: its labelled episodes, the clone, and the refinement. */
class Training {
  readonly #request: TrainRequest;
  readonly #hooks: TrainHooks;
  readonly #world = createWorld();
  readonly #learner: Learner;
  readonly #figures: EpochFigures[];
  #episodes: Labelled;
  #refinement: RefinementState | null;

  constructor(request: TrainRequest, from: Checkpoint | null, hooks: TrainHooks) {
    this.#request = request;
    this.#hooks = hooks;
    this.#figures = [...(from?.figures ?? [])];
    this.#episodes = from?.episodes ?? NO_EPISODES;
    this.#refinement = from?.refinement ?? null;
    this.#learner = new Learner(from?.learner ?? initialStateOf(request));
  }

  /**
   * Labels the episodes of a round. The teacher plays the episodes of round 0, unless stored episodes replace them; the student
   * plays all others.
   */
  async label(round: number): Promise<void> {
    const { teacher, grader, stored } = this.#request;
    if (stored !== null && this.#episodes.seeds.length === 0) {
      // Stored episodes are labelled with their own actions.
      this.#episodes = { ...stored, labels: stored.actions };
      await this.#finishPart('stored episodes');
    }
    const wanted = this.#episodesAfter(round);
    const student = round === 0 ? null : await this.#network();
    while (this.#episodes.seeds.length < wanted) {
      const done = this.#episodes.seeds.length;
      const seeds = this.#seeds(done, Math.min(CHUNK, wanted - done), KEYS.seeds);
      const { engine, signal } = this.#hooks;
      const options = { teacher, student, grader, engine, signal };
      this.#episodes = joined(this.#episodes, await labelEpisodes(seeds, options));
      await this.#finishPart(
        round === 0 ? `${teacher.name} plays` : `round ${round}: ${teacher.name} labels`,
      );
    }
  }

  /** Trains for the epochs of a round that are not finished. */
  async fit(round: number): Promise<void> {
    const { epochs } = this.#request;
    const epochsDone = this.#figures.length - round * epochs;
    if (epochsDone >= epochs) return;
    const episodes = partOf(this.#episodes, 0, this.#episodesAfter(round));
    const [trained, heldOut] = split(episodes);
    const samples = await samplesOf(trained, this.#world, this.#hooks.engine);
    const heldOutSamples = await samplesOf(heldOut, this.#world, this.#hooks.engine);
    for (let epoch = epochsDone; epoch < epochs; epoch++) {
      const losses = await this.#fitEpoch(round, epoch, trained, samples);
      this.#figures.push({
        round,
        epoch,
        ...losses,
        ...(await this.#figuresIn(heldOutSamples, heldOut.labels)),
      });
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
    const epochNumber = round * epochs + epoch;
    const count = episodes.seeds.length;
    // Plays the same actions under new seeds, so with other profiles. The belief outputs learn from these episodes.
    const played = { actions: episodes.actions, seeds: this.#seeds(epochNumber * count, count, KEYS.fresh) };
    const fresh = await samplesOf(played, this.#world, this.#hooks.engine);
    const [rowOf, freshRowOf] = [KEYS.rows, KEYS.fresh].map((key) =>
      permutation(count * NUM_STEPS, [seed, (key ^ epochNumber) >>> 0]),
    );
    const updates = Math.max(1, Math.floor((count * NUM_STEPS) / ROWS));
    const [sums, rows] = [{ actions: 0, beliefs: 0 }, createRows(Math.min(ROWS, count * NUM_STEPS))];
    for (let k = 0; k < updates; k++) {
      fillRows(rows, k, { labels: episodes.labels, samples, rowOf, fresh, freshRowOf });
      const rate = RATE * (1 - (epoch + k / updates) / epochs);
      const losses = await this.#learner.update(rows, rate);
      sums.actions += losses.actions / updates;
      sums.beliefs += losses.beliefs / updates;
      if (k % YIELD_EVERY === 0) await this.#yield();
    }
    return { actionLoss: sums.actions, beliefLoss: sums.beliefs };
  }

  #seeds = (first: number, count: number, key: number): Uint32Array =>
    seedsOf(this.#request, { first, count, key });

  /** Returns the number of labelled episodes after a round. */
  #episodesAfter(round: number): number {
    return this.#request.episodes + round * this.#request.roundEpisodes;
  }

  #network = async (): Promise<Network> => new Network((await this.#learner.state()).layers);

  #figuresIn = async (samples: Samples, labels: Uint8Array) =>
    figuresOf(await this.#network(), samples, labels);

  /** Refines (refine/refinement.ts) the clone, or the student `request.from`. */
  async refine(): Promise<void> {
    const clone = (await this.#learner.state()).layers;
    using refinement = new Refinement(this.#request, clone, this.#refinement);
    await refinement.run(this.#hooks.engine, async () => {
      this.#refinement = await refinement.state();
      await this.#finishPart('refinement');
    });
    this.#refinement = await refinement.state();
  }

  /** Passes the state to `onCheckpoint` and the progress to `onProgress`, and yields. @param stage of `TrainProgress`. */
  async #finishPart(stage: string): Promise<void> {
    const [figures, refinement] = [[...this.#figures], this.#refinement];
    await this.#hooks.onCheckpoint({
      figures,
      refinement,
      episodes: this.#episodes,
      learner: await this.#learner.state(),
    });
    const { done, total } = progressOf(this.#request, this.#figures.length, this.#episodes, refinement);
    const percent = Math.round((100 * done) / total);
    this.#hooks.onProgress({ stage, done: percent, total: 100, note: noteOf(figures.at(-1), refinement) });
    await this.#yield();
  }

  async #yield(): Promise<void> {
    await yieldTurn();
    this.#hooks.signal.throwIfAborted();
  }

  async result(): Promise<Trained> {
    const layers = this.#refinement?.actor.layers;
    return {
      network: layers === undefined ? await this.#network() : new Network(layers),
      figures: this.#figures,
      refinement: this.#refinement?.figures ?? [],
      world: this.#world,
    };
  }

  [Symbol.dispose](): void {
    this.#learner[Symbol.dispose]();
  }
}

/** The number of updates between two turns of the event loop. */
const YIELD_EVERY = 8;
/** The planner labels about this many episodes in the time of an epoch of cloning: see the times in docs/students.md. */
const EPISODES_PER_EPOCH = 20;
/** The refinement plays about this many episodes in the time of an epoch of cloning: see the times in docs/students.md. */
const REFINED_PER_EPOCH = 400;

/** Returns how much of the work is done, and the whole work, in units of an epoch of cloning. */
function progressOf(
  { from, rounds, epochs, episodes, roundEpisodes, refineEpisodes }: TrainRequest,
  epochsDone: number,
  labelled: Labelled,
  refinement: RefinementState | null,
): { done: number; total: number } {
  const refined = (refinement?.figures.at(-1)?.episodes ?? 0) / REFINED_PER_EPOCH;
  const done = epochsDone + labelled.seeds.length / EPISODES_PER_EPOCH + refined;
  const cloning =
    from === null ? (rounds + 1) * epochs + (episodes + rounds * roundEpisodes) / EPISODES_PER_EPOCH : 0;
  return { done, total: cloning + refineEpisodes / REFINED_PER_EPOCH };
}

function noteOf(epoch: EpochFigures | undefined, refinement: RefinementState | null): string | null {
  const last = refinement?.figures.at(-1);
  if (last !== undefined) return `final score ${last.finalScore.toFixed(3)}`;
  return epoch === undefined ? null : `agreement ${epoch.agreement.toFixed(3)}`;
}

/** Returns the state before the first update: of the student to refine, or of a new network. */
const initialStateOf = ({ from, seed }: TrainRequest): ModelState =>
  from === null ? initialStudent(seedrandom.alea(`student ${seed}`), HIDDEN) : stateOf(from.network.layers);
