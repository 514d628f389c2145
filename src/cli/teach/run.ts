/** The work of `rhythm-vec teach`, whoever teaches. */

import type { SeedRange } from '../../conditions.js';
import { evalSeedsIn, rangeText } from '../../dataset/seeds.js';
import { UsageError } from '../failure.js';
import { readGrader } from '../files/grader-file.js';
import { checkOutputs } from '../files/output-places.js';
import { journalFiles } from '../llm/journal.js';
import { LLM_FLAGS } from '../llm/options.js';
import { checkEngineOptions } from '../options.js';
import { type LlmTeachOptions, teachByLlm } from './llm.js';
import { type PlannerTeachOptions, teachByPlanner } from './planner.js';

export interface TeachCommandOptions extends PlannerTeachOptions, LlmTeachOptions {
  readonly teacher: 'planner' | 'llm';
  readonly grader: string;
}

/** Options that one teacher knows and the other does not, as a caller writes them. */
const OWN = {
  planner: { objective: '--objective', variant: '--variant' },
  llm: { model: '--model', ...LLM_FLAGS },
} as const;

/** @throws UsageError for paths and options; InputError for names; what the teachers throw; the signal's reason. */
export async function runTeach(options: TeachCommandOptions, signal: AbortSignal): Promise<void> {
  refuseOthers(options);
  checkEngineOptions(options);
  const meanwhile = options.teacher === 'llm' ? journalFiles(options.output) : [];
  checkOutputs([{ option: '--output', path: options.output, meanwhile }], options.grader);
  const grader = await readGrader(options.grader);
  noteEvalSeeds(options.seeds);
  await (options.teacher === 'llm' ? teachByLlm : teachByPlanner)(options, grader, signal);
}

function refuseOthers(options: TeachCommandOptions): void {
  const other = options.teacher === 'llm' ? 'planner' : 'llm';
  for (const [name, flag] of Object.entries(OWN[other])) {
    if (options[name as keyof TeachCommandOptions] === undefined) continue;
    throw new UsageError(
      `Expected no ${flag} with --teacher ${options.teacher}, got one. Leave it out, or pass --teacher ${other}.`,
    );
  }
}

/** Said before the work, not after it: whoever means to train on these weeks can still choose others. */
function noteEvalSeeds(seeds: SeedRange): void {
  const held = evalSeedsIn(seeds).map(rangeText);
  if (held.length === 0) return;
  process.stderr.write(
    `note: seeds ${held.join(' and ')} are kept for evaluation: dataset sft takes none of their weeks, unless told to.\n`,
  );
}
