/**
 * A vector environment as one would first write it: an array of episodes and a loop over them. What VecEnv must equal,
 * bit for bit.
 */
import { Episode } from '../../src/reference/episode.js';
import type { AutoresetMode } from '../../src/validate/autoreset-modes.js';
import { NUM_BELIEFS, NUM_COMPONENTS, NUM_STEPS, OBSERVATION_SIZE } from '../../src/world/fields.js';
import type { Columns } from './bits.js';
import { type Call, playedTo, type ResetCall, type RunCall, type Scene, type StepCall } from './calls.js';

/** What a slot shows of an episode that has ended. */
interface Grade {
  readonly finalScore: number;
  readonly beliefMae: number;
  readonly earlyMean: number;
  readonly lateMean: number;
  readonly return: number;
  readonly components: readonly number[];
}

interface Slot {
  readonly episode: Episode;
  seed: number;
  /** How many episodes it has begun by itself. */
  number: number;
  profile: string;
  grader: string;
  reward: number;
  /** Whether the last call ended its episode. */
  ended: boolean;
  /** Of an episode that ended in the last step and gave way to the next; null otherwise. */
  past: { readonly grade: Grade; readonly observation: readonly number[] } | null;
}

const NO_GRADE: Grade = {
  finalScore: 0,
  beliefMae: 0,
  earlyMean: 0,
  lateMean: 0,
  return: 0,
  components: Array(NUM_COMPONENTS).fill(0),
};
const NOTHING: readonly number[] = Array(OBSERVATION_SIZE).fill(0);

export class NaiveEnv {
  readonly slots: readonly Slot[];
  steps = 0;
  episodes = 0;
  readonly #mode: AutoresetMode;
  readonly #scene: Scene;

  constructor(mode: AutoresetMode, scene: Scene) {
    this.#mode = mode;
    this.#scene = scene;
    this.slots = Array.from({ length: scene.numEnvs }, () => ({
      episode: new Episode(),
      seed: 0,
      number: 0,
      profile: 'sampled',
      grader: 'v2',
      reward: 0,
      ended: false,
      past: null,
    }));
  }

  make(call: Call): void {
    if (call.kind === 'reset') this.#reset(call);
    else if (call.kind === 'run') this.#run(call);
    else this.#step(call);
  }

  /** The slots that cannot step. */
  get stuck(): readonly number[] {
    return this.slots.map(({ episode }) => Number(episode.terminated && this.#mode !== 'next-step'));
  }

  #reset({ seed, mask, profiles, graders, past }: ResetCall): void {
    this.slots.forEach((slot, i) => {
      slot.ended = false;
      if (slot.past !== null) slot.past = { ...slot.past, observation: NOTHING };
      if (mask?.[i] === 0) return;
      slot.profile = profiles?.[i] ?? 'sampled';
      slot.grader = graders?.[i] ?? 'v2';
      slot.number = 0;
      slot.past = null;
      this.#begin(slot, seed[i]);
      if (past !== undefined) forgetStep(playedTo(slot.episode, past, i));
    });
  }

  #begin(slot: Slot, seed: number): void {
    slot.seed = seed;
    slot.reward = 0;
    slot.episode.reset(seed, { profile: slot.profile, grader: slot.grader });
  }

  #beginNext(slot: Slot): void {
    const [low, size] = this.#scene.seedRange;
    slot.number++;
    this.#begin(slot, low + ((slot.seed - low + this.#scene.numEnvs) % size));
  }

  #step({ actions, beliefs, mask }: StepCall): void {
    this.slots.forEach((slot, i) => {
      slot.reward = 0;
      slot.ended = false;
      slot.past = null;
      if (mask?.[i] === 0) return;
      const belief = beliefs?.subarray(i * NUM_BELIEFS, (i + 1) * NUM_BELIEFS) ?? null;
      this.#stepSlot(slot, actions[i], belief?.some(Number.isNaN) ? null : belief);
    });
  }

  #stepSlot(slot: Slot, action: number, belief: ArrayLike<number> | null): void {
    if (slot.episode.terminated && this.#mode === 'next-step') {
      this.#beginNext(slot);
      return;
    }
    this.#advance(slot, action, belief);
    if (!slot.ended || this.#mode !== 'same-step') return;
    const past = { grade: gradeOf(slot.episode), observation: observationOf(slot.episode) };
    const { reward } = slot;
    this.#beginNext(slot);
    Object.assign(slot, { past, reward });
  }

  #advance(slot: Slot, action: number, belief: ArrayLike<number> | null): void {
    slot.reward = slot.episode.step(action, belief);
    slot.ended = slot.episode.terminated;
    this.steps++;
    if (slot.ended) this.episodes++;
  }

  #run({ tape, stops, belief }: RunCall): void {
    this.slots.forEach((slot, i) => {
      slot.ended = false;
      slot.past = null;
      while (slot.episode.stepCount < stops[i]) {
        this.#advance(slot, tape[i * NUM_STEPS + slot.episode.stepCount], belief ?? null);
      }
    });
  }

  /** What VecEnv shows, row-major, and the states behind it. */
  see(): Columns {
    const { slots } = this;
    const grades = slots.map(({ past, episode }) => past?.grade ?? gradeOf(episode));
    const over = slots.map(({ past, episode }) => Number(past !== null || episode.terminated));
    const final = slots.flatMap(({ past }) => past?.observation ?? NOTHING);
    return {
      observations: Float32Array.from(slots.flatMap(({ episode }) => observationOf(episode))),
      rewards: Float32Array.from(slots, ({ reward }) => reward),
      terminated: Uint8Array.from(over),
      truncated: new Uint8Array(slots.length),
      finalMask: Uint8Array.from(slots, ({ ended }) => Number(ended)),
      finalScores: Float32Array.from(grades, ({ finalScore }) => finalScore),
      beliefMae: Float32Array.from(grades, ({ beliefMae }) => beliefMae),
      earlyMeans: Float32Array.from(grades, ({ earlyMean }) => earlyMean),
      lateMeans: Float32Array.from(grades, ({ lateMean }) => lateMean),
      components: Float32Array.from(grades.flatMap(({ components }) => components)),
      episodeReturns: Float32Array.from(grades, (grade) => grade.return),
      episodeLengths: Int32Array.from(over, (ended) => ended * NUM_STEPS),
      ...(this.#mode === 'same-step' && { finalObservations: Float32Array.from(final) }),
      seeds: Uint32Array.from(slots, ({ seed }) => seed),
      episodeNumbers: Uint32Array.from(slots, ({ number }) => number),
      counters: Uint32Array.of(this.steps, this.episodes),
      hash: BigUint64Array.from(slots, ({ episode }) => episode.stateHash()),
      targets: Float32Array.from(slots.flatMap(({ episode }) => Array.from(episode.target))),
    };
  }
}

/** What an episode that began where another stands does not know of it: its last step. */
function forgetStep(episode: Episode): void {
  episode.event = episode.lastAction = -1;
  episode.reward = 0;
  episode.deltas.fill(0);
  episode.anomalies.fill(0);
}

function gradeOf(episode: Episode): Grade {
  if (!episode.terminated) return NO_GRADE;
  const { finalScore, beliefMae, earlyMean, lateMean, return: sum, components } = episode;
  return { finalScore, beliefMae, earlyMean, lateMean, return: sum, components: Array.from(components) };
}

function observationOf(episode: Episode): readonly number[] {
  const row = new Float32Array(OBSERVATION_SIZE);
  episode.observe(row);
  return Array.from(row);
}
