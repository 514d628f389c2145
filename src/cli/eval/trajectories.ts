/** Where `rhythm-vec eval` keeps whole weeks: a file that is whole or not there, or a journal of those that are paid for. */
import { type Condition, episodesOf } from '../../conditions.js';
import { type Grader, isSameGrader } from '../../graders/grader.js';
import type { Player, Sampling, TrajectoryEpisode } from '../../trajectory/episode.js';
import { episodeKey, episodeLine } from '../../trajectory/line.js';
import { teacherName } from '../../trajectory/player-name.js';
import { UsageError } from '../failure.js';
import { openOutput } from '../files/output-file.js';
import { Journal, keptText } from '../llm/journal.js';
import type { Spending } from '../llm/options.js';
import { sameRun } from '../llm/same-run.js';

export interface KeptWeeks {
  /** What earlier runs have spent. */
  readonly spending: Spending;
  /** The weeks of language models that are there. */
  readonly played?: AsyncIterable<TrajectoryEpisode>;
  add(episodes: readonly TrajectoryEpisode[]): Promise<void>;
  /** Puts all of them in their place. */
  commit(): Promise<void>;
  /** Ends without that. Harmless after `commit`. */
  discard(): Promise<void>;
  /** What an evaluation that did not come to its end leaves, as a line; '' for nothing. */
  left(): string;
}

/** What is evaluated. */
export interface Evaluated {
  readonly conditions: readonly Condition[];
  /** As trajectories call them. */
  readonly players: readonly Player[];
  readonly grader: Grader;
}

/** What a file may have: some 2 GB. */
const MOST = 100_000;

/** @throws UsageError. */
export function checkFewEnough({ conditions, players }: Evaluated): void {
  const weeks = conditions.reduce((sum, condition) => sum + episodesOf(condition), 0);
  const episodes = weeks * players.length;
  if (episodes <= MOST) return;
  throw new UsageError(
    `Expected at most ${MOST} episodes with --trajectories, got ${episodes} (${players.length} policies, ${weeks} ` +
      'weeks each). An episode takes some 18 kB: name fewer --seeds or --policies, or store --components.',
  );
}

/** A file of weeks that can be played again: whole or not there. */
export async function keepTogether(path: string): Promise<KeptWeeks> {
  const output = await openOutput(path);
  return {
    spending: {},
    add: (episodes) => output.write(episodes.map(episodeLine).join('')),
    commit: () => output.commit(),
    discard: () => output.discard(),
    left: () => '',
  };
}

/**
 * A file whose weeks are kept as they end: an evaluation that was interrupted goes on where it stopped.
 * @throws UsageError for episodes that this evaluation would not have made.
 */
export async function keepInJournal(
  path: string,
  evaluated: Evaluated,
  sampling: Sampling,
): Promise<KeptWeeks> {
  const option = '--trajectories';
  const journal = await Journal.open({ path, option, check: checkOf(evaluated, sampling, option) });
  const keysOf = (players: readonly Player[]): string[] => keysIn({ ...evaluated, players });
  const asked = keysOf(evaluated.players.filter(isModel));
  const { spent, finished } = journal;
  const has = (key: string): boolean => journal.has(key);
  return {
    spending: { spent, finished, onSpend: (most) => journal.noteSpent(most) },
    played: journal.read(asked),
    add: async (episodes) => {
      for (const episode of episodes) if (!has(episodeKey(episode))) await journal.append(episode);
    },
    commit: () => journal.finish(keysOf(evaluated.players)),
    discard: () => journal.close(),
    left: () =>
      keptText(journal.partialPath, asked.filter(has).length, `${asked.length} episodes of language models`),
  };
}

/** By condition, player and seed. */
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

/** Lets pass an episode that this evaluation would make, of these conditions or another. */
function checkOf({ players, grader }: Evaluated, sampling: Sampling, output: string) {
  const known = new Map(players.map((player) => [teacherName(player), player]));
  return (episode: TrajectoryEpisode, place: string): void => {
    const player = known.get(teacherName(episode));
    if (player === undefined) {
      throw new UsageError(
        `Expected episodes of this evaluation's policies in ${place}, got one of ${teacherName(episode)}. ` +
          `Pass the --policies that it was made with, or another ${output}.`,
      );
    }
    if (isModel(player)) sameRun({ player, grader, sampling, output })(episode, place);
    else checkGrader(episode, grader, place, output);
  };
}

function checkGrader(episode: TrajectoryEpisode, grader: Grader, place: string, output: string): void {
  if (isSameGrader(episode.grader, grader)) return;
  throw new UsageError(
    `Expected --grader of ${place} to be ${grader.name}, got ${episode.grader.name}. Pass what it was made with, or another ${output}.`,
  );
}
