/** Re-evaluation: replays stored episodes, compares them, and grades them beside baselines on the same seeds. */

import type { Grader, GraderWeights } from '../../engine/graders/grader.js';
import type { Player, TrajectoryEpisode } from '../../rollouts/trajectories/trajectory-episode.js';
import { describeRun, type RunInfo } from '../run-info.js';
import { BASELINES, BaselinePlayer, type Graded, gradedBy, picked } from './baselines.js';
import type { Mismatch } from './mismatch.js';
import { EpisodeSet } from './played-episodes.js';
import { type RowSummary, RowTally } from './reevaluation-tally.js';
import { type Engine, TrajectoryReplayer } from './replayer.js';

/** The results of a baseline, or of a player of the files. */
export interface ReevaluatedRow extends RowSummary {
  /** A name of BASELINES; null for a player of the files. */
  readonly baseline: string | null;
  /** Null for a baseline. */
  readonly player: Player | null;
  /** For a baseline that plays an action sequence, the grader that it was found for; else null. */
  readonly sequenceGrader: string | null;
  /** The number of steps of its episodes. */
  readonly steps: number;
  /** The number of steps without a parsed action. */
  readonly unparsed: number;
}

/** The players with the same seeds under one condition, and the baselines on these seeds. */
export interface Section {
  readonly condition: string;
  /** As in rows of an evaluation. */
  readonly profiles: string;
  readonly seeds: string;
  /** By grader in the requested order; rows of BASELINES, then players in order of appearance. */
  readonly graders: readonly {
    readonly grader: string;
    readonly weights: GraderWeights;
    readonly rows: readonly ReevaluatedRow[];
  }[];
}

/** One player's episodes under one condition. */
interface Group {
  readonly player: Player;
  readonly condition: string;
  readonly episodes: EpisodeSet;
  steps: number;
  unparsed: number;
  /** By grader: tallies of the player, and of each baseline on the same seeds. */
  readonly tallies: readonly { readonly own: RowTally; readonly baselines: Map<string, RowTally> }[];
}

export class Reevaluation implements Disposable {
  readonly #graders: readonly Grader[];
  readonly #replayer: TrajectoryReplayer;
  readonly #baselines: BaselinePlayer;
  readonly #groups = new Map<string, Group>();

  /** @param graders at least one. @throws as `createVecEnv`, before any file is read. */
  constructor(engine: Engine, graders: readonly Grader[]) {
    this.#graders = graders;
    this.#replayer = new TrajectoryReplayer(engine);
    this.#baselines = new BaselinePlayer(engine);
  }

  /** Describes the run. */
  get run(): RunInfo {
    return describeRun(this.#replayer.env, this.#graders[0]);
  }

  /**
   * Replays episodes and adds them to the rows.
   * @param episodes at least one, without duplicates. @returns [n]: mismatches of each with its replay.
   *   @throws as `createVecEnv`.
   */
  add(episodes: readonly TrajectoryEpisode[]): readonly (readonly Mismatch[])[] {
    const { mismatches, ...results } = this.#replayer.replay(episodes);
    const indices = this.#count(episodes);
    for (const [g, grader] of this.#graders.entries()) {
      const own = gradedBy(results, grader);
      const baselines = this.#baselines.play(episodes, grader);
      for (const [group, of] of indices) addTo(group, g, picked(own, of), baselines, of);
    }
    return mismatches;
  }

  /** Groups the episodes by player and counts their steps. */
  #count(episodes: readonly TrajectoryEpisode[]): Map<Group, number[]> {
    const indices = new Map<Group, number[]>();
    for (const [i, episode] of episodes.entries()) {
      const group = this.#groupOf(episode);
      const of = indices.get(group);
      if (of === undefined) indices.set(group, [i]);
      else of.push(i);
      group.episodes.add(episode);
      group.steps += episode.steps.length;
      group.unparsed += episode.steps.filter(({ parsed }) => !parsed).length;
    }
    return indices;
  }

  #groupOf({ teacher, model, objective, oracle, condition, profile_mode }: TrajectoryEpisode): Group {
    // The condition of the named profiles includes all of them.
    const profile = condition === POOL ? POOL : profile_mode;
    const key = JSON.stringify([teacher, model, objective, oracle, condition, profile]);
    let group = this.#groups.get(key);
    if (group === undefined) {
      const tallies = this.#graders.map(() => ({
        own: new RowTally(),
        baselines: new Map(BASELINES.map(({ name }) => [name, new RowTally()])),
      }));
      const player = { teacher, model, objective, oracle };
      group = { player, condition, episodes: new EpisodeSet(), steps: 0, unparsed: 0, tallies };
      this.#groups.set(key, group);
    }
    return group;
  }

  /** Returns the sections, in the order in which their conditions appeared. */
  sections(): Section[] {
    const together: Group[][] = [];
    for (const group of this.#groups.values()) {
      const same = together.find(
        ([first]) => first.condition === group.condition && first.episodes.sameAs(group.episodes),
      );
      if (same === undefined) together.push([group]);
      else same.push(group);
    }
    return together.map((groups) => this.#sectionOf(groups));
  }

  #sectionOf(groups: readonly Group[]): Section {
    const [{ condition, episodes }] = groups;
    const graders = this.#graders.map((grader, g) => ({
      grader: grader.name,
      weights: grader.weights,
      rows: [
        ...BASELINES.map(({ name, sequenceGrader }) => ({
          baseline: name,
          player: null,
          sequenceGrader: sequenceGrader(grader.name),
          ...{ steps: groups[0].steps, unparsed: 0 },
          ...groups[0].tallies[g].baselines.get(name)!.summary(),
        })),
        ...groups.map(({ player, steps, unparsed, tallies }) => ({
          baseline: null,
          player,
          sequenceGrader: null,
          ...{ steps, unparsed },
          ...tallies[g].own.summary(),
        })),
      ],
    }));
    return { condition, profiles: episodes.profiles, seeds: episodes.text, graders };
  }

  [Symbol.dispose](): void {
    this.#replayer[Symbol.dispose]();
    this.#baselines[Symbol.dispose]();
  }
}

/** The condition that pools the named profiles. */
const POOL = 'discrete';

/**
 * Adds the episodes of one group under grader g. @param own their results. @param all the baselines' results of the
 * whole batch. @param of the indices of the group's episodes in the batch.
 */
function addTo(
  { tallies }: Group,
  g: number,
  own: Graded,
  all: ReadonlyMap<string, Graded>,
  of: readonly number[],
): void {
  const baselines = new Map(Array.from(all, ([name, graded]) => [name, picked(graded, of)]));
  tallies[g].own.add(own, baselines);
  for (const [name, tally] of tallies[g].baselines) tally.add(baselines.get(name)!, baselines);
}
