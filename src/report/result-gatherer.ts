/** Gathers the data of result files for a report, file by file. */
import type { GraderAnchors } from '../evaluation/audit/read-anchors.js';
import { bracketsOf, type GraderInUse, shareUnder } from '../evaluation/bracket.js';
import { counted } from '../evaluation/format-results.js';
import { type Yardstick, yardsticksOf } from '../evaluation/yardstick.js';
import { ORACLE_MARK, type TrajectoryEpisode } from '../rollouts/trajectories/trajectory-episode.js';
import { createWorld } from '../world/world.js';
import {
  type AuditResult,
  type Engine,
  engineOf,
  type Result,
  type TrainingResult,
} from './parse-results.js';
import { shortPlayerName, uniqueNames } from './player-names.js';
import { type PlayerSummary, PlayerTally } from './player-tally.js';
import {
  costsOfEvaluation,
  joinCosts,
  type ReportedCost,
  type ScoreRow,
  scoresOfEvaluation,
  scoresOfPlayer,
  scoresOfReevaluation,
  withoutRepeats,
} from './result-rows.js';

/** A file and its provenance. */
export interface Source {
  readonly label: string;
  readonly kind: Result['kind'] | 'trajectories';
  readonly versions: readonly string[];
  readonly worlds: readonly string[];
  readonly graders: readonly string[];
  /** Ranges of seeds, each after its condition or use, such as "ood 10000-10049". */
  readonly seeds: readonly string[];
  /** Null for an audit and a training. */
  readonly episodes: number | null;
  /** The engine that computed the results; null if unknown. */
  readonly engine: Engine | null;
  /** A note on omitted or doubtful data; '' for none. */
  readonly remark: string;
}

/** A player of a file of episodes. */
export interface ReportedPlayer extends PlayerSummary {
  readonly source: string;
  readonly name: string;
}

/** An audit, and the label of its file. */
export interface ReportedAudit {
  readonly source: string;
  readonly audit: AuditResult;
}

/** The data of all files of a report. */
export interface ReportData {
  readonly sources: readonly Source[];
  readonly scores: readonly ScoreRow[];
  readonly players: readonly ReportedPlayer[];
  readonly audits: readonly ReportedAudit[];
  readonly trainings: readonly TrainingResult[];
  readonly costs: readonly ReportedCost[];
  /** The anchors of each grader of the scores. The share of a score is its place between them (evaluation/bracket.ts). */
  readonly brackets: readonly GraderAnchors[];
  /**
   * By condition and grader, without those of files of changed worlds and of rows that all have verdicts
   * (evaluation/yardstick.ts).
   */
  readonly yardsticks: readonly Yardstick[];
}

const unique = <T>(values: Iterable<T>): T[] => [...new Set(values)];

/** The graders, seeds and number of episodes of a file. */
type Content = Pick<Source, 'graders' | 'seeds' | 'episodes'>;

/** Gathers files one after the other. */
export class ResultGatherer {
  readonly #sources: Source[] = [];
  readonly #scores: ScoreRow[] = [];
  readonly #players: ReportedPlayer[] = [];
  readonly #audits: ReportedAudit[] = [];
  readonly #trainings: TrainingResult[] = [];
  readonly #costs: ReportedCost[] = [];
  readonly #graders: GraderInUse[] = [];

