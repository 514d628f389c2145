/** Weeks of an evaluation that a language model plays: each is asked for once, whichever conditions hold it. */

import type { Condition } from '../conditions.js';
import { type Grader, isSameGrader } from '../graders/grader.js';
import type { LanguageModel } from '../llm/model.js';
import { modelPlayer } from '../llm/player.js';
import { type AskedWeek, askWeeks } from '../llm/weeks.js';
import { camelCase } from '../names.js';
import type { Policy } from '../policies/policies.js';
import type { Player, TrajectoryEpisode, Usage } from '../trajectory/episode.js';
import { sumOfUsage } from '../trajectory/episode-recorder.js';
import { ACTION_NAMES, NUM_BELIEFS, NUM_STEPS } from '../world/fields.js';
import { chunksOf, type Weeks } from './weeks.js';

/** How models are asked. */
export interface Asking {
  readonly grader: Grader;
  /** Weeks at once. */
  readonly concurrency: number;
  readonly backend: string | undefined;
  readonly kernel: string | undefined;
  readonly signal: AbortSignal | undefined;
  readonly onEpisode: ((episode: TrajectoryEpisode) => unknown) | undefined;
}

/** What is kept of a week: enough to live it again. */
interface Lived {
  /** u8 [28]: codes. */
  readonly actions: Uint8Array;
  /** f32 [28, 3]; a row of NaN where none was given. */
  readonly beliefs: Float32Array;
  /** Answers that named no action. */
  readonly unparsed: number;
  readonly usage: Usage | null;
}

interface WantedWeek {
  readonly seed: number;
  readonly profileMode: string;
  /** Names of the conditions that hold it and have not got it. */
  readonly open: Set<string>;
}

/** What answers add to a row; null for who is not asked in words. */
export interface AnswerSummary {
  /** The share of answers that named no action, 0 to 1: FALLBACK_ACTION was played then. */
  readonly unparsed: number | null;
  /**
   * What the row's weeks took of a service, by the keys of a trajectory's `usage` in camelCase; of a week that several
   * conditions hold under the first of them. Null where nothing is known.
   */
  readonly usage: Readonly<Record<string, number>> | null;
}

const SOME = 1024;
const weekKey = (profileMode: string, seed: number): string => `${profileMode} ${seed}`;
const lifeKey = (condition: string, profileMode: string, seed: number): string =>
  `${condition} ${weekKey(profileMode, seed)}`;

/** Without what it took, so that nothing is counted twice. */
const unpaid = ({ usage: _, ...episode }: TrajectoryEpisode): TrajectoryEpisode => episode;

/** The weeks of all conditions, as one model has lived them. */
export class AskedWeeks {
  readonly #player: Player;
  readonly #model: LanguageModel;
  readonly #wanted = new Map<string, WantedWeek>();
  readonly #lived = new Map<string, Lived>();

  constructor(model: LanguageModel, conditions: readonly Condition[]) {
    this.#model = model;
    this.#player = modelPlayer(model.name);
    for (const { name, parts } of conditions) {
      for (const { profile: profileMode, seeds } of parts) {
        for (let seed = seeds.first; seed <= seeds.last; seed++) {
          const key = weekKey(profileMode, seed);
          const wanted = this.#wanted.get(key) ?? { seed, profileMode, open: new Set() };
          this.#wanted.set(key, wanted);
          wanted.open.add(name);
        }
      }
    }
  }

  /** Episodes that are there, those of a week under two conditions being two. */
  get size(): number {
    return this.#lived.size;
  }

