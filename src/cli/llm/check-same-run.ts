/** Checks that a stored episode has the player, grader and settings of this command. */
import type { Grader } from '../../engine/graders/grader.js';
import { systemText } from '../../rollouts/text/prompt-text.js';
import {
  type Player,
  type Sampling,
  type TrajectoryEpisode,
  teacherName,
} from '../../rollouts/trajectories/trajectory-episode.js';
import { describe } from '../../shared/values.js';
import { UsageError } from '../command-errors.js';

/** What all episodes of a file must have in common with this command. */
export interface Run {
  readonly player: Player;
  readonly grader: Grader;
  readonly sampling: Sampling;
  /** The option that names the file. Default --output. */
  readonly output?: string;
}

/** The remedy for most settings. */
const ORIGINAL = 'Pass the original setting';

/**
 * Returns a check that throws UsageError for an episode of another player or with other settings. Its second argument is the
 * file and line of the episode.
 */
export function checkSameRun({ player, grader, sampling, output = '--output' }: Run) {
  return (episode: TrajectoryEpisode, place: string): void => {
    const compare = (what: string, expected: string | null, got: string | null, remedy = ORIGINAL): void => {
      if (expected === got) return;
      const same = 'a file holds the episodes of one model with one setting';
      throw new UsageError(
        `Expected ${what} of ${place} to be ${describe(expected)}, got ${describe(got)}: ${same}. ${remedy}, or pass ` +
          `another ${output}.`,
      );
    };
    compare('the policy', teacherName(player), teacherName(episode));
    compare('--grader', json(grader.name, grader.weights), json(episode.grader.name, episode.grader.weights));
    compare('sampling', json(sampling), json(episode.sampling ?? null));
    compare(
      'the system message',
      systemText(grader),
      episode.system,
      'Make the file again with this release',
    );
  };
}

const json = (...values: unknown[]): string => values.map((value) => JSON.stringify(value)).join(' ');
