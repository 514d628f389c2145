/**
 * Keeps the episodes that `eval` and `teach` play, until all are finished: those of language models in a journal
 * (journal.ts), others in a file that grows (episode-file.ts).
 */

import type { AnswerLog } from '../../agents/llm/language-model.js';
import { type Grader, isSameGrader } from '../../engine/graders/grader.js';
import type { RunResult } from '../../engine/vec-env/vec-env-options.js';
import type { StoredResults } from '../../evaluation/evaluate.js';
import { counted } from '../../evaluation/format-results.js';
import { playerOf } from '../../evaluation/play-policy.js';
import { systemText } from '../../rollouts/text/prompt-text.js';
import {
  type Player,
  type Sampling,
  type StoredFinal,
  type TrajectoryEpisode,
  teacherName,
} from '../../rollouts/trajectories/trajectory-episode.js';
import { episodeKey } from '../../rollouts/trajectories/trajectory-lines.js';
import type { RowFormat } from '../../shared/row-files/file-formats.js';
import { describe } from '../../shared/values.js';
import { packageVersion } from '../../shared/version.js';
import { type Condition, episodesOf } from '../../world/conditions.js';
import { COMPONENT_NAMES, NUM_COMPONENTS } from '../../world/fields.js';
import { UsageError } from '../command-errors.js';
import { checkKind, KINDS } from '../files/file-kind.js';
import { type Committable, isStream } from '../files/output-file.js';
import { partialOf } from '../files/paths.js';
import type { Spending } from '../llm/models.js';
import { openEpisodeFile } from './episode-file.js';
import type { EpisodeHead } from './growing-file.js';
import type { Journal } from './journal.js';

/** The episodes of a command: of each player under each condition, with one grader. */
export interface PlannedEpisodes {
  readonly conditions: readonly Pick<Condition, 'name' | 'parts'>[];
  readonly players: readonly Player[];
  readonly grader: Grader;
  /** The sampling of language models. */
  readonly sampling: Sampling;
  /** Whether stored episodes are played again, because a policy is from a file, which may have changed. Default: false. */
  readonly playsAgain?: boolean;
}

/** Where a command keeps its episodes, and the option that names the file. */
export interface StoreFile {
  readonly option: string;
  readonly path: string;
  readonly format: RowFormat;
}

/**
 * Refuses an existing output that is not a file of trajectories, and the standard output. @param user what needs a journal:
 * "a language model", or the option that names one. @throws UsageError.
 */
export function checkJournal(option: string, path: string, user: string): void {
  if (isStream(path)) {
    throw new UsageError(
      `Expected ${option} to name a file when ${user} is used, got ${path}. Paid episodes are kept beside that file. Name a file.`,
    );
  }
  checkKind(option, path, [KINDS.trajectories]);
}

/** Opens the journal of a command. @throws as `Journal.open`. */
export async function openJournal(
  { option, path, format }: StoreFile,
  planned: PlannedEpisodes,
): Promise<Journal> {
  const { Journal } = await import('./journal.js');
  return Journal.open({ option, path, format, ...planned, check: sameRunCheck(planned, option) });
}

/** The remedy for most settings. */
const ORIGINAL = 'Pass the original setting';

/**
 * Returns a check that throws UsageError for a stored episode of another player or with other settings. Its second argument is
 * the file and line of the episode.
 */
function sameRunCheck({ players, grader, sampling }: PlannedEpisodes, option: string) {
  const names = players.map(teacherName);
  return (episode: TrajectoryEpisode, place: string): void => {
    const compare = (what: string, expected: string | null, got: string | null, remedy = ORIGINAL): void => {
      if (expected === got) return;
      throw new UsageError(
        `Expected ${what} of ${place} to be ${describe(expected)}, got ${describe(got)}: a file holds the episodes of one ` +
          `command with one setting. ${remedy}, or pass another ${option}.`,
      );
    };
    const name = teacherName(episode);
    const expected = names.includes(name) ? name : names.join(',');
    compare('the policy', expected, name, 'Pass the policies of the earlier run');
    compare('--grader', grader.name, episode.grader.name);
    compare('the weights of --grader', json(grader.weights), json(episode.grader.weights));
    if (episode.model === null) return;
    compare('sampling', json(sampling), json(episode.sampling ?? null));
    compare(
      'the system message',
      systemText(grader),
      episode.system,
      'Make the file again with this release',
    );
  };
}

const json = (value: unknown): string => JSON.stringify(value);

/** Returns whether a command plays an episode. */
export const isPlanned = ({ conditions, players, grader }: PlannedEpisodes, episode: EpisodeHead): boolean =>
  players.some((player) => teacherName(player) === teacherName(episode)) &&
  isSameGrader(episode.grader, grader) &&
  conditions.some(
    ({ name, parts }) =>
      name === episode.condition &&
      parts.some(
        ({ profile, seeds: { first, last } }) =>
          profile === episode.profile_mode && episode.seed >= first && episode.seed <= last,
      ),
  );

/** Returns the keys of all episodes, in the order of conditions, players and seeds. */
export const keysOf = ({ conditions, players }: Pick<PlannedEpisodes, 'conditions' | 'players'>): string[] =>
  conditions.flatMap(({ name: condition, parts }) =>
    players.flatMap((player) =>
      parts.flatMap(({ profile: profile_mode, seeds: { first, last } }) =>
        Array.from({ length: last - first + 1 }, (_, i) =>
          episodeKey({ ...player, condition, profile_mode, seed: first + i }),
        ),
      ),
    ),
  );

/**
 * Returns a line about the episodes that are kept after an interruption. @param path of the unfinished file. @param all the
 * planned episodes, such as "6 episodes"; null if the same command plays them again. @param answers whether answers of an
 * unfinished episode are kept.
 */
