/** `rhythm-vec queue submit`: adds a job to the queue. */
import type { Command } from 'commander';
import { addAuditOptions } from '../audit/command.js';
import { addGrpoOptions } from '../dataset/grpo-command.js';
import { addEvalOptions } from '../eval/command.js';
import { addLlmOptions } from '../llm/llm-options.js';
import { parseInteger } from '../shared-options.js';
import { addTeachOptions } from '../teach/command.js';
import { addQueueOptions } from './queue-options.js';
import type {
  AuditSubmitOptions,
  EvalSubmitOptions,
  GrpoSubmitOptions,
  TeachSubmitOptions,
} from './run-submit.js';
import { SHARD_SIZES, type ShardSizes } from './shard-sizes.js';

const HELP = `
Takes the options of the submitted command, such as teach, except those for its output, backend and threads. The last line of
the output is the job's name, which depends only on the job. Until a job is collected or cancelled, submitting it again changes
--budget, --requests-per-minute, --base-url, --concurrency, --timeout and --retries, and failed shards are tried again.

Examples:
  rhythm-vec queue submit teach --seeds 100-1099
  rhythm-vec queue submit eval --policies heuristic+constant,planner --conditions ood
  rhythm-vec queue submit dataset grpo --rows 100000 --profiles mix
  rhythm-vec queue submit audit --grader v3
  rhythm-vec queue submit teach --policy planner --seeds 100-9999 --shard-size 16 --priority 10
`;

const addSubmitOptions = (command: Command, { unit, least, most, defaultSize }: ShardSizes): Command =>
  addQueueOptions(command)
    .option('--shard-size <n>', `${unit} of a shard, ${least} to ${most}`, parseInteger, defaultSize)
    .option('--priority <n>', '1 to 1000; jobs with a lower number go first', parseInteger, 100)
    .option(
      '--again',
      'compute collected results again, because their file was lost, and pay again for those of a language model',
    );

const addModelOptions = (command: Command): Command =>
  addLlmOptions(command).option(
    '--requests-per-minute <n>',
    'requests to a language model in any 60 seconds, of all workers together (default: no limit)',
    parseInteger,
  );

export function addSubmitCommand(queue: Command): void {
  const command = queue
    .command('submit')
    .description('Submit a job: "submit teach", "submit eval", "submit audit" or "submit dataset grpo".')
    .addHelpText('after', HELP);
  addSubmitOptions(addModelOptions(addTeachOptions(command.command('teach'))), SHARD_SIZES.teach)
    .description('Submit a job that does what "rhythm-vec teach" does.')
    .action(async (options: TeachSubmitOptions) => {
      const { submitTeach } = await import('./run-submit.js');
      await submitTeach(options);
    });
  addSubmitOptions(addModelOptions(addEvalOptions(command.command('eval'))), SHARD_SIZES.eval)
    .description('Submit a job that does what "rhythm-vec eval --trajectories" does.')
    .action(async (options: EvalSubmitOptions) => {
      const { submitEval } = await import('./run-submit.js');
      await submitEval(options);
    });
  addSubmitOptions(addAuditOptions(command.command('audit')), SHARD_SIZES.audit)
    .description('Submit a job that does what "rhythm-vec audit --json" does, without policies from files.')
    .action(async (options: AuditSubmitOptions) => {
      const { submitAudit } = await import('./run-submit.js');
      await submitAudit(options);
    });
  const dataset = command
    .command('dataset')
    .description('Submit a job that makes rows to train on: "submit dataset grpo".');
  addSubmitOptions(addGrpoOptions(dataset.command('grpo')), SHARD_SIZES.dataset)
    .description('Submit a job that does what "rhythm-vec dataset grpo" does.')
    .action(async (options: GrpoSubmitOptions) => {
      const { submitGrpo } = await import('./run-submit.js');
      await submitGrpo(options);
    });
}
