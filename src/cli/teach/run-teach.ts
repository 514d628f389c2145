/** The work of `rhythm-vec teach`, for all teachers. */

import { evalSeedsIn, rangeText } from '../../training/datasets/dataset-seeds.js';
import type { SeedRange } from '../../world/conditions.js';
import { UsageError } from '../failure.js';
import { readGrader } from '../files/grader-file.js';
import { checkOutputs } from '../files/output-places.js';
import { journalFiles } from '../llm/journal.js';
import { LLM_FLAGS } from '../llm/llm-options.js';
import { checkEngineOptions } from '../shared-options.js';
import { type LlmTeachOptions, teachByLlm } from './teach-llm.js';
import { type PlannerTeachOptions, teachByPlanner } from './teach-planner.js';

export interface TeachCommandOptions extends PlannerTeachOptions, LlmTeachOptions {
  readonly teacher: 'planner' | 'llm';
  readonly grader: string;
}

/** Options that only one teacher has, as they are written on the command line. */
const TEACHER_OPTIONS = {
  planner: { objective: '--objective', variant: '--variant' },
  llm: { model: '--model', ...LLM_FLAGS },
} as const;

/**
 * Checks the options and runs the teacher.
 * @throws UsageError for paths and options; InputError for names; the errors of the teachers; the signal's reason.
 */
export async function runTeach(options: TeachCommandOptions, signal: AbortSignal): Promise<void> {
  refuseOtherOptions(options);
  checkEngineOptions(options);
  const workFiles = options.teacher === 'llm' ? journalFiles(options.output) : [];
  checkOutputs([{ option: '--output', path: options.output, workFiles }], options.grader);
  const grader = await readGrader(options.grader);
  noteEvalSeeds(options.seeds);
  await (options.teacher === 'llm' ? teachByLlm : teachByPlanner)(options, grader, signal);
}

function refuseOtherOptions(options: TeachCommandOptions): void {
  const other = options.teacher === 'llm' ? 'planner' : 'llm';
  for (const [name, flag] of Object.entries(TEACHER_OPTIONS[other])) {
    if (options[name as keyof TeachCommandOptions] === undefined) continue;
    throw new UsageError(
      `Expected no ${flag} with --teacher ${options.teacher}, got one. Omit it, or pass --teacher ${other}.`,
    );
  }
}

/** Prints a note on seeds that are kept for evaluation, before the work, so that the user can choose others. */
function noteEvalSeeds(seeds: SeedRange): void {
  const evalSeeds = evalSeedsIn(seeds).map(rangeText);
  if (evalSeeds.length === 0) return;
  process.stderr.write(
    `note: seeds ${evalSeeds.join(' and ')} are kept for evaluation: dataset sft refuses them by default.\n`,
  );
}
