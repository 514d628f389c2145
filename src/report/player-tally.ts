/** All that a report says of one player of one file, gathered while episodes stream by: of most of them only the seed is kept. */
import { type Interval, Moments } from '../evaluate/statistics.js';
import type { BeliefErrors } from '../pictures/belief-error.js';
import type { Calibration } from '../pictures/calibration.js';
import type { TrajectoryEpisode } from '../trajectory/episode.js';
import { ActionTally, type CountedUse } from './action-counts.js';
import { BeliefErrorTally } from './belief-errors.js';
import { calibrationTallies } from './calibrating.js';
import { type ChosenWeek, WeekKeeper } from './kept-weeks.js';
import { addOne } from './moments.js';
import { groupsOf, whoIs } from './person.js';
import { type Spending, SpendingTally } from './spending.js';

/** Of one condition, grader and kind of person. */
export interface PlayedScore {
  readonly condition: string;
  readonly grader: string;
  /** 'sampled', 'discrete', a profile's name, or 'named' for several. */
  readonly profiles: string;
  readonly seeds: string;
  readonly episodes: number;
  readonly finalScore: Interval;
  readonly beliefMae: number;
  readonly earlyMean: number;
  readonly lateMean: number;
}

export interface PlayerSummary {
  readonly episodes: number;
  readonly scores: readonly PlayedScore[];
  /** Null where no belief was given. */
  readonly beliefErrors: BeliefErrors | null;
  /** [3] by BELIEF_NAMES; null where no belief was given. */
  readonly calibration: readonly Calibration[] | null;
  readonly actions: readonly CountedUse[];
  readonly weeks: readonly ChosenWeek[];
  readonly spending: Spending;
}

interface ScoreTally {
  readonly condition: string;
  readonly grader: string;
  readonly modes: Set<string>;
  least: number;
  most: number;
  readonly finalScore: Moments;
  readonly beliefMae: Moments;
  readonly earlyMean: Moments;
  readonly lateMean: Moments;
}

export class PlayerTally {
  readonly #scores = new Map<string, ScoreTally>();
  readonly #errors = new BeliefErrorTally();
  readonly #calibration = calibrationTallies();
  readonly #actions = new ActionTally();
  readonly #weeks = new WeekKeeper();
  readonly #spending = new SpendingTally();
  readonly #seen = new Map<string, Set<number>>();
  #episodes = 0;

  /** @param episode as `parseEpisode` gives it. */
  add(episode: TrajectoryEpisode): void {
    const { profile_mode: mode, seed, steps } = episode;
    this.#episodes++;
    this.#addScore(episode);
    this.#spending.add(episode);
    if (!this.#isNew(mode, seed)) return;
    const { target } = whoIs(mode, seed);
    const beliefs = steps.map(({ belief }) => belief);
    this.#errors.add(beliefs, target);
    const last = beliefs.filter((belief) => belief !== null).at(-1);
    if (last) for (const [k, tally] of this.#calibration.entries()) tally.add(last[k], target[k]);
    this.#actions.add(
      steps.map(({ action }) => action),
      groupsOf(mode, seed, target),
    );
    this.#weeks.add(episode);
  }

  /** A week that is part of several conditions, as of discrete and of discrete:NAME, is one week of a person. */
  #isNew(mode: string, seed: number): boolean {
    const seen = this.#seen.get(mode) ?? new Set();
    this.#seen.set(mode, seen);
    return seen.size < seen.add(seed).size;
  }

  #addScore({ condition, grader, profile_mode, seed, final }: TrajectoryEpisode): void {
    const key = JSON.stringify([condition, grader.name, grader.weights]);
    const tally = this.#scores.get(key) ?? emptyScore(condition, grader.name, seed);
    this.#scores.set(key, tally);
    tally.modes.add(profile_mode);
    tally.least = Math.min(tally.least, seed);
    tally.most = Math.max(tally.most, seed);
    addOne(tally.finalScore, final.final_score);
    addOne(tally.beliefMae, final.belief_mae);
    addOne(tally.earlyMean, final.early_mean);
    addOne(tally.lateMean, final.late_mean);
  }

  summary(): PlayerSummary {
    const calibration = this.#calibration.map((tally) => tally.summary());
    return {
      episodes: this.#episodes,
      scores: Array.from(this.#scores.values(), scoreOf),
      beliefErrors: this.#errors.summary(),
      calibration: calibration.includes(null) ? null : (calibration as Calibration[]),
      actions: this.#actions.summary(),
      weeks: this.#weeks.chosen(),
      spending: this.#spending.summary(),
    };
  }
}

const emptyScore = (condition: string, grader: string, seed: number): ScoreTally => ({
  ...{ condition, grader, modes: new Set<string>(), least: seed, most: seed },
  ...{ finalScore: new Moments(), beliefMae: new Moments() },
  ...{ earlyMean: new Moments(), lateMean: new Moments() },
});

const scoreOf = ({ condition, grader, modes, least, most, ...moments }: ScoreTally): PlayedScore => ({
  condition,
  grader,
  profiles: modes.size === 1 ? [...modes][0] : 'named',
  seeds: `${least}-${most}`,
  episodes: moments.finalScore.count,
  finalScore: moments.finalScore.interval(),
  beliefMae: moments.beliefMae.interval().mean,
  earlyMean: moments.earlyMean.interval().mean,
  lateMean: moments.lateMean.interval().mean,
});
