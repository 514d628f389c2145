/** Re-evaluation: stored episodes replayed, compared, and graded beside baselines in the same weeks. */
import { describeRun, type RunInfo } from '../evaluate/run-info.js';
import type { Grader, GraderWeights } from '../graders/grader.js';
import type { Player, TrajectoryEpisode } from '../trajectory/episode.js';
import { BASELINES, BaselinePlayer, type Graded, gradedBy, picked } from './baselines.js';
import type { Mismatch } from './mismatch.js';
import { type Engine, TrajectoryReplayer } from './replayer.js';
import { type RowSummary, RowTally } from './row-tally.js';
import { Weeks } from './weeks.js';

/** Who a row is of: a baseline by its name, or a player of the files. */
export interface ReevaluatedRow extends RowSummary {
  /** A name of BASELINES; null for a player of the files. */
  readonly baseline: string | null;
  /** Null for a baseline. */
  readonly player: Player | null;
  /** For a baseline that plays a tape, the grader that it was found for; else null. */
  readonly tape: string | null;
  /** Steps of its episodes, and those in which no action was read. */
  readonly steps: number;
  readonly unparsed: number;
}

/** Players who have played the same weeks under one condition, and the baselines in these. */
export interface Section {
  readonly condition: string;
  /** As rows of an evaluation name them. */
  readonly profiles: string;
  readonly seeds: string;
  /** By grader, in the order in which they were asked for; rows by BASELINES, then players as they came. */
  readonly graders: readonly {
    readonly grader: string;
    readonly weights: GraderWeights;
    readonly rows: readonly ReevaluatedRow[];
  }[];
}

/** Episodes of one player under one condition. */
interface Group {
  readonly player: Player;
  readonly condition: string;
  readonly weeks: Weeks;
  steps: number;
  unparsed: number;
  /** By grader: of the player, and of each baseline in the same weeks. */
  readonly tallies: readonly { readonly own: RowTally; readonly baselines: Map<string, RowTally> }[];
}

export class Reevaluation implements Disposable {
  readonly #graders: readonly Grader[];
  readonly #replayer: TrajectoryReplayer;
  readonly #baselines: BaselinePlayer;
  readonly #groups = new Map<string, Group>();

  /** @param graders at least one. @throws as `createVecEnv`: before any file is read. */
  constructor(engine: Engine, graders: readonly Grader[]) {
    this.#graders = graders;
    this.#replayer = new TrajectoryReplayer(engine);
    this.#baselines = new BaselinePlayer(engine);
  }

  /** What runs. */
  get run(): RunInfo {
    return describeRun(this.#replayer.env, this.#graders[0]);
  }

  /** @param episodes at least one, each of which comes once. @returns [n]: what each says otherwise than its replay. @throws as `createVecEnv`. */
  add(episodes: readonly TrajectoryEpisode[]): readonly (readonly Mismatch[])[] {
    const { mismatches, ...earned } = this.#replayer.replay(episodes);
    const indices = this.#count(episodes);
    for (const [g, grader] of this.#graders.entries()) {
      const own = gradedBy(earned, grader);
      const rivals = this.#baselines.play(episodes, grader);
      for (const [group, of] of indices) addTo(group, g, picked(own, of), rivals, of);
    }
    return mismatches;
  }

  /** Which of the episodes are whose; their weeks and steps are counted. */
  #count(episodes: readonly TrajectoryEpisode[]): Map<Group, number[]> {
    const indices = new Map<Group, number[]>();
    for (const [i, episode] of episodes.entries()) {
      const group = this.#groupOf(episode);
      const of = indices.get(group);
      if (of === undefined) indices.set(group, [i]);
      else of.push(i);
      group.weeks.add(episode);
      group.steps += episode.steps.length;
      group.unparsed += episode.steps.filter(({ parsed }) => !parsed).length;
    }
    return indices;
  }

  #groupOf({ teacher, model, objective, oracle, condition, profile_mode }: TrajectoryEpisode): Group {
    // The condition of the named persons pools them.
    const profile = condition === POOL ? POOL : profile_mode;
    const key = JSON.stringify([teacher, model, objective, oracle, condition, profile]);
    let group = this.#groups.get(key);
    if (group === undefined) {
      const tallies = this.#graders.map(() => ({
        own: new RowTally(),
        baselines: new Map(BASELINES.map(({ name }) => [name, new RowTally()])),
      }));
      const player = { teacher, model, objective, oracle };
      group = { player, condition, weeks: new Weeks(), steps: 0, unparsed: 0, tallies };
      this.#groups.set(key, group);
    }
    return group;
  }

  /** In the order in which conditions came up. */
  sections(): Section[] {
    const together: Group[][] = [];
    for (const group of this.#groups.values()) {
      const same = together.find(
        ([first]) => first.condition === group.condition && first.weeks.sameAs(group.weeks),
      );
      if (same === undefined) together.push([group]);
      else same.push(group);
    }
    return together.map((groups) => this.#sectionOf(groups));
  }

  #sectionOf(groups: readonly Group[]): Section {
    const [{ condition, weeks }] = groups;
    const graders = this.#graders.map((grader, g) => ({
      grader: grader.name,
      weights: grader.weights,
      rows: [
        ...BASELINES.map(({ name, tape }) => ({
          baseline: name,
          player: null,
          tape: tape(grader.name),
          ...{ steps: groups[0].steps, unparsed: 0 },
          ...groups[0].tallies[g].baselines.get(name)!.summary(),
        })),
        ...groups.map(({ player, steps, unparsed, tallies }) => ({
          baseline: null,
          player,
          tape: null,
          ...{ steps, unparsed },
          ...tallies[g].own.summary(),
        })),
      ],
    }));
    return { condition, profiles: weeks.profiles, seeds: weeks.text, graders };
  }

  [Symbol.dispose](): void {
    this.#replayer[Symbol.dispose]();
    this.#baselines[Symbol.dispose]();
  }
}

const POOL = 'discrete';

/** Adds episodes of one group, which are those `of` a batch. */
function addTo(
  { tallies }: Group,
  g: number,
  own: Graded,
  all: ReadonlyMap<string, Graded>,
  of: readonly number[],
): void {
  const rivals = new Map(Array.from(all, ([name, graded]) => [name, picked(graded, of)]));
  tallies[g].own.add(own, rivals);
  for (const [name, tally] of tallies[g].baselines) tally.add(rivals.get(name)!, rivals);
}