  /**
   * Takes the weeks that were played before from whatever episodes there are.
   * @returns those that are new: of such weeks, under conditions that they were not there under.
   */
  async take(
    episodes: Iterable<TrajectoryEpisode> | AsyncIterable<TrajectoryEpisode>,
    grader: Grader,
  ): Promise<TrajectoryEpisode[]> {
    const spare = new Map<WantedWeek, TrajectoryEpisode>();
    for await (const episode of episodes) {
      const wanted = this.#wanted.get(weekKey(episode.profile_mode, episode.seed));
      if (wanted === undefined || !this.#isOwn(episode, grader)) continue;
      if (wanted.open.delete(episode.condition)) this.#keep(episode);
      if (wanted.open.size > 0) spare.set(wanted, unpaid(episode));
    }
    return Array.from(spare, ([wanted, episode]) => this.#share(wanted, episode)).flat();
  }

  #isOwn(episode: TrajectoryEpisode, grader: Grader): boolean {
    const { teacher, model, objective, oracle } = this.#player;
    const own = episode.teacher === teacher && episode.model === model;
    const alike = episode.objective === objective && episode.oracle === oracle;
    return own && alike && isSameGrader(episode.grader, grader);
  }

  /** Asks for the weeks that are not there, those of all conditions in one queue. @returns each under all its conditions, as it ends. @throws as `askWeeks`. */
  async *ask(asking: Asking): AsyncGenerator<TrajectoryEpisode[]> {
    const { onEpisode, ...others } = asking;
    const options = { ...others, model: this.#model, player: this.#player };
    for await (const episode of askWeeks(this.#missing(), options)) {
      await onEpisode?.(episode);
      yield this.#share(this.#wanted.get(weekKey(episode.profile_mode, episode.seed))!, episode);
    }
  }

  *#missing(): Generator<AskedWeek> {
    for (const { seed, profileMode, open } of this.#wanted.values()) {
      const [condition] = open;
      if (condition !== undefined) yield { seed, profileMode, condition };
    }
  }

  /** The episode under each condition that has not got its week; what it took stands under the first. */
  #share({ open }: WantedWeek, episode: TrajectoryEpisode): TrajectoryEpisode[] {
    const others = unpaid(episode);
    const episodes = Array.from(open, (condition, k) => ({ ...(k === 0 ? episode : others), condition }));
    open.clear();
    for (const each of episodes) this.#keep(each);
    return episodes;
  }

  #keep({ condition, profile_mode, seed, steps, usage }: TrajectoryEpisode): void {
    const none = Array(NUM_BELIEFS).fill(Number.NaN);
    this.#lived.set(lifeKey(condition, profile_mode, seed), {
      actions: Uint8Array.from(steps, ({ action }) => ACTION_NAMES.indexOf(action)),
      beliefs: Float32Array.from(steps.flatMap(({ belief }) => belief ?? none)),
      unparsed: steps.filter(({ parsed }) => !parsed).length,
      usage: usage ?? null,
    });
  }

  #of(condition: string, { profile, seeds }: Weeks): Lived[] {
    return Array.from(seeds, (seed) => this.#lived.get(lifeKey(condition, profile, seed))!);
  }

  /** What plays weeks of a condition as they were played. */
  playing(condition: string, weeks: Weeks): Pick<Policy, 'choice' | 'options'> {
    const lived = this.#of(condition, weeks);
    const actions = new Uint8Array(lived.length * NUM_STEPS);
    const beliefs = new Float32Array(actions.length * NUM_BELIEFS);
    for (const [i, week] of lived.entries()) {
      actions.set(week.actions, i * NUM_STEPS);
      beliefs.set(week.beliefs, i * NUM_STEPS * NUM_BELIEFS);
    }
    return { choice: () => actions, options: { beliefs } };
  }

  /** Of all weeks of a condition. */
  summary(condition: Condition): AnswerSummary {
    const lived = [...chunksOf(condition, SOME)].flatMap((weeks) => this.#of(condition.name, weeks));
    const unparsed = lived.reduce((sum, week) => sum + week.unparsed, 0);
    const usage = lived.reduce<Usage | null>((sum, week) => sumOfUsage(sum, week.usage), null);
    const entries = Object.entries(usage ?? {}).map(([name, value]) => [camelCase(name), value] as const);
    return {
      unparsed: unparsed / (lived.length * NUM_STEPS),
      usage: usage === null ? null : Object.fromEntries(entries),
    };
  }
}
