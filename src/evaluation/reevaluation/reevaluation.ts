/** Re-evaluation: replays stored episodes, compares them, and grades them beside baselines on the same seeds. */
import type { Grader, GraderWeights } from '../../engine/graders/grader.js';
import type { ReplayEngine } from '../../rollouts/trajectories/episode-replayer.js';
import type { Player, TrajectoryEpisode } from '../../rollouts/trajectories/trajectory-episode.js';
import { type Interval, Moments } from '../../shared/statistics.js';
import { describeProfiles } from '../../world/conditions.js';
import { describeRun, type RunInfo } from '../run-info.js';
import { ScoreTally, type Summary, type Wins } from '../score-tally.js';
import type { UserPolicy } from '../user-policy.js';
import {
  BASELINES,
  BaselinePlayer,
  type EpisodeIdentity,
  type Graded,
  gradeResults,
  PAIRED_BASELINES,
  pickEpisodes,
} from './baselines.js';
import { type Mismatch, TrajectoryReplayer } from './trajectory-replayer.js';

/** The results of a baseline, or of a player: a policy or language model whose episodes are stored. */
export interface ReevaluatedRow extends RowSummary {
  /** A name of BASELINES or of a user's policy; null for a player of stored episodes. */
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
  /** 'sampled', 'discrete', a profile's name, 'named' for several named profiles, or 'mixed' for sampled and named ones. */
  readonly profiles: string;
  readonly seeds: string;
  /** By grader in the requested order; rows of BASELINES, then the user's policies, then players in order of appearance. */
  readonly graders: readonly {
    readonly grader: string;
    readonly weights: GraderWeights;
    readonly rows: readonly ReevaluatedRow[];
  }[];
}

/** One player's episodes under one condition, with one `profile_mode` except under `discrete`. */
interface Group {
  readonly player: Player;
  readonly condition: string;
  readonly episodes: EpisodeSet;
  steps: number;
  unparsed: number;
  /** By grader: tallies of the player, and of each baseline on the same seeds. */
  readonly tallies: readonly {
    readonly own: ReevaluationTally;
    readonly baselines: Map<string, ReevaluationTally>;
  }[];
}

/** A re-evaluation of stored episodes, which are added batch by batch. */
export class Reevaluation implements AsyncDisposable {
  readonly #graders: readonly Grader[];
  readonly #replayer: TrajectoryReplayer;
  readonly #baselines: BaselinePlayer;
  readonly #groups = new Map<string, Group>();
  /** Describes the run. */
  readonly run: RunInfo;

  private constructor(
    replayer: TrajectoryReplayer,
    engine: ReplayEngine,
    graders: readonly Grader[],
    policies: readonly UserPolicy[],
  ) {
    this.run = describeRun(replayer.env, graders[0]);
    this.#graders = graders;
    this.#replayer = replayer;
    this.#baselines = new BaselinePlayer(engine, policies);
  }

  /**
   * Opens the environments of the replay.
   * @param graders at least one. @param policies further baselines. @throws as `createVecEnv`.
   */
  static async open(
    engine: ReplayEngine,
    graders: readonly Grader[],
    policies: readonly UserPolicy[] = [],
  ): Promise<Reevaluation> {
    return new Reevaluation(await TrajectoryReplayer.open(engine), engine, graders, policies);
  }

  /**
   * Replays episodes and adds them to the rows.
   * @param episodes at least one, without duplicates. @returns [n]: the mismatches of each episode with its replay.
   * @throws as `createVecEnv`.
   */
  async add(episodes: readonly TrajectoryEpisode[]): Promise<readonly (readonly Mismatch[])[]> {
    const { mismatches, ...results } = await this.#replayer.replay(episodes);
    const indicesByGroup = this.#groupAndCount(episodes);
    for (const [g, grader] of this.#graders.entries()) {
      const own = gradeResults(results, grader);
      const baselines = await this.#baselines.play(episodes, grader);
      for (const [group, indices] of indicesByGroup)
        addTo(group, g, pickEpisodes(own, indices), baselines, indices);
    }
    return mismatches;
  }

  /** Groups the episodes and counts their steps. @returns the indices of each group's episodes. */
  #groupAndCount(episodes: readonly TrajectoryEpisode[]): Map<Group, number[]> {
    const indicesByGroup = new Map<Group, number[]>();
    for (const [i, episode] of episodes.entries()) {
      const group = this.#groupOf(episode);
      const indices = indicesByGroup.get(group);
      if (indices === undefined) indicesByGroup.set(group, [i]);
      else indices.push(i);
      group.episodes.add(episode);
      group.steps += episode.steps.length;
      group.unparsed += episode.steps.filter(({ parsed }) => !parsed).length;
    }
    return indicesByGroup;
  }

  /** Returns the group of an episode. Adds the group if it is new. */
  #groupOf({ teacher, model, objective, oracle, condition, profile_mode }: TrajectoryEpisode): Group {
    // The condition `discrete` has episodes of all named profiles in one group.
    const profile = condition === POOL ? POOL : profile_mode;
    const key = JSON.stringify([teacher, model, objective, oracle, condition, profile]);
    let group = this.#groups.get(key);
    if (group === undefined) {
      const tallies = this.#graders.map(() => ({
        own: new ReevaluationTally(),
        baselines: new Map(this.#baselines.names.map((name) => [name, new ReevaluationTally()])),
      }));
      const player = { teacher, model, objective, oracle };
      group = { player, condition, episodes: new EpisodeSet(), steps: 0, unparsed: 0, tallies };
      this.#groups.set(key, group);
    }
    return group;
  }

  /** Returns the sections, in the order in which their first episodes were added. */
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
        ...this.#baselines.names.map((name) => ({
          baseline: name,
          player: null,
          sequenceGrader: sequenceGraderOf(name, grader),
          steps: groups[0].steps,
          unparsed: 0,
          ...groups[0].tallies[g].baselines.get(name)!.summary(),
        })),
        ...groups.map(({ player, steps, unparsed, tallies }) => ({
          baseline: null,
          player,
          sequenceGrader: null,
          steps,
          unparsed,
          ...tallies[g].own.summary(),
        })),
      ],
    }));
    return { condition, profiles: episodes.profiles, seeds: episodes.text, graders };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#replayer[Symbol.asyncDispose]();
    await this.#baselines[Symbol.asyncDispose]();
  }
}

