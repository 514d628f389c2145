/** Records episodes of an evaluation as trajectories: step by step, or from a whole run. */
import type { Trajectory } from '../engine/backends/backend.js';
import type { Grader } from '../engine/graders/grader.js';
import type { RunResult } from '../engine/vec-env/vec-env-options.js';
import { EpisodeRecorder, episodeEndAt } from '../rollouts/trajectories/episode-recorder.js';
import { resolveMove } from '../rollouts/trajectories/move.js';
import type { Player, TrajectoryEpisode } from '../rollouts/trajectories/trajectory-episode.js';
import {
  NUM_BELIEFS,
  NUM_METERS,
  NUM_SLOTS,
  NUM_STEPS,
  OBSERVATION,
  OBSERVATION_SIZE,
} from '../world/fields.js';
import type { World } from '../world/world.js';
import type { EpisodeBatch } from './evaluate-options.js';

/** The player, condition and grader of recorded episodes. */
export interface EpisodeOrigin {
  readonly player: Player;
  readonly condition: string;
  readonly grader: Grader;
}

/** One step of n episodes. */
export interface Step {
  /** Action codes, [n]. */
  readonly actions: ArrayLike<number>;
  /** f32 [n, 3]; null without beliefs. */
  readonly beliefs: Float32Array | null;
  /** f32 [n]: rewards. */
  readonly rewards: ArrayLike<number>;
  /** The reasons for the action in each episode. */
  readonly reasons?: readonly string[];
}

/** Records the episodes of a batch, all at the same step. */
export class EvaluationRecorder {
  readonly #episodes: readonly EpisodeRecorder[];

  constructor(world: World, { profile, seeds }: EpisodeBatch, origin: EpisodeOrigin) {
    this.#episodes = Array.from(
      seeds,
      (seed) => new EpisodeRecorder(world, { ...origin, profileMode: profile, seed }),
    );
  }

  /** Records the next step of all episodes. @param before f32 [n, 22]: observations before the step. */
  step(before: Float32Array, { actions, beliefs, rewards, reasons }: Step): void {
    for (const [i, episode] of this.#episodes.entries()) {
      const belief = beliefs?.subarray(i * NUM_BELIEFS, (i + 1) * NUM_BELIEFS) ?? null;
      const played = resolveMove({ action: actions[i], belief, reasoning: reasons?.[i] });
      episode.step(before.subarray(i * OBSERVATION_SIZE, (i + 1) * OBSERVATION_SIZE), played, rewards[i]);
    }
  }

  /**
   * Records all steps of a run. @param first f32 [n, 22]: observations before the run. @param belief [3]: stated at
   * every step.
   */
  run(first: Float32Array, trajectory: Trajectory, belief: ArrayLike<number> | undefined): void {
    const n = this.#episodes.length;
    const beliefs = belief === undefined ? null : repeatBelief(belief, n);
    const column = (values: Int8Array | Float32Array, step: number): Float32Array =>
      Float32Array.from({ length: n }, (_, i) => values[i * NUM_STEPS + step]);
    let before = first;
    for (let step = 0; step < NUM_STEPS; step++) {
      const actions = column(trajectory.actions, step);
      this.step(before, { actions, beliefs, rewards: column(trajectory.rewards, step) });
      before = observationsAfter(trajectory, step, n);
    }
  }

  /** Returns the episodes in the order of their seeds. @param result the environment's result at the end of the episodes. */
  end(result: RunResult): TrajectoryEpisode[] {
    return this.#episodes.map((episode, i) => episode.end(episodeEndAt(result, i)));
  }
}

/** Repeats a belief for n episodes. Returns f32 [n, 3]. */
const repeatBelief = (belief: ArrayLike<number>, n: number): Float32Array =>
  Float32Array.from({ length: n * NUM_BELIEFS }, (_, k) => belief[k % NUM_BELIEFS]);

/** Returns the observations after a step of a run, f32 [n, 22] (docs/world.md, What an agent sees). */
function observationsAfter(trajectory: Trajectory, step: number, n: number): Float32Array {
  const { actions, events, rewards, meters, deltas, anomalies } = trajectory;
  const observations = new Float32Array(n * OBSERVATION_SIZE);
  const stepsTaken = step + 1;
  for (let i = 0; i < n; i++) {
    const index = i * NUM_STEPS + step;
    const row = observations.subarray(i * OBSERVATION_SIZE, (i + 1) * OBSERVATION_SIZE);
    const byMeter = (values: Float32Array) => values.subarray(index * NUM_METERS, (index + 1) * NUM_METERS);
    row[OBSERVATION.step] = stepsTaken;
    row[OBSERVATION.day] = Math.floor(stepsTaken / NUM_SLOTS);
    row[OBSERVATION.slot] = stepsTaken % NUM_SLOTS;
    row[OBSERVATION.remaining] = NUM_STEPS - stepsTaken;
    row.set(byMeter(meters), OBSERVATION.meters);
    row[OBSERVATION.event] = events[index];
    row[OBSERVATION.lastAction] = actions[index];
    row[OBSERVATION.reward] = rewards[index];
    row.set(byMeter(deltas), OBSERVATION.deltas);
    row.set(byMeter(anomalies), OBSERVATION.anomalies);
  }
  return observations;
}
