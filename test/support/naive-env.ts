/**
 * A naive vector environment, which loops over an array of episodes. VecEnv must equal it bit for bit.
 */
import { Episode } from '../../src/engine/reference/episode.js';
import type { AutoresetMode } from '../../src/engine/vec-env/autoreset.js';
import { NUM_BELIEFS, NUM_COMPONENTS, NUM_STEPS, OBSERVATION_SIZE } from '../../src/world/fields.js';
import type { Columns } from './bits.js';
import { type Call, type EnvShape, playTo, type ResetCall, type RunCall, type StepCall } from './calls.js';

/** The grade outputs of an ended episode. */
interface Grade {
  readonly finalScore: number;
  readonly beliefMae: number;
  readonly firstHalfMean: number;
  readonly secondHalfMean: number;
  readonly return: number;
  readonly components: readonly number[];
}

interface EnvRow {
  readonly episode: Episode;
  seed: number;
  /** The number of autoresets since the last reset. */
  number: number;
  profile: string;
  grader: string;
  reward: number;
  /** Whether the last call ended an episode. */
  ended: boolean;
  /** The episode that a same-step autoreset replaced in the last step; null if there was none. */
  past: { readonly grade: Grade; readonly observation: readonly number[] } | null;
}

const NO_GRADE: Grade = {
  finalScore: 0,
  beliefMae: 0,
  firstHalfMean: 0,
  secondHalfMean: 0,
  return: 0,
  components: Array(NUM_COMPONENTS).fill(0),
};
const NO_OBSERVATION: readonly number[] = Array(OBSERVATION_SIZE).fill(0);

export class NaiveEnv {
  readonly envs: readonly EnvRow[];
  steps = 0;
  episodes = 0;
  readonly #mode: AutoresetMode;
  readonly #shape: EnvShape;

  constructor(mode: AutoresetMode, shape: EnvShape) {
    this.#mode = mode;
    this.#shape = shape;
    this.envs = Array.from({ length: shape.numEnvs }, () => ({
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

  applyCall(call: Call): void {
    if (call.kind === 'reset') this.#reset(call);
    else if (call.kind === 'run') this.#run(call);
    else this.#step(call);
  }

  /** 1 for each environment that cannot step, else 0. */
  get finished(): readonly number[] {
    return this.envs.map(({ episode }) => Number(episode.terminated && this.#mode !== 'next-step'));
  }

  #reset({ seed, mask, profiles, graders, played }: ResetCall): void {
    // A reset clears all final observations. Environments that the mask leaves out keep their grades.
    this.envs.forEach((env, i) => {
      env.ended = false;
      if (env.past !== null) env.past = { ...env.past, observation: NO_OBSERVATION };
      if (mask?.[i] === 0) return;
      env.profile = profiles?.[i] ?? 'sampled';
      env.grader = graders?.[i] ?? 'v2';
      env.number = 0;
      env.past = null;
      this.#begin(env, seed[i]);
      if (played !== undefined) clearLastStep(playTo(env.episode, played, i));
    });
  }

  #begin(env: EnvRow, seed: number): void {
    env.seed = seed;
    env.reward = 0;
    env.episode.reset(seed, { profile: env.profile, grader: env.grader });
  }

  /** Begins an environment's next episode. Its seed is `numEnvs` further in the seed range, which wraps around. */
  #beginNext(env: EnvRow): void {
    const [low, size] = this.#shape.seedRange;
    env.number++;
    this.#begin(env, low + ((env.seed - low + this.#shape.numEnvs) % size));
  }

  #step({ actions, beliefs, mask }: StepCall): void {
    this.envs.forEach((env, i) => {
      env.reward = 0;
      env.ended = false;
      env.past = null;
      if (mask?.[i] === 0) return;
      const belief = beliefs?.subarray(i * NUM_BELIEFS, (i + 1) * NUM_BELIEFS) ?? null;
      // NaN stands for no belief.
      this.#stepEnv(env, actions[i], belief?.some(Number.isNaN) ? null : belief);
    });
  }

  #stepEnv(env: EnvRow, action: number, belief: ArrayLike<number> | null): void {
    if (env.episode.terminated && this.#mode === 'next-step') {
      this.#beginNext(env);
      return;
    }
    this.#advance(env, action, belief);
    if (!env.ended || this.#mode !== 'same-step') return;
    const past = { grade: gradeOf(env.episode), observation: observationOf(env.episode) };
    const { reward } = env;
    this.#beginNext(env);
    Object.assign(env, { past, reward });
  }

  #advance(env: EnvRow, action: number, belief: ArrayLike<number> | null): void {
    env.reward = env.episode.step(action, belief);
    env.ended = env.episode.terminated;
    this.steps++;
    if (env.ended) this.episodes++;
  }

  #run({ sequence, stops, belief }: RunCall): void {
    this.envs.forEach((env, i) => {
      env.ended = false;
      env.past = null;
      while (env.episode.stepCount < stops[i]) {
        this.#advance(env, sequence[i * NUM_STEPS + env.episode.stepCount], belief ?? null);
      }
    });
  }

