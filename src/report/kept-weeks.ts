/** The best, the median and the worst week of a player, kept in constant memory while episodes stream by. */
import type { TrajectoryEpisode } from '../trajectory/episode.js';

/** Of so many weeks the first are looked at for the median. */
const LOOKED_AT = 500;

/** What a timeline needs of an episode. */
export interface KeptWeek {
  readonly condition: string;
  readonly mode: string;
  readonly seed: number;
  readonly grader: string;
  readonly finalScore: number;
  /** [28]: without prompts and completions, which are most of an episode. */
  readonly steps: readonly Pick<
    TrajectoryEpisode['steps'][number],
    'observation' | 'action' | 'belief' | 'reward'
  >[];
}

export interface ChosenWeek extends KeptWeek {
  readonly which: 'best' | 'median' | 'worst' | 'only';
}

export class WeekKeeper {
  #best: KeptWeek | null = null;
  #worst: KeptWeek | null = null;
  readonly #first: KeptWeek[] = [];
  #count = 0;

  add(episode: TrajectoryEpisode): void {
    const { final_score: score } = episode.final;
    const best = this.#best === null || score > this.#best.finalScore;
    const worst = this.#worst === null || score < this.#worst.finalScore;
    const looked = this.#first.length < LOOKED_AT;
    this.#count++;
    if (!best && !worst && !looked) return;
    const week = weekOf(episode);
    if (best) this.#best = week;
    if (worst) this.#worst = week;
    if (looked) this.#first.push(week);
  }

  /** Of equals the first that came; of one or two weeks, no more than there are. */
  chosen(): ChosenWeek[] {
    if (this.#best === null || this.#worst === null) return [];
    if (this.#count === 1) return [{ which: 'only', ...this.#best }];
    const ends: ChosenWeek[] = [
      { which: 'best', ...this.#best },
      { which: 'worst', ...this.#worst },
    ];
    const ordered = [...this.#first].sort((a, b) => a.finalScore - b.finalScore);
    const median = ordered[(ordered.length - 1) >> 1];
    if (median === this.#best || median === this.#worst) return ends;
    return [ends[0], { which: 'median', ...median }, ends[1]];
  }
}

const weekOf = ({ condition, profile_mode, seed, grader, final, steps }: TrajectoryEpisode): KeptWeek => ({
  condition,
  mode: profile_mode,
  seed,
  grader: grader.name,
  finalScore: final.final_score,
  steps: steps.map(({ observation, action, belief, reward }) => ({ observation, action, belief, reward })),
});
