/** Stores the episodes of `rhythm-vec eval`: in a file that is written atomically, or in a journal if language models play. */

import type { AnswerLog } from '../../agents/llm/language-model.js';
import { type Grader, isSameGrader } from '../../engine/graders/grader.js';
import type { CompactEpisode } from '../../rollouts/trajectories/compact-episode.js';
import {
  type Player,
  type Sampling,
  type TrajectoryEpisode,
  teacherName,
} from '../../rollouts/trajectories/trajectory-episode.js';
import { episodeKey } from '../../rollouts/trajectories/trajectory-lines.js';
import type { RowFormat } from '../../shared/row-files/file-formats.js';
import { type Condition, episodesOf } from '../../world/conditions.js';
import { UsageError } from '../command-errors.js';
import { earlierEpisodes } from '../files/earlier-episodes.js';
import { openEpisodeFile } from '../files/episode-file.js';
import type { Committable } from '../files/output-file.js';
import { checkSameRun } from '../llm/check-same-run.js';
import { Journal, keptText } from '../llm/journal.js';
import type { Spending } from '../llm/llm-options.js';
import { LINES } from '../shared-options.js';

/** A store of an evaluation's episodes. */
export interface EpisodeStore extends Committable {
  /** What earlier runs spent and finished, and a callback that stores the amount spent; empty for a file. */
  readonly spending: Spending;
  /** The stored episodes of language models. */
  readonly played?: AsyncIterable<TrajectoryEpisode>;
  /** The answers of unfinished episodes of language models. */
  readonly answers?: AnswerLog;
  /** Stores episodes. A journal ignores episodes that it has already. */
  add(episodes: readonly TrajectoryEpisode[]): Promise<void>;
  /**
   * Closes the store without a commit. Does nothing after `commit`.
   * @returns the path of an unfinished file that stays; null for none, and for a journal, which `keptText` describes.
   */
  close(): Promise<string | null>;
  /** Returns a line about the episodes that a journal keeps for the next run; '' for a file. */
  keptText(): string;
}

/** The conditions, players and grader of an evaluation. */
export interface Evaluated {
  readonly conditions: readonly Condition[];
  readonly players: readonly Player[];
  readonly grader: Grader;
}

/**
 * The maximum number of episodes in a file, by format. These files take 1.4 GB (JSON lines) and 0.8 GB (Parquet); with a
 * planner's reasons 3 GB and 22 GB.
 */
const MAX_EPISODES = { jsonl: 100_000, parquet: 10_000_000 };

/** Refuses an evaluation of more than MAX_EPISODES. @throws UsageError. */
export function checkEpisodeCount({ conditions, players }: Evaluated, format: RowFormat): void {
  const max = format === LINES ? MAX_EPISODES.jsonl : MAX_EPISODES.parquet;
  const perPolicy = conditions.reduce((sum, condition) => sum + episodesOf(condition), 0);
  const episodes = perPolicy * players.length;
  if (episodes <= max) return;
  throw new UsageError(
    `Expected at most ${max} episodes with --trajectories, got ${episodes} (${players.length} policies, ${perPolicy} ` +
      `episodes each). ${format === LINES ? 'An episode takes about 14 kB of JSON: add --format parquet, name' : 'Name'} fewer --seeds or --policies.`,
  );
}

/**
 * Opens a store of episodes that can be computed again. JSON lines are written whole or not at all; an unfinished Parquet
 * file is PATH.partial.
 * @throws UsageError if an unfinished file has episodes of another evaluation, which would be lost.
 */
export async function openFileStore(
  path: string,
  format: RowFormat,
  evaluated: Evaluated,
): Promise<EpisodeStore> {
  if (format !== LINES) await checkPartial(path, evaluated);
  const file = await openEpisodeFile(path, format);
  return {
    spending: {},
    add: (episodes) => file.write(episodes),
    finish: () => file.finish(),
    commit: () => file.commit(),
    close: () => file.close(),
    keptText: () => '',
  };
}

