/**
 * Runs `rhythm-vec teach` with a built-in policy or the user's module: writes trajectories as Parquet, to a file or to the
 * standard output.
 */

import { type Grader, isSameGrader } from '../../engine/graders/grader.js';
import { playerOf } from '../../evaluation/choose-policies.js';
import { counted } from '../../evaluation/format-results.js';
import type { CompactEpisode } from '../../rollouts/trajectories/compact-episode.js';
import { episodeKey } from '../../rollouts/trajectories/trajectory-lines.js';
import type { RowFormat } from '../../shared/row-files/file-formats.js';
import { packageVersion } from '../../shared/version.js';
import { teach, teacherNamed } from '../../training/teaching/policy-teacher.js';
import { CUSTOM } from '../../world/conditions.js';
import { NUM_STEPS } from '../../world/fields.js';
import { earlierEpisodes } from '../files/earlier-episodes.js';
import { openEpisodeFile } from '../files/episode-file.js';
import { keptText } from '../llm/journal.js';
import { createProgress } from '../progress.js';
import type { PolicyTeachOptions } from './teach-lines.js';

/** Plays episodes with a policy and writes them. A built-in policy continues after the episodes of `OUTPUT.partial`. */
export async function teachTable(
  options: PolicyTeachOptions,
  grader: Grader,
  format: RowFormat,
  signal: AbortSignal,
): Promise<void> {
  const { seeds, output } = options;
  const total = seeds.last - seeds.first + 1;
  const file = await openEpisodeFile(output, format, { engine: options, partial: 'publish' });
  const progress = createProgress('steps');
  let episodes = 0;
  try {
    for await (const earlier of earlierOf(options, grader)) {
      await file.writeCompact(earlier);
      episodes += earlier.length;
    }
    // From here on OUTPUT.partial is this run's file.
    await file.publish();
    const rest = { ...options, seeds: { first: seeds.first + episodes, last: seeds.last } };
    const before = episodes * NUM_STEPS;
    const onProgress = (done: number): void => progress.update(before + done, total * NUM_STEPS);
    for await (const batch of teach({ ...rest, grader, signal, onProgress })) {
      await file.write(batch);
      episodes += batch.length;
    }
    signal.throwIfAborted();
    await file.commit();
  } finally {
    progress.stop();
    const kept = await file.close();
    if (kept !== null) process.stderr.write(keptText(kept, episodes, counted(total, 'episode')));
  }
  if (output === '-') return;
  process.stderr.write(`${counted(total, 'episode')} in ${output}.\n`);
}

/** Yields the episodes of an unfinished file. @throws UsageError if they are not the first episodes of this run. */
async function* earlierOf(
  { policy, seeds, profiles, output }: PolicyTeachOptions,
  grader: Grader,
): AsyncGenerator<CompactEpisode[]> {
  // If the policy is the user's module, earlier episodes are refused, because the module may have changed.
  const player = typeof policy === 'string' ? playerOf(teacherNamed(policy)) : null;
  const start = { condition: CUSTOM, profile_mode: profiles };
  yield* earlierEpisodes({
    option: '--output',
    path: output,
    isOwn: (compact, index) =>
      player !== null &&
      episodeKey(compact) === episodeKey({ ...player, ...start, seed: seeds.first + index }) &&
      compact.seed <= seeds.last &&
      compact.version === packageVersion() &&
      isSameGrader(compact.grader, grader),
  });
}
