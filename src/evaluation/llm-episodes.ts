/** Plays a language model's episodes of an evaluation: each once, even if several conditions contain it. */

import { type AnswerLog, type LanguageModel, modelPlayer } from '../agents/llm/language-model.js';
import { type EpisodeRequest, playEpisodes } from '../agents/llm/play-episodes.js';
import type { WholeEpisodePolicy } from '../agents/policies/fixed-policies.js';
import { type Grader, isSameGrader } from '../engine/graders/grader.js';
import { addUsage } from '../rollouts/trajectories/episode-recorder.js';
import type { Player, TrajectoryEpisode, Usage } from '../rollouts/trajectories/trajectory-episode.js';
import { camelCase } from '../shared/names.js';
import type { Condition } from '../world/conditions.js';
import { ACTION_NAMES, NUM_BELIEFS, NUM_STEPS } from '../world/fields.js';
import { chunksOf, type EpisodeBatch } from './evaluate-options.js';

/** Options of new episodes. */
export interface LlmPlayOptions {
  readonly grader: Grader;
  /** The maximum number of simultaneous episodes. */
  readonly concurrency: number;
  readonly backend: string | undefined;
  readonly kernel: string | undefined;
  readonly signal: AbortSignal | undefined;
  readonly answers: AnswerLog | undefined;
  readonly onEpisode: ((episode: TrajectoryEpisode) => unknown) | undefined;
}

/** The recorded actions and beliefs of an episode, enough to replay it. */
interface RecordedEpisode {
  /** u8 [28]: codes. */
  readonly actions: Uint8Array;
  /** f32 [28, 3]; NaN for steps without a belief. */
  readonly beliefs: Float32Array;
  /** The number of answers without an action. */
  readonly unparsed: number;
  readonly usage: Usage | null;
}

/** An episode of at least one condition. */
interface WantedEpisode {
  readonly seed: number;
  readonly profileMode: string;
  /** The names of the conditions that still lack the episode. */
  readonly missingFor: Set<string>;
}

/** Columns of a row about a language model's answers; null for other policies. */
export interface AnswerSummary {
  /** The share of answers without an action, 0 to 1. FALLBACK_ACTION (move.ts) is played for them. */
  readonly unparsed: number | null;
  /**
   * Usage of the row's episodes, with the keys of a trajectory's `usage` in camelCase. If several conditions
   * share an episode, only one of their rows includes its usage. Null if unknown.
   */
  readonly usage: Readonly<Record<string, number>> | null;
}

/** The number of episodes that `summary` gathers at a time. Chosen by hand; it changes no result. */
const CHUNK = 1024;
const wantedKey = (profileMode: string, seed: number): string => `${profileMode} ${seed}`;
const recordKey = (condition: string, profileMode: string, seed: number): string =>
  `${condition} ${wantedKey(profileMode, seed)}`;

/** Returns the episode without its usage, so that usage is not counted twice. */
const withoutUsage = ({ usage: _, ...episode }: TrajectoryEpisode): TrajectoryEpisode => episode;

/** One model's episodes under all conditions. */
export class LlmEpisodes {
  readonly #player: Player;
  readonly #model: LanguageModel;
  readonly #wanted = new Map<string, WantedEpisode>();
  readonly #recorded = new Map<string, RecordedEpisode>();

  constructor(model: LanguageModel, conditions: readonly Condition[]) {
    this.#model = model;
    this.#player = modelPlayer(model.name);
    for (const { name, parts } of conditions) {
      for (const { profile: profileMode, seeds } of parts) {
        for (let seed = seeds.first; seed <= seeds.last; seed++) {
          const key = wantedKey(profileMode, seed);
          const wanted = this.#wanted.get(key) ?? { seed, profileMode, missingFor: new Set() };
          this.#wanted.set(key, wanted);
          wanted.missingFor.add(name);
        }
      }
    }
  }

  /** The number of recorded episodes. An episode of two conditions counts twice. */
  get size(): number {
    return this.#recorded.size;
  }

