/** Runs `rhythm-vec teach`, for all teachers. */

import type { Grader } from '../../engine/graders/grader.js';
import { MODEL_PREFIX, UserPolicy } from '../../evaluation/user-policy.js';
import type { RowFormat } from '../../shared/row-files/file-formats.js';
import { evalSeedsIn, rangeText } from '../../training/datasets/state-sampler.js';
import { DEFAULT_TEACHER, teacherNamed } from '../../training/teaching/policy-teacher.js';
import type { SeedRange } from '../../world/conditions.js';
import type { Context } from '../context.js';
import { checkOutputs } from '../files/check-outputs.js';
import { readGrader } from '../files/grader-file.js';
import { partialFiles } from '../files/partial-file.js';
import { isPolicyFile, pathOfPolicy, readPolicyFiles } from '../files/policy-file.js';
import { journalFiles } from '../llm/journal.js';
import { checkNoModelFlags } from '../llm/llm-options.js';
import { checkShardFormat, checkShardOutput } from '../shards/shard-file.js';
import { checkEngineOptions, formatOf, LINES } from '../shared-options.js';
import { type PolicyTeachOptions, teachLines } from './teach-lines.js';
import { type LlmTeachOptions, teachByLlm } from './teach-llm.js';
import { teachTable } from './teach-table.js';

export interface TeachCommandOptions
  extends Omit<PolicyTeachOptions, 'policy' | 'policyPath'>,
    Omit<LlmTeachOptions, 'model'> {
  /** A policy's name, or the path of a file that exports one. */
  readonly policy?: string;
  readonly grader: string;
  /** The value of --format. */
  readonly format?: string;
}

/**
 * Checks the options and runs the teacher.
 * @throws UsageError for unusable paths and options; InputError for unknown names; the errors of the teachers; the signal's
 * reason.
 */
export async function runTeach(options: TeachCommandOptions, context: Context): Promise<void> {
  const { signal } = context;
  const { policy = DEFAULT_TEACHER } = options;
  const model = policy.startsWith(MODEL_PREFIX) ? policy.slice(MODEL_PREFIX.length) : null;
  if (model === null) checkPolicy(policy, options);
  checkEngineOptions(options);
  const format = formatOf('--output', options.output, options.format) ?? LINES;
  if (options.shard !== undefined) checkShardFormat('--output', format);
  const workFiles = workFilesOf(options.output, format, model !== null);
  checkOutputs([{ option: '--output', path: options.output, workFiles }], options.grader);
  if (options.shard !== undefined) checkShardOutput('--output', options.output);
  const grader = await readGrader(options.grader);
  noteEvalSeeds(options.seeds);
  await (model === null
    ? teachByPolicy({ ...options, ...(await teacherOf(policy)) }, grader, format, signal)
    : teachByLlm({ ...options, model }, grader, format, context));
}

const teachByPolicy = (
  options: PolicyTeachOptions,
  grader: Grader,
  format: RowFormat,
  signal: AbortSignal,
): Promise<void> =>
  format === LINES ? teachLines(options, grader, signal) : teachTable(options, grader, format, signal);

/** Returns the paths of the temporary files beside the output. */
const workFilesOf = (output: string, format: RowFormat, isModel: boolean): string[] => {
  if (isModel) return journalFiles(output);
  return format === LINES || output === '-' ? [] : partialFiles(output);
};

/** Refuses unknown policies, and options of language models. @throws UsageError; InputError for unknown names. */
function checkPolicy(policy: string, options: TeachCommandOptions): void {
  if (!isPolicyFile(policy)) teacherNamed(policy);
  checkNoModelFlags(policy, options);
}

/** Returns the policy that a file exports, with the file's path. Returns the name of any other policy unchanged. */
async function teacherOf(policy: string): Promise<Pick<PolicyTeachOptions, 'policy' | 'policyPath'>> {
  if (!isPolicyFile(policy)) return { policy, policyPath: null };
  const [[name, exported]] = Object.entries(await readPolicyFiles([policy]));
  return { policy: new UserPolicy(name, exported), policyPath: pathOfPolicy(policy) };
}

/** Prints a note on seeds that are kept for evaluation, before the work, so that the user can choose others. */
function noteEvalSeeds(seeds: SeedRange): void {
  const evalSeeds = evalSeedsIn(seeds).map(rangeText);
  if (evalSeeds.length === 0) return;
  process.stderr.write(
    `note: seeds ${evalSeeds.join(' and ')} are kept for evaluation: dataset sft leaves them out by default.\n`,
  );
}
