/** What files of results hold, file after file: all that a report is made of. */
import { counted } from '../evaluate/figures.js';
import type { TrajectoryEpisode } from '../trajectory/episode.js';
import { costsOfEvaluation, type ReportedCost, withoutKnown } from './costs.js';
import { madeUnique, nameOf } from './names.js';
import { type PlayerSummary, PlayerTally } from './player-tally.js';
import type { AuditResult, Result, RunResult } from './results.js';
import {
  type ScoreRow,
  scoresOfEvaluation,
  scoresOfPlayer,
  scoresOfReevaluation,
  withoutRepeats,
} from './score-rows.js';

/** A file, and what it says of where it comes from. */
export interface Source {
  readonly label: string;
  readonly kind: Result['kind'] | 'trajectories';
  readonly versions: readonly string[];
  readonly worlds: readonly string[];
  readonly graders: readonly string[];
  /** By condition: "ood 10000-10049". */
  readonly seeds: readonly string[];
  readonly episodes: number | null;
  /** Where it was computed; null for a file that does not say. */
  readonly run: RunResult | null;
  /** What of it was left out or is doubtful; '' for nothing. */
  readonly remark: string;
}

export interface ReportedPlayer extends PlayerSummary {
  readonly source: string;
  readonly name: string;
}

export interface ReportedAudit {
  readonly source: string;
  readonly audit: AuditResult;
}

export interface ReportData {
  readonly sources: readonly Source[];
  readonly scores: readonly ScoreRow[];
  readonly players: readonly ReportedPlayer[];
  readonly audits: readonly ReportedAudit[];
  readonly costs: readonly ReportedCost[];
}

const unique = <T>(values: Iterable<T>): T[] => [...new Set(values)];
const seedsOf = (rows: readonly Pick<ScoreRow, 'condition' | 'seeds'>[]): string[] =>
  unique(rows.map(({ condition, seeds }) => `${condition} ${seeds}`));

/** Takes files one after the other. */
export class ResultGatherer {
  readonly #sources: Source[] = [];
  readonly #scores: ScoreRow[] = [];
  readonly #players: ReportedPlayer[] = [];
  readonly #audits: ReportedAudit[] = [];
  readonly #costs: ReportedCost[] = [];

  /** A file of one value. */
  addResult(label: string, result: Result): void {
    const { value: run } = result;
    const about = { label, kind: result.kind, versions: [run.version], worlds: [run.world_digest], run };
    if (result.kind === 'audit') {
      const { grader, seeds } = result.value;
      this.#audits.push({ source: label, audit: result.value });
      const said = [`fresh ${seeds.fresh}`, `persons ${seeds.persons}`];
      this.#sources.push({ ...about, graders: [grader], seeds: said, episodes: null, remark: '' });
      return;
    }
    const scores =
      result.kind === 'evaluation'
        ? scoresOfEvaluation(label, result.value)
        : scoresOfReevaluation(label, result.value);
    this.#scores.push(...scores);
    if (result.kind === 'evaluation') this.#costs.push(...costsOfEvaluation(label, result.value));
    this.#sources.push({
      ...about,
      graders: unique(scores.map(({ grader }) => grader)),
      seeds: seedsOf(scores),
      episodes: scores.reduce((sum, { episodes }) => sum + episodes, 0),
      remark: result.kind === 'reevaluation' ? remarkOn(result.value.mismatched_episodes) : '',
    });
  }

  /** A file of episodes, complete. */
  addTrajectories(label: string, file: TrajectoryTally, remark: string): void {
    const players = file.players(label);
    const scores = players.flatMap(({ name, scores: own }) => scoresOfPlayer(label, name, own));
    this.#players.push(...players);
    this.#scores.push(...scores);
    this.#sources.push({
      ...{ label, kind: 'trajectories', versions: file.versions, worlds: file.worlds },
      graders: unique(scores.map(({ grader }) => grader)),
      seeds: seedsOf(scores),
      episodes: players.reduce((sum, { episodes }) => sum + episodes, 0),
      run: null,
      remark,
    });
  }

  data(): ReportData {
    // What was evaluated comes before what files of weeks say of the same.
    const scores = [...this.#scores].sort((a, b) => Number(a.ofWeeks) - Number(b.ofWeeks));
    return {
      sources: this.#sources,
      scores: withoutRepeats(scores),
      players: this.#players,
      audits: this.#audits,
      costs: withoutKnown(this.#costs, this.#players),
    };
  }
}

const remarkOn = (mismatched: number): string =>
  mismatched === 0 ? '' : `${counted(mismatched, 'episode')} NOT AS RECORDED`;

/** One file of episodes while it is read. */
export class TrajectoryTally {
  readonly #players = new Map<string, { readonly name: string; readonly tally: PlayerTally }>();
  readonly #versions = new Set<string>();
  readonly #worlds = new Set<string>();

  add(episode: TrajectoryEpisode): void {
    const { teacher, model, objective, oracle } = episode;
    // Two may be called the same once their names are made to fit.
    const key = JSON.stringify([teacher, model, objective, oracle]);
    const player = this.#players.get(key) ?? { name: nameOf(episode), tally: new PlayerTally() };
    this.#players.set(key, player);
    player.tally.add(episode);
    this.#versions.add(episode.version);
    this.#worlds.add(episode.world_digest);
  }

  get empty(): boolean {
    return this.#players.size === 0;
  }

  get versions(): readonly string[] {
    return [...this.#versions];
  }

  get worlds(): readonly string[] {
    return [...this.#worlds];
  }

  players(source: string): ReportedPlayer[] {
    return madeUnique([...this.#players.values()]).map(({ name, tally }) => ({
      source,
      name,
      ...tally.summary(),
    }));
  }
}
