/** The work of `rhythm-vec teach`: a file of trajectories, whole or not there. */
import type { SeedRange } from '../evaluate/conditions.js';
import { type TeachOptions, teach } from '../teach/teach.js';
import { episodeLine } from '../trajectory/line.js';
import { readGrader } from './grader-file.js';
import { checkEngineOptions, type EngineOptions } from './options.js';
import { checkOutput, openOutput } from './output-file.js';
import { createProgress } from './progress.js';

export interface TeachCommandOptions
  extends EngineOptions,
    Pick<TeachOptions, 'teacher' | 'variant' | 'objective' | 'profiles'> {
  readonly seeds: SeedRange;
  readonly grader: string;
  readonly output: string;
}

/** @throws UsageError for a path; InputError for names; the signal's reason. */
export async function runTeach(options: TeachCommandOptions, signal: AbortSignal): Promise<void> {
  checkEngineOptions(options);
  checkOutput('--output', options.output);
  const grader = await readGrader(options.grader);
  const output = await openOutput(options.output);
  const progress = createProgress('steps');
  let episodes = 0;
  try {
    for await (const some of teach({ ...options, grader, signal, onProgress: progress.update })) {
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
  process.stderr.write(`${episodes} ${episodes === 1 ? 'episode' : 'episodes'} in ${options.output}.\n`);
}
