/**
 * Accumulates a report's data on one player of one file. A player is a policy or a language model that played episodes. Keeps
 * all seeds, and the steps of at most 502 episodes: the first 500, the best and the worst (episode-choice.ts).
 */

import type { BeliefErrors } from '../figures/belief-error.js';
import type { Calibration } from '../figures/calibration.js';
import type { TrajectoryEpisode } from '../rollouts/trajectories/trajectory-episode.js';
import { type Interval, Moments } from '../shared/statistics.js';
import { describeProfiles } from '../world/conditions.js';
import { type ChosenEpisode, EpisodeChoice } from './episode-choice.js';
import { groupsOf, hiddenProfile } from './profile-group.js';
import {
  ActionTally,
  BeliefErrorTally,
  type CountedUse,
  calibrationTallies,
  type Spending,
  SpendingTally,
} from './tallies.js';

/** The scores under one condition and grader. */
export interface PlayedScore {
  readonly condition: string;
  readonly grader: string;
  /** As `describeProfiles` describes them. */
  readonly profiles: string;
  /** The smallest and the largest seed, such as '100-199'. */
  readonly seeds: string;
  readonly episodes: number;
  readonly finalScore: Interval;
  readonly beliefMae: number;
  readonly firstHalfMean: number;
  readonly secondHalfMean: number;
}

/** A report's data on one player of one file. */
export interface PlayerSummary {
  readonly episodes: number;
  readonly scores: readonly PlayedScore[];
  /** Null if no belief was stated. */
  readonly beliefErrors: BeliefErrors | null;
  /** [3] by BELIEF_NAMES; null if no belief was stated. */
  readonly calibration: readonly Calibration[] | null;
  readonly actions: readonly CountedUse[];
  /** The episodes to draw as timelines. */
  readonly chosenEpisodes: readonly ChosenEpisode[];
  readonly spending: Spending;
}

interface ScoreTally {
  readonly condition: string;
  readonly grader: string;
  readonly modes: Set<string>;
  firstSeed: number;
  lastSeed: number;
  readonly finalScore: Moments;
  readonly beliefMae: Moments;
  readonly firstHalfMean: Moments;
  readonly secondHalfMean: Moments;
}

/** The sums, seeds and chosen episodes of one player of one file. */
export class PlayerTally {
  readonly #scores = new Map<string, ScoreTally>();
  readonly #errors = new BeliefErrorTally();
  readonly #calibration = calibrationTallies();
  readonly #actions = new ActionTally();
  readonly #choice = new EpisodeChoice();
  readonly #spending = new SpendingTally();
  /** By profile mode. */
  readonly #countedSeeds = new Map<string, Set<number>>();
  #episodes = 0;

  /** Adds an episode. @param episode as `parseEpisode` returns it. */
  add(episode: TrajectoryEpisode): void {
    const { profile_mode: mode, seed, steps } = episode;
    this.#episodes++;
    this.#addScore(episode);
    this.#spending.add(episode);
    if (!this.#isNew(mode, seed)) return;
    const { target } = hiddenProfile(mode, seed);
    const beliefs = steps.map(({ belief }) => belief);
    this.#errors.add(beliefs, target);
    const last = beliefs.filter((belief) => belief !== null).at(-1);
    if (last) for (const [k, tally] of this.#calibration.entries()) tally.add(last[k], target[k]);
    this.#actions.add(
      steps.map(({ action }) => action),
      groupsOf(mode, seed, target),
    );
    this.#choice.add(episode);
  }

  /**
   * Returns whether an episode was not counted yet, and marks it as counted. A file may contain an episode under
   * several conditions, such as discrete and discrete:NAME.
   */
  #isNew(mode: string, seed: number): boolean {
    const seeds = this.#countedSeeds.get(mode) ?? new Set();
    this.#countedSeeds.set(mode, seeds);
    const isNew = !seeds.has(seed);
    seeds.add(seed);
    return isNew;
  }

  #addScore({ condition, grader, profile_mode, seed, final }: TrajectoryEpisode): void {
    const key = JSON.stringify([condition, grader.name, grader.weights]);
    const tally = this.#scores.get(key) ?? emptyScore(condition, grader.name, seed);
    this.#scores.set(key, tally);
    tally.modes.add(profile_mode);
    tally.firstSeed = Math.min(tally.firstSeed, seed);
    tally.lastSeed = Math.max(tally.lastSeed, seed);
    tally.finalScore.add(final.final_score);
    tally.beliefMae.add(final.belief_mae);
    tally.firstHalfMean.add(final.early_mean);
    tally.secondHalfMean.add(final.late_mean);
  }

  summary(): PlayerSummary {
    const calibration = this.#calibration.map((tally) => tally.summary());
    return {
      episodes: this.#episodes,
      scores: Array.from(this.#scores.values(), scoreOf),
      beliefErrors: this.#errors.summary(),
      calibration: calibration.includes(null) ? null : (calibration as Calibration[]),
      actions: this.#actions.summary(),
      chosenEpisodes: this.#choice.chosen(),
      spending: this.#spending.summary(),
    };
  }
}

const emptyScore = (condition: string, grader: string, seed: number): ScoreTally => ({
  condition,
  grader,
  modes: new Set<string>(),
  firstSeed: seed,
  lastSeed: seed,
  finalScore: new Moments(),
  beliefMae: new Moments(),
  firstHalfMean: new Moments(),
  secondHalfMean: new Moments(),
});

const scoreOf = ({ condition, grader, modes, firstSeed, lastSeed, ...moments }: ScoreTally): PlayedScore => ({
  condition,
  grader,
  profiles: describeProfiles(modes),
  seeds: `${firstSeed}-${lastSeed}`,
  episodes: moments.finalScore.count,
  finalScore: moments.finalScore.interval(),
  beliefMae: moments.beliefMae.interval().mean,
  firstHalfMean: moments.firstHalfMean.interval().mean,
  secondHalfMean: moments.secondHalfMean.interval().mean,
});
