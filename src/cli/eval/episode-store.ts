/** Stores the episodes of `rhythm-vec eval`: in a file that is written atomically, or in a journal of paid episodes. */

import { type Grader, isSameGrader } from '../../engine/graders/grader.js';
import { teacherName } from '../../rollouts/trajectories/player-name.js';
import type { Player, Sampling, TrajectoryEpisode } from '../../rollouts/trajectories/trajectory-episode.js';
import { episodeKey, episodeLine } from '../../rollouts/trajectories/write-line.js';
import { type Condition, episodesOf } from '../../world/conditions.js';
import { UsageError } from '../command-errors.js';
import { openOutput } from '../files/output-file.js';
import { checkSameRun } from '../llm/check-same-run.js';
import { Journal, keptText } from '../llm/journal.js';
import type { Spending } from '../llm/llm-options.js';

/** A store of an evaluation's episodes. */
export interface EpisodeStore {
  /** The amount that earlier runs spent. */
  readonly spending: Spending;
  /** The stored episodes of language models. */
  readonly played?: AsyncIterable<TrajectoryEpisode>;
  add(episodes: readonly TrajectoryEpisode[]): Promise<void>;
  /** Moves the finished file to its place. */
  commit(): Promise<void>;
  /** Closes the store without a commit. Does nothing after `commit`. */
  discard(): Promise<void>;
  /** Returns a line about the episodes kept for the next run; '' for none. */
  keptText(): string;
}

/** The conditions, players and grader of an evaluation. */
export interface Evaluated {
  readonly conditions: readonly Condition[];
  readonly players: readonly Player[];
  readonly grader: Grader;
}

/** The maximum number of episodes of a file, about 2 GB. */
const MAX_EPISODES = 100_000;

/** Refuses an evaluation of more than MAX_EPISODES. @throws UsageError. */
export function checkEpisodeCount({ conditions, players }: Evaluated): void {
  const perPolicy = conditions.reduce((sum, condition) => sum + episodesOf(condition), 0);
  const episodes = perPolicy * players.length;
  if (episodes <= MAX_EPISODES) return;
  throw new UsageError(
    `Expected at most ${MAX_EPISODES} episodes with --trajectories, got ${episodes} (${players.length} policies, ${perPolicy} ` +
      'episodes each). An episode takes about 18 kB: name fewer --seeds or --policies, or store --components.',
  );
}

/** Opens a store that writes the whole file or nothing, for episodes that can be computed again. */
export async function openFileStore(path: string): Promise<EpisodeStore> {
  const output = await openOutput(path);
  return {
    spending: {},
    add: (episodes) => output.write(episodes.map(episodeLine).join('')),
    commit: () => output.commit(),
    discard: () => output.discard(),
    keptText: () => '',
  };
}

/**
 * Opens a store that saves each episode as soon as it ends, so that an interrupted evaluation resumes where it stopped.
 * @throws UsageError for stored episodes of another evaluation.
 */
export async function openJournalStore(
  path: string,
  evaluated: Evaluated,
  sampling: Sampling,
): Promise<EpisodeStore> {
  const option = '--trajectories';
  const journal = await Journal.open({ path, option, check: checkOf(evaluated, sampling, option) });
  const keysOf = (players: readonly Player[]): string[] => keysIn({ ...evaluated, players });
  const modelKeys = keysOf(evaluated.players.filter(isModel));
  const { spent, finished } = journal;
  const has = (key: string): boolean => journal.has(key);
  return {
    spending: { spent, finished, onSpend: (dollars) => journal.noteSpent(dollars) },
    played: journal.read(modelKeys),
    add: async (episodes) => {
      for (const episode of episodes) if (!has(episodeKey(episode))) await journal.append(episode);
    },
    commit: () => journal.finish(keysOf(evaluated.players)),
    discard: () => journal.close(),
    keptText: () =>
      keptText(
        journal.partialPath,
        modelKeys.filter(has).length,
        `${modelKeys.length} episodes of language models`,
      ),
  };
}

/** Returns the keys of all episodes, by condition, player and seed. */
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

/** Returns a check that accepts episodes of this evaluation's policies and grader, under any condition. */
function checkOf({ players, grader }: Evaluated, sampling: Sampling, output: string) {
  const known = new Map(players.map((player) => [teacherName(player), player]));
  return (episode: TrajectoryEpisode, place: string): void => {
    const player = known.get(teacherName(episode));
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
    `Expected --grader of ${place} to be ${grader.name}, got ${episode.grader.name}. Pass that grader, or another ${output}.`,
  );
}