/** Returns the grader of a baseline's action sequence; null for other baselines. */
const sequenceGraderOf = (baseline: string, grader: Grader): string | null =>
  BASELINES.find(({ name }) => name === baseline)?.sequenceGrader(grader.name) ?? null;

/** The condition that pools the named profiles. */
const POOL = 'discrete';

/**
 * Adds the episodes of one group under grader g.
 * @param own the results of the group's episodes. @param all the baselines' results of the whole batch.
 * @param indices the group's episodes within the batch.
 */
function addTo(
  { tallies }: Group,
  g: number,
  own: Graded,
  all: ReadonlyMap<string, Graded>,
  indices: readonly number[],
): void {
  const baselines = new Map(Array.from(all, ([name, graded]) => [name, pickEpisodes(graded, indices)]));
  tallies[g].own.add(own, baselines);
  for (const [name, tally] of tallies[g].baselines) tally.add(baselines.get(name)!, baselines);
}

/** A comparison with another player's episodes on the same seeds. */
export interface PairedComparison {
  readonly wins: Wins;
  /** Mean of the paired differences of final scores, with its 95 % interval. */
  readonly difference: Interval;
}

/** Means over the episodes of a row, and its comparisons with the heuristic and the heuristic with constant belief. */
export interface RowSummary extends Omit<Summary, 'wins'> {
  readonly overHeuristic: PairedComparison;
  readonly overConstant: PairedComparison;
}

/** The sums of one row. */
export class ReevaluationTally {
  readonly #heuristicTally = new ScoreTally();
  readonly #constantTally = new ScoreTally();
  readonly #heuristicDifferences = new Moments();
  readonly #constantDifferences = new Moments();

  /** Adds episodes. @param baselines results on the same seeds, at least those of PAIRED_BASELINES. */
  add(graded: Graded, baselines: ReadonlyMap<string, Graded>): void {
    const heuristic = baselines.get(PAIRED_BASELINES.heuristic)!.finalScores;
    const constant = baselines.get(PAIRED_BASELINES.constant)!.finalScores;
    this.#heuristicTally.add(graded, heuristic);
    this.#constantTally.add(graded, constant);
    this.#heuristicDifferences.addAll(differences(graded.finalScores, heuristic));
    this.#constantDifferences.addAll(differences(graded.finalScores, constant));
  }

  summary(): RowSummary {
    const { wins, ...summary } = this.#heuristicTally.summary();
    return {
      ...summary,
      overHeuristic: { wins, difference: this.#heuristicDifferences.interval() },
      overConstant: {
        wins: this.#constantTally.summary().wins,
        difference: this.#constantDifferences.interval(),
      },
    };
  }
}

const differences = (a: Float32Array, b: Float32Array): Float64Array =>
  Float64Array.from(a, (value, i) => value - b[i]);

/** The maximum number of seed ranges in a description. Chosen by hand: more make a table's title too long. */
const MAX_RANGES = 3;

/** A set of episodes. */
export class EpisodeSet {
  readonly #seeds = new Map<string, Set<number>>();

  add({ profile_mode, seed }: EpisodeIdentity): void {
    const seeds = this.#seeds.get(profile_mode) ?? new Set();
    this.#seeds.set(profile_mode, seeds);
    seeds.add(seed);
  }

  /** The profiles of the episodes, as `describeProfiles` describes them. */
  get profiles(): string {
    return describeProfiles(this.#seeds.keys());
  }

  sameAs(other: EpisodeSet): boolean {
    if (this.#seeds.size !== other.#seeds.size) return false;
    return [...this.#seeds].every(([profile, seeds]) => {
      const others = other.#seeds.get(profile);
      return others?.size === seeds.size && [...seeds].every((seed) => others.has(seed));
    });
  }

  /** Describes the seeds: "0-99, 200-299"; with more than three ranges, "500 from 0 to 9999". */
  get text(): string {
    const all = new Set([...this.#seeds.values()].flatMap((seeds) => [...seeds]));
    const sorted = Uint32Array.from(all).sort();
    const starts = Array.from(sorted.keys()).filter((i) => i === 0 || sorted[i] !== sorted[i - 1] + 1);
    if (starts.length > MAX_RANGES)
      return `${sorted.length} from ${sorted[0]} to ${sorted[sorted.length - 1]}`;
    const runs = starts.map((from, k) => [sorted[from], sorted[(starts[k + 1] ?? sorted.length) - 1]]);
    return runs.map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`)).join(', ');
  }
}
