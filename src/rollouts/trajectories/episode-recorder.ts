/** Records one episode while it is played. */
import { type EngineCalls, resultOf } from '../../engine/engine-calls.js';
import { floatsOf, type Grader } from '../../engine/graders/grader.js';
import type { Env } from '../../engine/node.js';
import type { StepResult } from '../../engine/vec-env/vec-env-options.js';
import { InputError, StateError } from '../../shared/errors.js';
import { SCHEMAS } from '../../shared/schemas.js';
import { checkLength, describe } from '../../shared/values.js';
import { packageVersion } from '../../shared/version.js';
import {
  ACTION_NAMES,
  COMPONENT_NAMES,
  NUM_BELIEFS,
  NUM_COMPONENTS,
  NUM_STEPS,
  OBSERVATION_FIELDS,
  OBSERVATION_SIZE,
} from '../../world/fields.js';
import type { World } from '../../world/world.js';
import { type Move, type PlayedMove, resolveMove } from './move.js';
import {
  type Hidden,
  type HiddenProfile,
  hiddenProfileOf,
  type Player,
  type Sampling,
  type StoredBelief,
  type StoredFinal,
  type TrajectoryEpisode,
  type TrajectoryStep,
  USAGE_NAMES,
  type Usage,
} from './trajectory-episode.js';
import { storedRewardsOf } from './trajectory-lines.js';

/** An episode's description before its first step. */
export interface EpisodeStart {
  readonly player: Player;
  readonly condition: string;
  /** 'sampled', 'discrete' or a profile's name. */
  readonly profileMode: string;
  readonly seed: number;
  readonly grader: Grader;
  readonly sampling?: Sampling;
}

/** The results of an environment at its episode's end. */
export interface EpisodeEnd {
  /** f32 [8]: the components of the grade. */
  readonly components: ArrayLike<number>;
  readonly finalScore: number;
  readonly beliefMae: number;
  readonly firstHalfMean: number;
  readonly secondHalfMean: number;
}

/** Returns the results of environment i, whose episode has just ended. */
export const episodeEndAt = (result: StepResult, i: number): EpisodeEnd => ({
  components: result.components.slice(i * NUM_COMPONENTS, (i + 1) * NUM_COMPONENTS),
  finalScore: result.finalScores[i],
  beliefMae: result.beliefMae[i],
  firstHalfMean: result.firstHalfMeans[i],
  secondHalfMean: result.secondHalfMeans[i],
});

/** Collects the steps of one episode and returns it at its end. */
export class EpisodeRecorder {
  readonly #world: World;
  readonly #start: EpisodeStart;
  readonly #hidden: HiddenProfile;
  readonly #steps: TrajectoryStep[] = [];
  #system: string | null = null;
  #usage: Usage | null = null;

  /** Computes the hidden profile. @throws InputError `unknown_name` for an unknown profile. */
  constructor(world: World, start: EpisodeStart) {
    this.#world = world;
    this.#start = start;
    this.#hidden = hiddenProfileOf(world, start.profileMode, start.seed);
  }

