/** Steps a vector environment and records its episodes, which may be at different steps. */

import { type EngineCalls, resultOf } from '../../engine/engine-calls.js';
import { floatsOf, type Grader } from '../../engine/graders/grader.js';
import type { AnyVecEnv } from '../../engine/node.js';
import type { StepResult } from '../../engine/vec-env/vec-env-options.js';
import { InputError } from '../../shared/errors.js';
import { checkLength } from '../../shared/values.js';
import { NUM_BELIEFS, OBSERVATION_FIELDS, OBSERVATION_SIZE } from '../../world/fields.js';
import { EpisodeRecorder, type EpisodeStart, episodeEndAt } from './episode-recorder.js';
import { type Move, type PlayedMove, resolveMove } from './move.js';
import type { Player, TrajectoryEpisode } from './trajectory-episode.js';

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
  readonly #env: AnyVecEnv;
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
  constructor(env: AnyVecEnv, player: Player, grader: Grader) {
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
function checkEnv({ imagination, metadata, observationFields }: AnyVecEnv): void {
  const raw = OBSERVATION_FIELDS.every(({ name, offset, size, low, high }, k) => {
    const field = observationFields[k];
    const sameLayout = field?.name === name && field.offset === offset && field.size === size;
    return sameLayout && field.low === low && field.high === high;
  });
  if (!raw || imagination || metadata.autoresetMode !== 'disabled') refuseEnv();
}

function refuseEnv(): never {
  throw new InputError(
    'not_alike',
    'Expected a row-major environment without imagination and autoreset, with raw observations, got another one. ' +
      'Create it without these options. `observation: { history: true }` is allowed.',
  );
}

/** Returns the beliefs, f32 [n, 3]; NaN where none is given. */
function beliefsOf(moves: readonly (PlayedMove | null)[]): Float32Array {
  const beliefs = new Float32Array(moves.length * NUM_BELIEFS).fill(Number.NaN);
  for (const [i, move] of moves.entries()) if (move?.belief) beliefs.set(move.belief, i * NUM_BELIEFS);
  return beliefs;
}