  /** Adds a result file. @param label the name of the file. */
  addResult(label: string, result: Result): void {
    const { kind, value } = result;
    const origin = { versions: [value.version], worlds: [value.world_digest], engine: engineOf(result) };
    this.#sources.push({
      label,
      kind,
      ...origin,
      ...this.#addContent(label, result),
      remark: remarkOn(result),
    });
  }

  #addContent(label: string, { kind, value }: Result): Content {
    if (kind === 'training') {
      this.#trainings.push(value);
      return { graders: [], seeds: [], episodes: null };
    }
    if (kind === 'audit') return this.#addAudit(label, value);
    if (kind === 'reevaluation') return this.#addScores(scoresOfReevaluation(label, value));
    this.#costs.push(...costsOfEvaluation(label, value));
    this.#graders.push({ name: value.grader, weights: value.grader_weights });
    return this.#addScores(scoresOfEvaluation(label, value));
  }

  #addAudit(source: string, audit: AuditResult): Content {
    this.#audits.push({ source, audit });
    const { grader, seeds } = audit;
    return {
      graders: [grader],
      seeds: [`fresh ${seeds.fresh}`, `profiles ${seeds.profiles}`],
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

  /** Adds a file of episodes. @param tally the tally of all its episodes. */
  addTrajectories(label: string, tally: TrajectoryTally, remark: string): void {
    const players = tally.players(label);
    this.#players.push(...players);
    const content = this.#addScores(
      players.flatMap(({ name, scores }) => scoresOfPlayer(label, name, scores)),
    );
    const origin = { versions: tally.versions, worlds: tally.worlds, engine: null };
    this.#sources.push({ label, kind: 'trajectories', ...origin, ...content, remark });
  }

  /** The graders of evaluations, with weights; then the graders of all scores, without weights. */
  get graders(): readonly GraderInUse[] {
    return [...this.#graders, ...unique(this.#scores.map(({ grader }) => grader)).map((name) => ({ name }))];
  }

  /** Returns the data of all files. @param own anchors to use instead of the shipped anchors of their grader. */
  data(own: GraderAnchors | null = null): ReportData {
    const { digest } = createWorld();
    const brackets = bracketsOf(unique(this.#scores.map(({ grader }) => grader)), digest, own);
    // Rows of evaluations and re-evaluations go first, because `withoutRepeats` removes later rows that repeat them.
    const scores = [...this.#scores].sort((a, b) => Number(a.fromEpisodes) - Number(b.fromEpisodes));
    const rows = withoutRepeats(scores);
    const comparable = rows.filter((row) => this.#isOfWorld(row, digest));
    return {
      sources: this.#sources,
      scores: rows.map((row) => ({
        ...row,
        share: comparable.includes(row) ? shareUnder(brackets, row.grader, row) : null,
      })),
      players: this.#players,
      audits: this.#audits,
      trainings: this.#trainings,
      costs: joinCosts(this.#costs, this.#players),
      brackets,
      yardsticks: yardsticksOf(
        comparable.map((row) => ({
          ...row,
          weights: this.#graders.find(({ name }) => name === row.grader)?.weights,
          oracle: row.name.includes(ORACLE_MARK),
        })),
        digest,
      ).filter((yardstick) => comparable.some((row) => row.verdict == null && isIn(yardstick, row))),
    };
  }

  /** Returns whether the file of a row is of the world with this digest. */
  #isOfWorld(row: ScoreRow, digest: string): boolean {
    const worlds = this.#sources.filter(({ label }) => label === row.source).flatMap(({ worlds }) => worlds);
    return worlds.every((world) => world === digest);
  }
}

/** Returns whether a yardstick is that of a row's episodes. */
const isIn = (yardstick: Yardstick, row: ScoreRow): boolean =>
  (['grader', 'condition', 'seeds', 'profiles', 'episodes'] as const).every(
    (field) => yardstick[field] === row[field],
  );

function remarkOn({ kind, value }: Result): string {
  const mismatched = kind === 'reevaluation' ? value.mismatched_episodes : 0;
  return mismatched === 0 ? '' : `${counted(mismatched, 'episode')} NOT AS RECORDED`;
}

/** Accumulates the episodes of a file, by player. */
export class TrajectoryTally {
  readonly #players = new Map<string, { readonly name: string; readonly tally: PlayerTally }>();
  readonly #versions = new Set<string>();
  readonly #worlds = new Set<string>();

  add(episode: TrajectoryEpisode): void {
    const { teacher, model, objective, oracle } = episode;
    // Names are shortened, so two players may have the same name.
    const key = JSON.stringify([teacher, model, objective, oracle]);
    const player = this.#players.get(key) ?? { name: shortPlayerName(episode), tally: new PlayerTally() };
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

  /** Returns the players with unique names. @param source the label of the file. */
  players(source: string): ReportedPlayer[] {
    return uniqueNames([...this.#players.values()]).map(({ name, tally }) => ({
      source,
      name,
      ...tally.summary(),
    }));
  }
}
