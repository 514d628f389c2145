/** The work of `rhythm-vec teach`: a file of trajectories, whole or not there. */
import { evalSeedsIn, rangeText } from '../dataset/seeds.js';
import type { SeedRange } from '../evaluate/conditions.js';
import { type TeachOptions, teach } from '../teach/teach.js';
import { episodeLine } from '../trajectory/line.js';
import { checkNotGrader, readGrader } from './grader-file.js';
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
  checkNotGrader('--output', options.output, options.grader);
  const grader = await readGrader(options.grader);
  noteEvalSeeds(options.seeds);
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

/** Said before the work, not after it: whoever means to train on these weeks can still choose others. */
function noteEvalSeeds(seeds: SeedRange): void {
  const held = evalSeedsIn(seeds).map(rangeText);
  if (held.length === 0) return;
  process.stderr.write(
    `note: seeds ${held.join(' and ')} are kept for evaluation: dataset sft takes none of their weeks, unless told to.\n`,
  );
}