  /**
   * Records a step.
   * @param observation the 22 raw numbers before the step; further numbers are ignored.
   * @param reward the reward of the step.
   * @throws InputError `not_alike` if the system message changed; StateError `episode_over` after 28 steps.
   */
  step(observation: ArrayLike<number>, played: PlayedMove, reward: number): void {
    const step = this.#steps.length;
    if (step === NUM_STEPS) {
      throw new StateError(
        'episode_over',
        `Expected at most ${NUM_STEPS} steps, got one more. Begin another episode.`,
      );
    }
    this.#system = this.#commonSystem(played);
    this.#usage = addUsage(this.#usage, played.usage);
    const { prompt, completion, reasoning, belief, parsed } = played;
    this.#steps.push({
      step,
      observation: Array.from({ length: OBSERVATION_SIZE }, (_, k) => observation[k]),
      ...{ prompt, completion, reasoning },
      belief: belief && (Array.from(belief) as unknown as StoredBelief),
      action: ACTION_NAMES[played.action],
      parsed,
      reward,
      reward_components: storedRewardsOf(this.#world, played, reward, this.#hidden.target),
    });
  }

  /** Returns the episode's system message; null until a move has one. */
  #commonSystem({ system }: PlayedMove): string | null {
    if (system === null || this.#system === null || system === this.#system) return system ?? this.#system;
    throw new InputError('not_alike', {
      expected: `the system message of the previous steps, ${describe(this.#system)}`,
      got: describe(system),
      remedy: 'Use one system message for the whole episode.',
    });
  }

  /** Returns the episode. @throws StateError `episode_over` if it ends too early: before 28 steps were recorded. */
  end(results: EpisodeEnd): TrajectoryEpisode {
    const steps = this.#steps;
    if (steps.length < NUM_STEPS) {
      throw new StateError(
        'episode_over',
        `Expected ${NUM_STEPS} steps before the end, got ${steps.length}. Record the other steps first.`,
      );
    }
    const { player, condition, profileMode, seed, grader, sampling } = this.#start;
    const { teacher, model, objective, oracle } = player;
    return {
      schema: SCHEMAS.trajectory,
      version: packageVersion(),
      world_digest: this.#world.digest,
      ...{ teacher, model, objective, oracle },
      ...{ condition, profile_mode: profileMode, seed },
      grader: { name: grader.name, weights: grader.weights },
      system: this.#system,
      steps,
      final: toStoredFinal(results),
      ...(this.#usage === null ? {} : { usage: this.#usage }),
      ...(sampling === undefined ? {} : { sampling }),
      hidden: toStoredHidden(this.#hidden),
    };
  }
}

/** Converts an episode's results to the field names of files. */
export const toStoredFinal = ({ components, ...end }: EpisodeEnd): StoredFinal =>
  ({
    ...Object.fromEntries(COMPONENT_NAMES.map((name, k) => [name, components[k]])),
    belief_mae: end.beliefMae,
    early_mean: end.firstHalfMean,
    late_mean: end.secondHalfMean,
    final_score: end.finalScore,
  }) as unknown as StoredFinal;

/** Converts a hidden profile to the field names of files. */
export const toStoredHidden = ({ profile, target }: HiddenProfile): Hidden => ({
  profile: Array.from(profile),
  belief_target: Array.from(target),
});

/** Adds two usages field by field. If one is null, returns the other. The sum has the fields in the order of files. */
export function addUsage(sum: Usage | null, usage: Usage | null): Usage | null {
  if (sum === null || usage === null) return sum ?? usage;
  const names = USAGE_NAMES.filter((name) => sum[name] !== undefined || usage[name] !== undefined);
  return Object.fromEntries(names.map((name) => [name, (sum[name] ?? 0) + (usage[name] ?? 0)]));
}

/** The seed, profile and condition of an episode to begin. */
export type EpisodeSpec = Pick<EpisodeStart, 'seed' | 'profileMode' | 'condition'>;

/**
 * Steps a vector environment for a player and records every episode until its end. Run its calls with `runAsync`, or with
 * `runSync` on a VecEnv.
 *
 *     const recorder = new TrajectoryRecorder(env, player, toGrader('v2'));
 *     let { observations } = await runAsync(recorder.begin(episodes));
 *     for (let t = 0; t < 28; t++) ({ observations } = await runAsync(recorder.step(moves(observations))));
 *     for (const episode of recorder.take()) file.write(episodeLine(episode));
 */
export class TrajectoryRecorder {
  readonly #env: Env;
  readonly #player: Player;
  readonly #grader: Grader;
  readonly #episodes: (EpisodeRecorder | null)[];
  #ended: TrajectoryEpisode[] = [];
  /** The observations before the next step. */
  #observations: Float32Array = new Float32Array(0);

  /**
   * Checks the environment.
   * @param env an environment without imagination and autoreset, row-major, with raw OBSERVATION_FIELDS (`observation`
   *   left out, or `{ history: true }`). The caller closes it.
   * @throws InputError `not_alike` for any other environment; for a column-major one, `begin` throws it.
   */
  constructor(env: Env, player: Player, grader: Grader) {
    checkEnv(env);
    this.#env = env;
    this.#player = player;
    this.#grader = grader;
    this.#episodes = Array(env.numEnvs).fill(null);
  }

  /**
   * Begins an episode in every environment whose entry is not null. An unfinished episode of such an environment is
   * dropped. No entry of the first call may be null.
   * @param episodes [numEnvs].
   * @returns as `env.reset`. @throws as `env.reset`, and InputError `not_alike` for a column-major environment.
   */
  *begin(episodes: readonly (EpisodeSpec | null)[]): EngineCalls<StepResult> {
    const { numEnvs, world } = this.#env;
    checkLength('episodes', episodes.length, numEnvs, 'numEnvs; null where the episode continues');
    const starts = {
      seed: Uint32Array.from(episodes, (spec) => spec?.seed ?? 0),
      profiles: episodes.map((spec) => spec?.profileMode ?? 'sampled'),
      graders: floatsOf(this.#grader.weights),
      ...(episodes.includes(null) ? { mask: episodes.map((spec) => spec !== null) } : {}),
    };
    const result = yield* resultOf(this.#env.reset(starts));
    // 0 means row-major.
    if (result.columnStride !== 0) refuseEnv();
    this.#observations = result.observations;
    for (const [i, spec] of episodes.entries()) {
      if (spec === null) continue;
      this.#episodes[i] = new EpisodeRecorder(world, { ...spec, player: this.#player, grader: this.#grader });
    }
    return result;
  }

  /**
   * Takes a step in every environment that has a move.
   * @param moves [numEnvs]; null for environments that take no step. `resolveMove` returns the action of each.
   * @returns as `env.step`. @throws as `env.step` and `resolveMove`.
   */
  *step(moves: readonly (Move | null)[]): EngineCalls<StepResult> {
    const env = this.#env;
    checkLength('moves', moves.length, env.numEnvs, 'numEnvs; null where no step is taken');
    const played = moves.map((move) => move && resolveMove(move));
    const before = this.#observations.slice();
    const actions = Uint8Array.from(played, (move) => move?.action ?? 0);
    const options = { beliefs: beliefsOf(played), mask: played.map((move) => move !== null) };
    const result = yield* resultOf(env.step(actions, options));
    this.#observations = result.observations;
    for (const [i, move] of played.entries()) {
      if (move !== null) this.#record(i, before, move, result);
    }
    return result;
  }

  /** Records a step of environment i. @param before the observations of all environments before the step. */
  #record(i: number, before: Float32Array, move: PlayedMove, result: StepResult): void {
    const width = before.length / this.#env.numEnvs;
    const observation = before.subarray(i * width, i * width + OBSERVATION_SIZE);
    const episode = this.#episodes[i]!;
    episode.step(observation, move, result.rewards[i]);
    if (result.finalMask[i] === 0) return;
    this.#ended.push(episode.end(episodeEndAt(result, i)));
    this.#episodes[i] = null;
  }

  /** Returns the episodes that ended since the last call, in order of their end, then of their environment. */
  take(): TrajectoryEpisode[] {
    const ended = this.#ended;
    this.#ended = [];
    return ended;
  }
}

/** Refuses an environment with imagination, autoreset or encoded observations. @throws InputError `not_alike`. */
function checkEnv({ imagination, metadata, observationFields }: Env): void {
  const raw = OBSERVATION_FIELDS.every(({ name, offset, size, low, high }, k) => {
    const field = observationFields[k];
    const sameLayout = field?.name === name && field.offset === offset && field.size === size;
    return sameLayout && field.low === low && field.high === high;
  });
  if (!raw || imagination || metadata.autoresetMode !== 'disabled') refuseEnv();
}

function refuseEnv(): never {
  throw new InputError('not_alike', {
    expected: 'a row-major environment without imagination and autoreset, with raw observations',
    got: 'another one',
    remedy: 'Create it without these options. `observation: { history: true }` is allowed.',
  });
}

/** Returns the beliefs, f32 [n, 3]; NaN where none is given. */
function beliefsOf(moves: readonly (PlayedMove | null)[]): Float32Array {
  const beliefs = new Float32Array(moves.length * NUM_BELIEFS).fill(Number.NaN);
  for (const [i, move] of moves.entries()) if (move?.belief) beliefs.set(move.belief, i * NUM_BELIEFS);
  return beliefs;
}