  /**
   * Adds those earlier episodes of this model and grader that a condition contains.
   * @returns copies of these episodes for the conditions that lack them.
   */
  async addEarlier(
    episodes: Iterable<TrajectoryEpisode> | AsyncIterable<TrajectoryEpisode>,
    grader: Grader,
  ): Promise<TrajectoryEpisode[]> {
    const reusable = new Map<WantedEpisode, TrajectoryEpisode>();
    for await (const episode of episodes) {
      const wanted = this.#wanted.get(wantedKey(episode.profile_mode, episode.seed));
      if (wanted === undefined || !this.#isOwn(episode, grader)) continue;
      if (wanted.missingFor.delete(episode.condition)) this.#record(episode);
      if (wanted.missingFor.size > 0) reusable.set(wanted, withoutUsage(episode));
    }
    return Array.from(reusable, ([wanted, episode]) => this.#recordForAll(wanted, episode)).flat();
  }

  /** Returns whether this model played the episode under this grader. */
  #isOwn(episode: TrajectoryEpisode, grader: Grader): boolean {
    const { teacher, model, objective, oracle } = this.#player;
    const sameModel = episode.teacher === teacher && episode.model === model;
    const sameSettings = episode.objective === objective && episode.oracle === oracle;
    return sameModel && sameSettings && isSameGrader(episode.grader, grader);
  }

  /**
   * Plays the missing episodes of all conditions in one queue. When an episode ends, yields a copy for each
   * condition that lacks it.
   * @throws as `playEpisodes`.
   */
  async *playMissing({ onEpisode, ...others }: LlmPlayOptions): AsyncGenerator<TrajectoryEpisode[]> {
    const options = { ...others, model: this.#model, player: this.#player };
    for await (const episode of playEpisodes(this.#missing(), options)) {
      await onEpisode?.(episode);
      yield this.#recordForAll(this.#wanted.get(wantedKey(episode.profile_mode, episode.seed))!, episode);
    }
  }

  *#missing(): Generator<EpisodeRequest> {
    for (const { seed, profileMode, missingFor } of this.#wanted.values()) {
      const [condition] = missingFor;
      if (condition !== undefined) yield { seed, profileMode, condition };
    }
  }

  /** Records the episode for each condition that lacks it. Only the first copy keeps its usage. */
  #recordForAll({ missingFor }: WantedEpisode, episode: TrajectoryEpisode): TrajectoryEpisode[] {
    const copy = withoutUsage(episode);
    const episodes = Array.from(missingFor, (condition, k) => ({
      ...(k === 0 ? episode : copy),
      condition,
    }));
    missingFor.clear();
    for (const recorded of episodes) this.#record(recorded);
    return episodes;
  }

  #record({ condition, profile_mode, seed, steps, usage }: TrajectoryEpisode): void {
    const noBelief = Array(NUM_BELIEFS).fill(Number.NaN);
    this.#recorded.set(recordKey(condition, profile_mode, seed), {
      actions: Uint8Array.from(steps, ({ action }) => ACTION_NAMES.indexOf(action)),
      beliefs: Float32Array.from(steps.flatMap(({ belief }) => belief ?? noBelief)),
      unparsed: steps.filter(({ parsed }) => !parsed).length,
      usage: usage ?? null,
    });
  }

  #recordedOf(condition: string, { profile, seeds }: EpisodeBatch): RecordedEpisode[] {
    return Array.from(seeds, (seed) => this.#recorded.get(recordKey(condition, profile, seed))!);
  }

  /** Returns a policy that replays recorded episodes of a condition. */
  replayPolicy(condition: string, batch: EpisodeBatch): WholeEpisodePolicy {
    const episodes = this.#recordedOf(condition, batch);
    const actions = new Uint8Array(episodes.length * NUM_STEPS);
    const beliefs = new Float32Array(actions.length * NUM_BELIEFS);
    for (const [i, episode] of episodes.entries()) {
      actions.set(episode.actions, i * NUM_STEPS);
      beliefs.set(episode.beliefs, i * NUM_STEPS * NUM_BELIEFS);
    }
    return { kind: 'fixed', choice: () => actions, options: { beliefs } };
  }

  /** Returns the answer columns of a condition's row. */
  summary(condition: Condition): AnswerSummary {
    const episodes = [...chunksOf(condition, CHUNK)].flatMap((batch) =>
      this.#recordedOf(condition.name, batch),
    );
    const unparsed = episodes.reduce((sum, episode) => sum + episode.unparsed, 0);
    const usage = episodes.reduce<Usage | null>((sum, episode) => addUsage(sum, episode.usage), null);
    const entries = Object.entries(usage ?? {}).map(([name, value]) => [camelCase(name), value] as const);
    return {
      unparsed: unparsed / (episodes.length * NUM_STEPS),
      usage: usage === null ? null : Object.fromEntries(entries),
    };
  }
}
