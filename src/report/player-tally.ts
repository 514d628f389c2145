/**
 * Accumulates a report's data on one player of one file. A player is a policy or a language model that played episodes. Keeps
 * all seeds, and the steps of at most 502 episodes: the first 500, the best and the worst.
 */

import { Episode } from '../engine/reference/episode.js';
import type { BeliefErrors } from '../figures/belief-error.js';
import type { Calibration } from '../figures/calibration.js';
import type { TimelineEpisode } from '../figures/timeline-episode.js';
import type { TrajectoryEpisode } from '../rollouts/trajectories/trajectory-episode.js';
import { type Interval, Moments } from '../shared/statistics.js';
import { describeProfiles } from '../world/conditions.js';
import { ACTION_NAMES, NUM_BELIEFS, NUM_METERS, OBSERVATION } from '../world/fields.js';
import {
  ActionTally,
  BeliefErrorTally,
  type CountedUse,
  calibrationTallies,
  groupsOf,
  hiddenProfile,
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

/** The median is chosen among the first episodes, at most this many. Chosen by hand: more episodes take more memory. */
export const MEDIAN_SAMPLE = 500;

/** The data of an episode's timeline. */
export interface TimelineData {
  readonly condition: string;
  /** 'sampled', 'discrete' or a profile's name. */
  readonly mode: string;
  readonly seed: number;
  readonly grader: string;
  readonly finalScore: number;
  /** [28], without prompts and completions, which are the largest part of an episode. */
  readonly steps: readonly Pick<
    TrajectoryEpisode['steps'][number],
    'observation' | 'action' | 'belief' | 'reward'
  >[];
}

/** An episode to draw, and why it was chosen. */
export interface ChosenEpisode extends TimelineData {
  readonly which:
    | 'best'
    | 'best and median'
    | 'best, median and worst'
    | 'median'
    | 'median and worst'
    | 'worst'
    | 'only';
}

/** Keeps the best and the worst episode of one player, and the first MEDIAN_SAMPLE. */
export class EpisodeChoice {
  #best: TimelineData | null = null;
  #worst: TimelineData | null = null;
  readonly #first: TimelineData[] = [];
  #count = 0;

  add(episode: TrajectoryEpisode): void {
    const { final_score: score } = episode.final;
    const isBest = this.#best === null || score > this.#best.finalScore;
    const isWorst = this.#worst === null || score < this.#worst.finalScore;
    const isInSample = this.#first.length < MEDIAN_SAMPLE;
    this.#count++;
    if (!isBest && !isWorst && !isInSample) return;
    const data = timelineDataOf(episode);
    if (isBest) this.#best = data;
    if (isWorst) this.#worst = data;
    if (isInSample) this.#first.push(data);
  }

  /**
   * Returns the best, the median and the worst episode. If an episode is more than one of these, it is returned once, and
   * `which` names all. The best is the first episode with the highest score, the worst the first with the lowest. A single
   * episode is 'only'.
   */
  chosen(): ChosenEpisode[] {
    const [best, worst] = [this.#best, this.#worst];
    if (best === null || worst === null) return [];
    if (this.#count === 1) return [{ which: 'only', ...best }];
    // All scores are equal.
    if (best === worst) return [{ which: 'best, median and worst', ...best }];
    const ordered = [...this.#first].sort((a, b) => a.finalScore - b.finalScore);
    // Of an even number of episodes, the lower of the two in the middle.
    const median = ordered[(ordered.length - 1) >> 1];
    const chosen: ChosenEpisode[] = [
      { which: median === best ? 'best and median' : 'best', ...best },
      { which: median === worst ? 'median and worst' : 'worst', ...worst },
    ];
    if (median !== best && median !== worst) chosen.splice(1, 0, { which: 'median', ...median });
    return chosen;
  }
}

const timelineDataOf = ({
  condition,
  profile_mode,
  seed,
  grader,
  final,
  steps,
}: TrajectoryEpisode): TimelineData => ({
  condition,
  mode: profile_mode,
  seed,
  grader: grader.name,
  finalScore: final.final_score,
  steps: steps.map(({ observation, action, belief, reward }) => ({ observation, action, belief, reward })),
});

/** Returns the timeline of an episode. A replay computes the state after the last step, which files do not contain. */
export function timelineOf({ mode, seed, steps }: TimelineData): TimelineEpisode {
  const actions = steps.map(({ action }) => ACTION_NAMES.indexOf(action));
  const replayed = new Episode();
  replayed.reset(seed, { profile: mode });
  for (const action of actions) replayed.step(action);
  const meters = steps.flatMap(({ observation }) =>
    observation.slice(OBSERVATION.meters, OBSERVATION.meters + NUM_METERS),
  );
  // An observation has the event of the step before it.
  const events = steps.slice(1).map(({ observation }) => observation[OBSERVATION.event]);
  const hasBeliefs = steps.some(({ belief }) => belief !== null);
  const noBelief = new Array<number>(NUM_BELIEFS).fill(Number.NaN);
  return {
    actions,
    meters: [...meters, ...replayed.meters],
    events: [...events, replayed.event],
    rewards: steps.map(({ reward }) => reward),
    beliefs: hasBeliefs ? steps.flatMap(({ belief }) => belief ?? noBelief) : undefined,
    target: hiddenProfile(mode, seed).target,
  };
}
