/** Reads the stored episodes that a student clones. */

import type { TrajectoryEpisode } from '../../rollouts/trajectories/trajectory-episode.js';
import { BadEpisode } from '../../rollouts/trajectories/trajectory-lines.js';
import type { Played } from '../../training/student/episodes.js';
import { ACTION_NAMES } from '../../world/fields.js';
import { UsageError } from '../command-errors.js';
import { checkTrajectories, readTrajectories } from '../files/trajectory-files.js';
import type { EngineOptions } from '../shared-options.js';

/**
 * Returns the episodes of --jsonl in order.
 * @throws UsageError for invalid files and lines, and for refused episodes; the signal's reason.
 */
export async function readStored(
  paths: readonly string[],
  engine: EngineOptions,
  signal: AbortSignal,
): Promise<Played> {
  checkTrajectories('--jsonl', paths);
  const [seeds, actions]: [number[], number[]] = [[], []];
  for await (const { place, episode } of readTrajectories(paths, { signal, engine })) {
    if (episode instanceof BadEpisode) refuse(place, 'a valid episode', episode.message);
    checkEpisode(place, episode);
    seeds.push(episode.seed);
    actions.push(...episode.steps.map(({ action }) => ACTION_NAMES.indexOf(action)));
  }
  return { seeds: Uint32Array.from(seeds), actions: Uint8Array.from(actions) };
}

/** Refuses episodes of oracles, and episodes without a sampled profile. @throws UsageError. */
function checkEpisode(place: string, { oracle, profile_mode: mode }: TrajectoryEpisode): void {
  if (oracle) refuse(place, 'an episode of a policy that sees only observations', 'one of an oracle');
  if (mode !== 'sampled') refuse(place, 'an episode with a sampled profile', `profile_mode ${mode}`);
}

function refuse(place: string, expected: string, got: string): never {
  throw new UsageError(
    `Expected ${place} to be ${expected}, got ${got.replace(/\.$/, '')}. Leave the line out.`,
  );
}