/** Checks that this evaluation computes all episodes of the unfinished file again. @throws UsageError. */
async function checkPartial(path: string, { conditions, players, grader }: Evaluated): Promise<void> {
  const names = new Set(players.map((player) => teacherName(player)));
  const isOwn = (episode: CompactEpisode): boolean =>
    names.has(teacherName(episode)) &&
    isSameGrader(episode.grader, grader) &&
    conditions.some(
      ({ name, parts }) => name === episode.condition && parts.some((part) => hasEpisode(part, episode)),
    );
  // Reading an episode checks it.
  for await (const _ of earlierEpisodes({ option: '--trajectories', path, isOwn }));
}

const hasEpisode = (
  { profile, seeds }: Condition['parts'][number],
  { profile_mode, seed }: CompactEpisode,
): boolean => profile === profile_mode && seed >= seeds.first && seed <= seeds.last;

/**
 * Opens a store that keeps episodes after an interruption, so that no language model plays them again.
 * @throws UsageError for stored episodes of another evaluation.
 */
export async function openJournalStore(
  path: string,
  format: RowFormat,
  evaluated: Evaluated,
  sampling: Sampling,
): Promise<EpisodeStore> {
  const option = '--trajectories';
  const { grader } = evaluated;
  const check = checkOf(evaluated, sampling, option);
  const journal = await Journal.open({ path, format, option, check, grader, sampling });
  const keysOf = (players: readonly Player[]): string[] => keysIn({ ...evaluated, players });
  const modelKeys = keysOf(evaluated.players.filter(isModel));
  const { spent, finished } = journal;
  const has = (key: string): boolean => journal.has(key);
  return {
    spending: { spent, finished, onSpend: (dollars) => journal.noteSpent(dollars) },
    played: journal.read(modelKeys),
    answers: journal.answers,
    add: async (episodes) => {
      for (const episode of episodes) if (!has(episodeKey(episode))) await journal.append(episode);
    },
    finish: () => journal.finish(keysOf(evaluated.players)),
    commit: () => journal.commit(),
    close: async () => {
      await journal.close();
      return null;
    },
    keptText: () =>
      keptText(
        journal.partialPath,
        modelKeys.filter(has).length,
        `${modelKeys.length} episodes of language models`,
        journal.answers.size > 0,
      ),
  };
}

/** Returns the keys of all episodes, in the order of conditions, players and seeds. */
const keysIn = ({ conditions, players }: Evaluated): string[] =>
  conditions.flatMap(({ name: condition, parts }) =>
    players.flatMap((player) =>
      parts.flatMap(({ profile: profile_mode, seeds: { first, last } }) =>
        Array.from({ length: last - first + 1 }, (_, i) =>
          episodeKey({ ...player, condition, profile_mode, seed: first + i }),
        ),
      ),
    ),
  );

const isModel = ({ model }: Player): boolean => model !== null;

/** Returns a check that throws UsageError for an episode of another evaluation. */
function checkOf({ players, grader }: Evaluated, sampling: Sampling, output: string) {
  const playersByName = new Map(players.map((player) => [teacherName(player), player]));
  return (episode: TrajectoryEpisode, place: string): void => {
    const player = playersByName.get(teacherName(episode));
    if (player === undefined) {
      throw new UsageError(
        `Expected episodes of this evaluation's policies in ${place}, got one of ${teacherName(episode)}. ` +
          `Pass the --policies of the earlier run, or another ${output}.`,
      );
    }
    if (isModel(player)) checkSameRun({ player, grader, sampling, output })(episode, place);
    else checkGrader(episode, grader, place, output);
  };
}

function checkGrader(episode: TrajectoryEpisode, grader: Grader, place: string, output: string): void {
  if (isSameGrader(episode.grader, grader)) return;
  throw new UsageError(
    `Expected --grader of ${place} to be ${grader.name}, got ${episode.grader.name}. Pass the grader of that file, or another ${output}.`,
  );
}
