/** What files of results hold, file after file: all that a report is made of. */
import { counted } from '../evaluate/figures.js';
import type { TrajectoryEpisode } from '../trajectory/episode.js';
import { costsOfEvaluation, type ReportedCost, withoutKnown } from './costs.js';
import { madeUnique, nameOf } from './names.js';
import { type PlayerSummary, PlayerTally } from './player-tally.js';
import { type AuditResult, type Engine, engineOf, type Result } from './results.js';
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
  readonly run: Engine | null;
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

/** What of a source its rows say. */
type Content = Pick<Source, 'graders' | 'seeds' | 'episodes'>;

/** Takes files one after the other. */
export class ResultGatherer {
  readonly #sources: Source[] = [];
  readonly #scores: ScoreRow[] = [];
  readonly #players: ReportedPlayer[] = [];
  readonly #audits: ReportedAudit[] = [];
  readonly #costs: ReportedCost[] = [];

  /** A file of one value. */
  addResult(label: string, result: Result): void {
    const { kind, value } = result;
    const made = { versions: [value.version], worlds: [value.world_digest], run: engineOf(result) };
    this.#sources.push({ label, kind, ...made, ...this.#take(label, result), remark: remarkOn(result) });
  }

  #take(label: string, { kind, value }: Result): Content {
    if (kind === 'audit') return this.#addAudit(label, value);
    if (kind === 'reevaluation') return this.#addScores(scoresOfReevaluation(label, value));
    this.#costs.push(...costsOfEvaluation(label, value));
    return this.#addScores(scoresOfEvaluation(label, value));
  }

  #addAudit(source: string, audit: AuditResult): Content {
    this.#audits.push({ source, audit });
    const { grader, seeds } = audit;
    return {
      graders: [grader],
      seeds: [`fresh ${seeds.fresh}`, `persons ${seeds.persons}`],
      episodes: null,
    };
  }

  #addScores(scores: readonly ScoreRow[]): Content {
    this.#scores.push(...scores);
    return {
      graders: unique(scores.map(({ grader }) => grader)),
      seeds: unique(scores.map(({ condition, seeds }) => `${condition} ${seeds}`)),
      episodes: scores.reduce((sum, { episodes }) => sum + episodes, 0),
    };
  }

  /** A file of episodes, complete. */
  addTrajectories(label: string, file: TrajectoryTally, remark: string): void {
    const players = file.players(label);
    this.#players.push(...players);
    const content = this.#addScores(
      players.flatMap(({ name, scores }) => scoresOfPlayer(label, name, scores)),
    );
    const made = { versions: file.versions, worlds: file.worlds, run: null };
    this.#sources.push({ label, kind: 'trajectories', ...made, ...content, remark });
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

function remarkOn({ kind, value }: Result): string {
  const mismatched = kind === 'reevaluation' ? value.mismatched_episodes : 0;
  return mismatched === 0 ? '' : `${counted(mismatched, 'episode')} NOT AS RECORDED`;
}

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
