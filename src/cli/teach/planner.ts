/** `rhythm-vec teach --teacher planner`: a file of trajectories, whole or not there. */
import { counted } from '../../evaluate/figures.js';
import type { Grader } from '../../graders/grader.js';
import { type TeachOptions, teach } from '../../teach/planner.js';
import { episodeLine } from '../../trajectory/line.js';
import { openOutput } from '../files/output-file.js';
import type { EngineOptions } from '../options.js';
import { createProgress } from '../progress.js';

export interface PlannerTeachOptions
  extends EngineOptions,
    Pick<TeachOptions, 'objective' | 'profiles' | 'seeds'> {
  readonly variant?: string;
  readonly output: string;
}

/** @throws InputError for names; the signal's reason. */
export async function teachByPlanner(
  options: PlannerTeachOptions,
  grader: Grader,
  signal: AbortSignal,
): Promise<void> {
  const output = await openOutput(options.output);
  const progress = createProgress('steps');
  const { variant = 'planner' } = options;
  const how = { ...options, variant, grader, signal, onProgress: progress.update };
  let episodes = 0;
  try {
    for await (const some of teach({ ...how, teacher: 'planner' })) {
      await output.write(some.map(episodeLine).join(''));
      episodes += some.length;
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
