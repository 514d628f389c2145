/** Chooses the best, the median and the worst episode of a player, in constant memory, and converts them to timelines. */

import { Episode } from '../engine/reference/episode.js';
import type { TimelineEpisode } from '../figures/timeline-episode.js';
import type { TrajectoryEpisode } from '../rollouts/trajectories/trajectory-episode.js';
import { ACTION_NAMES, NUM_BELIEFS, NUM_METERS, OBSERVATION } from '../world/fields.js';
import { hiddenProfile } from './profile-group.js';

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
