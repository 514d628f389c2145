/** Runs `rhythm-vec teach` with a policy of this package: writes trajectories to a file, atomically. */

import type { Grader } from '../../engine/graders/grader.js';
import { counted } from '../../evaluation/format-results.js';
import { episodeLine } from '../../rollouts/trajectories/write-line.js';
import { type TeachOptions, teach } from '../../training/teaching/planner-teacher.js';
import { openOutput } from '../files/output-file.js';
import { createProgress } from '../progress.js';
import type { EngineOptions } from '../shared-options.js';

export interface PlannerTeachOptions
  extends EngineOptions,
    Pick<TeachOptions, 'policy' | 'profiles' | 'seeds'> {
  readonly output: string;
}

/** Plays episodes with a policy and writes them. @throws InputError for names; the signal's reason. */
export async function teachByPlanner(
  options: PlannerTeachOptions,
  grader: Grader,
  signal: AbortSignal,
): Promise<void> {
  const output = await openOutput(options.output);
  const progress = createProgress('steps');
  let episodes = 0;
  try {
    for await (const batch of teach({ ...options, grader, signal, onProgress: progress.update })) {
      await output.write(batch.map(episodeLine).join(''));
      episodes += batch.length;
    }
    signal.throwIfAborted();
    await output.commit();
  } finally {
    progress.stop();
    await output.discard();
  }
  if (options.output === '-') return;
  process.stderr.write(`${counted(episodes, 'episode')} in ${options.output}.\n`);
}
