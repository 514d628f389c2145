/** Plays and records episodes of a vector environment, in phase or not. */

import { floatsOf, type Grader } from '../../engine/graders/grader.js';
import type { VecEnv } from '../../engine/node.js';
import type { StepResult } from '../../engine/vec-env/vec-env-options.js';
import { InputError } from '../../shared/errors.js';
import { checkLength } from '../../shared/values.js';
import { NUM_BELIEFS, OBSERVATION_FIELDS, OBSERVATION_SIZE } from '../../world/fields.js';
import { EpisodeRecorder, type EpisodeStart, endAt } from './episode-recorder.js';
import { type Move, type Played, playedFor } from './move.js';
import type { Player, TrajectoryEpisode } from './trajectory-episode.js';

/** An episode to begin in an environment. */
export interface Beginning extends Pick<EpisodeStart, 'seed' | 'profileMode' | 'condition'> {}

/**
 * Steps an environment for a player, and keeps every episode that ends.
 *
 *     const recorder = new TrajectoryRecorder(env, player, toGrader('v2'));
 *     let { observations } = recorder.begin(weeks);
 *     for (let t = 0; t < 28; t++) ({ observations } = recorder.step(moves(observations)));
 *     for (const episode of recorder.take()) file.write(episodeLine(episode));
 */
export class TrajectoryRecorder {
  readonly #env: VecEnv;
  readonly #player: Player;
  readonly #grader: Grader;
  readonly #episodes: (EpisodeRecorder | null)[];
  #ended: TrajectoryEpisode[] = [];
  /** The observations before the next step. */
  #observations: Float32Array = new Float32Array(0);

  /**
   * @param env an environment without imagination and autoreset, row-major, with raw OBSERVATION_FIELDS (`observation`
   *   left out, or `{ history: true }`). The caller closes it.
   * @throws InputError `not_alike` for another environment.
   */
  constructor(env: VecEnv, player: Player, grader: Grader) {
    requireRaw(env);
    this.#env = env;
    this.#player = player;
    this.#grader = grader;
    this.#episodes = Array(env.numEnvs).fill(null);
  }

  /**
   * Begins an episode in every environment whose entry is not null. The first call must begin one in all. Unfinished
   * episodes are dropped.
   * @returns as `env.reset`. @throws as `env.reset`.
   */
  begin(weeks: readonly (Beginning | null)[]): StepResult {
    const { numEnvs, world } = this.#env;
    checkLength('weeks', weeks.length, numEnvs, 'numEnvs, null for slots that go on');
    const result = this.#env.reset({
      seed: Uint32Array.from(weeks, (week) => week?.seed ?? 0),
      profiles: weeks.map((week) => week?.profileMode ?? 'sampled'),
      graders: floatsOf(this.#grader.weights),
      ...(weeks.includes(null) ? { mask: weeks.map((week) => week !== null) } : {}),
    });
    this.#observations = result.observations;
    for (const [slot, week] of weeks.entries()) {
      if (week === null) continue;
      const start = { ...week, player: this.#player, grader: this.#grader };
      this.#episodes[slot] = new EpisodeRecorder(world, start);
    }
    return result;
  }

  /**
   * Takes a step in every environment that has a move. `playedFor` says what is played for a completion without an
   * action.
   * @param moves [numEnvs]; null for environments that wait.
   * @returns as `env.step`. @throws as `env.step` and `playedFor`.
   */
  step(moves: readonly (Move | null)[]): StepResult {
    const env = this.#env;
    checkLength('moves', moves.length, env.numEnvs, 'numEnvs, null for slots that wait');
    const played = moves.map((move) => move && playedFor(move));
    const before = this.#observations.slice();
    const result = env.step(
      Uint8Array.from(played, (each) => each?.action ?? 0),
      { beliefs: beliefsOf(played), mask: played.map((each) => each !== null) },
    );
    this.#observations = result.observations;
    for (const [slot, each] of played.entries()) {
      if (each !== null) this.#note(slot, before, each, result);
    }
    return result;
  }

  #note(slot: number, before: Float32Array, played: Played, result: StepResult): void {
    const width = before.length / this.#env.numEnvs;
    const seen = before.subarray(slot * width, slot * width + OBSERVATION_SIZE);
    const episode = this.#episodes[slot]!;
    episode.step(seen, played, result.rewards[slot]);
    if (result.finalMask[slot] === 0) return;
    this.#ended.push(episode.end(endAt(result, slot)));
    this.#episodes[slot] = null;
  }

  /** Returns the episodes that ended since the last call, by step, then by environment. */
  take(): TrajectoryEpisode[] {
    const ended = this.#ended;
    this.#ended = [];
    return ended;
  }
}

function requireRaw({ imagination, metadata, observationFields }: VecEnv): void {
  const raw = OBSERVATION_FIELDS.every(({ name, offset, size, low, high }, k) => {
    const field = observationFields[k];
    const alike = field?.name === name && field.offset === offset && field.size === size;
    return alike && field.low === low && field.high === high;
  });
  if (raw && !imagination && metadata.autoresetMode === 'disabled') return;
  throw new InputError(
    'not_alike',
    'Expected an environment of real luck, without autoreset and with raw observations, got another. ' +
      'Create one with no options but numEnvs, backend, and observation: { history: true } if prompts are made.',
  );
}

/** f32 [n, 3]; NaN where no belief is given. */
function beliefsOf(played: readonly (Played | null)[]): Float32Array {
  const beliefs = new Float32Array(played.length * NUM_BELIEFS).fill(Number.NaN);
  for (const [i, each] of played.entries()) if (each?.belief) beliefs.set(each.belief, i * NUM_BELIEFS);
  return beliefs;
}
