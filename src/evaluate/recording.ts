/** Weeks of an evaluation as trajectories: noted while they are played, or after a run, from what it shows of its steps. */
import type { Trajectory } from '../backends/backend.js';
import type { Grader } from '../graders/grader.js';
import type { Player, TrajectoryEpisode } from '../trajectory/episode.js';
import { EpisodeRecorder, endAt } from '../trajectory/episode-recorder.js';
import { playedFor } from '../trajectory/move.js';
import type { RunResult } from '../vec-env/options.js';
import {
  NUM_BELIEFS,
  NUM_METERS,
  NUM_SLOTS,
  NUM_STEPS,
  OBSERVATION,
  OBSERVATION_SIZE,
} from '../world/fields.js';
import type { World } from '../world/world.js';
import type { Weeks } from './weeks.js';

/** Whose play is noted, and under which condition and grader. */
export interface Recorded {
  readonly player: Player;
  readonly condition: string;
  readonly grader: Grader;
}

/** What was done in a step of n weeks. */
export interface Step {
  /** Codes, [n]. */
  readonly actions: ArrayLike<number>;
  /** f32 [n, 3]; null where none is given. */
  readonly beliefs: Float32Array | null;
  /** f32 [n]: what it was rewarded with. */
  readonly rewards: ArrayLike<number>;
  /** Why, in words, in week i. */
  readonly reasons?: (i: number) => string;
}

export class WeekRecorder {
  readonly #episodes: readonly EpisodeRecorder[];

  constructor(world: World, { profile, seeds }: Weeks, recorded: Recorded) {
    this.#episodes = Array.from(
      seeds,
      (seed) => new EpisodeRecorder(world, { ...recorded, profileMode: profile, seed }),
    );
  }

  /** Notes the next step of all weeks. @param seen f32 [n, 22]: what was shown before it. */
  step(seen: Float32Array, { actions, beliefs, rewards, reasons }: Step): void {
    for (const [i, episode] of this.#episodes.entries()) {
      const belief = beliefs?.subarray(i * NUM_BELIEFS, (i + 1) * NUM_BELIEFS) ?? null;
      const played = playedFor({ action: actions[i], belief, reasoning: reasons?.(i) });
      episode.step(seen.subarray(i * OBSERVATION_SIZE, (i + 1) * OBSERVATION_SIZE), played, rewards[i]);
    }
  }

  /** Notes all steps of a run. @param first f32 [n, 22]: what was shown before it. @param belief [3], given at every step. */
  run(first: Float32Array, trajectory: Trajectory, belief: ArrayLike<number> | undefined): void {
    const n = this.#episodes.length;
    const beliefs = belief === undefined ? null : repeated(belief, n);
    const column = (values: Int8Array | Float32Array, step: number): Float32Array =>
      Float32Array.from({ length: n }, (_, i) => values[i * NUM_STEPS + step]);
    let seen = first;
    for (let step = 0; step < NUM_STEPS; step++) {
      const actions = column(trajectory.actions, step);
      this.step(seen, { actions, beliefs, rewards: column(trajectory.rewards, step) });
      seen = shownAfter(trajectory, step, n);
    }
  }

  /** The episodes, in the order of their seeds. @param result of the environment, at their end. */
  end(result: RunResult): TrajectoryEpisode[] {
    return this.#episodes.map((episode, i) => episode.end(endAt(result, i)));
  }
}

/** f32 [n, 3]. */
const repeated = (belief: ArrayLike<number>, n: number): Float32Array =>
  Float32Array.from({ length: n * NUM_BELIEFS }, (_, k) => belief[k % NUM_BELIEFS]);

/** f32 [n, 22]: what an agent sees after a step of a run (world page, What an agent sees). */
function shownAfter(trajectory: Trajectory, step: number, n: number): Float32Array {
  const { actions, events, rewards, meters, deltas, anomalies } = trajectory;
  const shown = new Float32Array(n * OBSERVATION_SIZE);
  const taken = step + 1;
  for (let i = 0; i < n; i++) {
    const at = i * NUM_STEPS + step;
    const row = shown.subarray(i * OBSERVATION_SIZE, (i + 1) * OBSERVATION_SIZE);
    const fives = (values: Float32Array) => values.subarray(at * NUM_METERS, (at + 1) * NUM_METERS);
    row[OBSERVATION.step] = taken;
    row[OBSERVATION.day] = Math.floor(taken / NUM_SLOTS);
    row[OBSERVATION.slot] = taken % NUM_SLOTS;
    row[OBSERVATION.remaining] = NUM_STEPS - taken;
    row.set(fives(meters), OBSERVATION.meters);
    row[OBSERVATION.event] = events[at];
    row[OBSERVATION.lastAction] = actions[at];
    row[OBSERVATION.reward] = rewards[at];
    row.set(fives(deltas), OBSERVATION.deltas);
    row.set(fives(anomalies), OBSERVATION.anomalies);
  }
  return shown;
}