  /** Returns what `envColumns` returns for a VecEnv, in row-major order. */
  columns(): Columns {
    const { envs } = this;
    const grades = envs.map(({ past, episode }) => past?.grade ?? gradeOf(episode));
    const terminated = envs.map(({ past, episode }) => Number(past !== null || episode.terminated));
    const final = envs.flatMap(({ past }) => past?.observation ?? NO_OBSERVATION);
    return {
      observations: Float32Array.from(envs.flatMap(({ episode }) => observationOf(episode))),
      rewards: Float32Array.from(envs, ({ reward }) => reward),
      terminated: Uint8Array.from(terminated),
      truncated: new Uint8Array(envs.length),
      finalMask: Uint8Array.from(envs, ({ ended }) => Number(ended)),
      finalScores: Float32Array.from(grades, ({ finalScore }) => finalScore),
      beliefMae: Float32Array.from(grades, ({ beliefMae }) => beliefMae),
      firstHalfMeans: Float32Array.from(grades, ({ firstHalfMean }) => firstHalfMean),
      secondHalfMeans: Float32Array.from(grades, ({ secondHalfMean }) => secondHalfMean),
      components: Float32Array.from(grades.flatMap(({ components }) => components)),
      episodeReturns: Float32Array.from(grades, (grade) => grade.return),
      episodeLengths: Int32Array.from(terminated, (ended) => ended * NUM_STEPS),
      ...(this.#mode === 'same-step' && { finalObservations: Float32Array.from(final) }),
      seeds: Uint32Array.from(envs, ({ seed }) => seed),
      episodeNumbers: Uint32Array.from(envs, ({ number }) => number),
      counters: Uint32Array.of(this.steps, this.episodes),
      hash: BigUint64Array.from(envs, ({ episode }) => episode.stateHash()),
      targets: Float32Array.from(envs.flatMap(({ episode }) => Array.from(episode.target))),
    };
  }
}

/** Clears the outputs of the last step, which are unknown in an episode with a `start`. */
function clearLastStep(episode: Episode): void {
  episode.event = episode.lastAction = -1;
  episode.reward = 0;
  episode.deltas.fill(0);
  episode.anomalies.fill(0);
}

function gradeOf(episode: Episode): Grade {
  if (!episode.terminated) return NO_GRADE;
  const { finalScore, beliefMae, firstHalfMean, secondHalfMean, return: sum, components } = episode;
  return {
    finalScore,
    beliefMae,
    firstHalfMean,
    secondHalfMean,
    return: sum,
    components: Array.from(components),
  };
}

function observationOf(episode: Episode): readonly number[] {
  const row = new Float32Array(OBSERVATION_SIZE);
  episode.observe(row);
  return Array.from(row);
}
