/** Checks that a stored episode is of the same player, grader and settings as this command's. */
import type { Grader } from '../../engine/graders/grader.js';
import { systemText } from '../../rollouts/text/system-message.js';
import { teacherName } from '../../rollouts/trajectories/player-name.js';
import type { Player, Sampling, TrajectoryEpisode } from '../../rollouts/trajectories/trajectory-episode.js';
import { describe } from '../../shared/values.js';
import { UsageError } from '../command-errors.js';

export interface Run {
  readonly player: Player;
  readonly grader: Grader;
  readonly sampling: Sampling;
  /** The option that names the file. Default --output. */
  readonly output?: string;
}

/** Returns a check that throws UsageError for an episode of another player or with other settings. */
export function checkSameRun({ player, grader, sampling, output = '--output' }: Run) {
  return (episode: TrajectoryEpisode, place: string): void => {
    const compare = (what: string, expected: string | null, got: string | null): void => {
      if (expected !== got) refuse(place, what, expected, got, output);
    };
    compare('the policy', teacherName(player), teacherName(episode));
    compare('--grader', json(grader.name, grader.weights), json(episode.grader.name, episode.grader.weights));
    compare('sampling', json(sampling), json(episode.sampling ?? null));
    compare("this release's system message", systemText(grader), episode.system);
  };
}

const json = (...values: unknown[]): string => values.map((value) => JSON.stringify(value)).join(' ');

function refuse(
  place: string,
  what: string,
  expected: string | null,
  got: string | null,
  output: string,
): never {
  throw new UsageError(
    `Expected ${what} of ${place} to be ${describe(expected)}, got ${describe(got)}: a file holds the episodes of one ` +
      `model with one setting. Pass the original setting, or another ${output}.`,
  );
}
