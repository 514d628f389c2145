/** `rhythm-vec teach --teacher planner`: writes trajectories to an atomic file. */

import type { Grader } from '../../engine/graders/grader.js';
import { counted } from '../../evaluation/format-figures.js';
import { episodeLine } from '../../rollouts/trajectories/write-line.js';
import { type TeachOptions, teach } from '../../training/teaching/planner-teacher.js';
import { openOutput } from '../files/output-file.js';
import { createProgress } from '../progress.js';
import type { EngineOptions } from '../shared-options.js';

export interface PlannerTeachOptions
  extends EngineOptions,
    Pick<TeachOptions, 'objective' | 'profiles' | 'seeds'> {
  readonly variant?: string;
  readonly output: string;
}

/** Plays episodes with a planner and writes them. @throws InputError for names; the signal's reason. */
export async function teachByPlanner(
  options: PlannerTeachOptions,
  grader: Grader,
  signal: AbortSignal,
): Promise<void> {
  const output = await openOutput(options.output);
  const progress = createProgress('steps');
  const { variant = 'planner' } = options;
  const settings = { ...options, variant, grader, signal, onProgress: progress.update };
  let episodes = 0;
  try {
    for await (const batch of teach({ ...settings, teacher: 'planner' })) {
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