export function keptText(path: string, kept: number, all: string | null, answers = false): string {
  if (all === null) return `The episodes so far are kept in ${path}, which reeval and report read.\n`;
  if (kept === 0 && !answers) return `None of ${all} was finished.\n`;
  const what = kept === 0 ? `Answers of ${all}` : `${kept} of ${all}`;
  return `${what} ${kept === 1 ? 'is' : 'are'} kept in ${path}; the same command resumes from there.\n`;
}

/** The store of an evaluation. */
export interface EpisodeStore extends Committable {
  /** What earlier runs spent and finished, and a callback that stores the amount spent; empty for a file. */
  readonly spending: Spending;
  /** The results of stored episodes of other policies. */
  readonly results?: StoredResults;
  /** The stored episodes of language models. */
  readonly played?: AsyncIterable<TrajectoryEpisode>;
  /** The answers of unfinished episodes of language models. */
  readonly answers?: AnswerLog;
  /** Stores episodes. Ignores episodes that it has already. */
  add(episodes: readonly TrajectoryEpisode[]): Promise<void>;
  /** Closes the store. Without a commit before, returns a line about the episodes that are kept; '' for none. */
  close(): Promise<string>;
}

/** Opens the store of an evaluation. @throws UsageError for stored episodes of another evaluation, which would be lost. */
export const openStore = (file: StoreFile, planned: PlannedEpisodes): Promise<EpisodeStore> =>
  planned.players.some(isModel) ? openJournalStore(file, planned) : openFileStore(file, planned);

/** Opens a store of episodes that can be computed again. It begins with those that an earlier run kept. */
async function openFileStore(
  { option, path, format }: StoreFile,
  planned: PlannedEpisodes,
): Promise<EpisodeStore> {
  const { conditions, players, playsAgain = false } = planned;
  const earlier: { readonly key: string; readonly final: StoredFinal }[] = [];
  const isOwn = (episode: EpisodeHead): boolean => {
    if (!playsAgain) earlier.push({ key: episodeKey(episode), final: episode.final });
    return isPlanned(planned, episode) && (playsAgain || episode.version === packageVersion());
  };
  const file = await openEpisodeFile(path, format, { option, isOwn, continues: !playsAgain });
  let stored = earlier.length;
  /** The number of earlier episodes that the evaluation has come to. */
  let used = 0;
  return {
    spending: {},
    results: {
      async resultsOf(policy, condition, { profile, seeds }) {
        const own = earlier.slice(used, used + seeds.length);
        const episode = { ...playerOf(policy), condition, profile_mode: profile };
        if (!seeds.every((seed, i) => own[i]?.key === episodeKey({ ...episode, seed }))) return null;
        used += own.length;
        return { result: resultOf(own.map(({ final }) => final)), trajectories: [] };
      },
    },
    add: async (episodes) => {
      const known = earlier.slice(used, used + episodes.length);
      const other = known.find(({ key }, i) => key !== episodeKey(episodes[i]));
      if (other !== undefined) {
        throw new UsageError(
          `Expected the episodes of ${partialOf(path)} in the order of this command, got ${other.key} too early. ` +
            `Read the file with reeval, move or remove it, or name another ${option}.`,
        );
      }
      used += known.length;
      stored += episodes.length - known.length;
      await file.write(episodes.slice(known.length));
    },
    finish: () => file.finish(),
    commit: () => file.commit(),
    close: async () => {
      const kept = await file.close();
      if (kept === null) return '';
      const all = players.length * conditions.reduce((sum, condition) => sum + episodesOf(condition), 0);
      return keptText(kept, stored, playsAgain ? null : counted(all, 'episode'));
    },
  };
}

/** Returns stored episodes as the result of a run, with only the fields that an evaluation reads. */
export function resultOf(finals: readonly StoredFinal[]): RunResult {
  const column = (name: keyof StoredFinal): Float32Array => Float32Array.from(finals, (final) => final[name]);
  const components = new Float32Array(finals.length * NUM_COMPONENTS);
  for (const [k, name] of COMPONENT_NAMES.entries()) {
    for (const [i, final] of finals.entries())
      components[i * NUM_COMPONENTS + k] = final[name as keyof StoredFinal];
  }
  return {
    components,
    finalScores: column('final_score'),
    beliefMae: column('belief_mae'),
    firstHalfMeans: column('early_mean'),
    secondHalfMeans: column('late_mean'),
  } as RunResult;
}

/** Opens a store that keeps episodes after an interruption, so that no language model plays them again. */
async function openJournalStore(file: StoreFile, planned: PlannedEpisodes): Promise<EpisodeStore> {
  const journal = await openJournal(file, planned);
  const { conditions, players } = planned;
  const modelKeys = keysOf({ conditions, players: players.filter(isModel) });
  const { spent, finished, answers } = journal;
  const has = (key: string): boolean => journal.has(key);
  let isCommitted = false;
  return {
    spending: { spent, finished, onSpend: (dollars) => journal.noteSpent(dollars) },
    played: journal.read(modelKeys),
    answers,
    add: async (episodes) => {
      for (const episode of episodes) if (!has(episodeKey(episode))) await journal.append(episode);
    },
    finish: () => journal.finish(keysOf(planned)),
    commit: async () => {
      await journal.commit();
      isCommitted = true;
    },
    close: async () => {
      await journal.close();
      const all = `${modelKeys.length} episodes of language models`;
      const kept = modelKeys.filter(has).length;
      return isCommitted ? '' : keptText(journal.partialPath, kept, all, answers.size > 0);
    },
  };
}

const isModel = ({ model }: Player): boolean => model !== null;
