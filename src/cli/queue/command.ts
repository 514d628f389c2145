/** `rhythm-vec queue`: shares work between machines through Redis. */
import type { Command } from 'commander';
import { ASYNC_BACKENDS } from '../../engine/backends/node.js';
import type { Context } from '../context.js';
import { addGrpoOptions } from '../dataset/grpo.js';
import { addEvalOptions } from '../eval/command.js';
import { addLlmOptions } from '../llm/llm-options.js';
import { addEngineOptions, formatOption, parseInteger } from '../shared-options.js';
import { addTeachOptions } from '../teach.js';
import { SHARDED } from './sharded.js';

const HELP = `
"queue submit COMMAND" stores a command, such as teach, as a job that is split into shards. Any number of workers, on any
machines, compute the shards; "queue collect" writes the same file as COMMAND alone, byte for byte. The queue is kept in
Redis 6.2 or later, or Valkey, with an append-only file.
docs/commands.md has an example, and says what happens when a worker, a collector or Redis is killed.

Example:
  rhythm-vec queue submit --help
`;

const SUBMIT_HELP = `
Takes the options of the submitted command, such as teach, except those for its output, backend and threads. The last line of
the output is the job's name, which depends only on the job. Until a job is collected or cancelled, submitting it again changes
--budget, --requests-per-minute, --base-url, --concurrency, --timeout and --retries, and failed shards are tried again.

Examples:
  rhythm-vec queue submit teach --seeds 100-1099
  rhythm-vec queue submit eval --policies heuristic+constant,planner --conditions ood
  rhythm-vec queue submit dataset grpo --rows 100000 --profiles mix
  rhythm-vec queue submit teach --policy planner --seeds 100-9999 --shard-size 16 --priority 10
`;

const WORK_HELP = `
A worker runs until it is interrupted, or until a job of another version or world comes, and then gives its shards back. With
--until-empty it ends when no shard is left. Start as many workers as there are cores, or one worker with --concurrency. A
worker renews the leases of its shards. If it is killed or hangs, another worker takes the shards over after --lease. Keys of
language models are read from this worker's environment variables. They are never stored in Redis.

Examples:
  rhythm-vec queue work --redis redis://127.0.0.1:6379 --concurrency 2
  rhythm-vec queue work --until-empty
`;

const COLLECT_HELP = `
Waits until all shards are computed, then does what "rhythm-vec merge" does with their files: writes --output whole or not at
all. Redis keeps the results until then, so that a command that is interrupted or killed loses nothing: run it again. If shards
failed in all their attempts, the command names them and ends; submit the job again to repeat them.

Example:
  rhythm-vec queue collect teach-1f0c2a9b3d4e --output teacher.jsonl
`;

const CANCEL_HELP = `
Removes the shards and results of the job from Redis, even if the job is finished but not collected. Workers stop its shards
within seconds. A cancelled job cannot be collected. Submit the job again to compute it again.

Example:
  rhythm-vec queue cancel teach-1f0c2a9b3d4e
`;

export function addQueueCommand(program: Command, context: Context): void {
  const queue = program
    .command('queue')
    .description('Share work between machines: submit jobs, work on them, collect their files.')
    .addHelpText('after', HELP);
  addSubmitCommands(queue);
  addWorkCommand(queue, context);
  addQueueOptions(queue.command('status'))
    .description('Show the progress of one job or of all jobs.')
    .argument('[name]', 'the name that submit printed')
    .option('--json', 'print JSON')
    .action(async (name, options) => (await import('./run.js')).runStatus(name, options));
  addCollectCommand(queue, context);
  addQueueOptions(queue.command('cancel'))
    .description('Stop a job and remove its results.')
    .argument('<name>', 'the name that submit printed')
    .addHelpText('after', CANCEL_HELP)
    .action(async (name, options) => (await import('./run.js')).runCancel(name, options));
}

/** Adds the options that say how to reach the queue. */
const addQueueOptions = (command: Command): Command =>
  command
    .option(
      '--redis <url>',
      'redis://[:password@]host:port, or rediss:// for TLS (default: the URL in REDIS_URL)',
    )
    .option('--redis-ca <file>', 'the PEM certificate of the authority that signed the certificate of Redis')
    .option(
      '--prefix <name>',
      'the beginning of all keys in Redis, for a cluster with a hash tag; each prefix is a queue',
      'rhythm-vec',
    )
    .option(
      '--allow-data-loss',
      'accept a Redis that drops keys when it is full, or that writes no append-only file',
    );

function addSubmitCommands(queue: Command): void {
  const submit = queue
    .command('submit')
    .description('Submit a job: "submit teach", "submit eval" or "submit dataset grpo".')
    .addHelpText('after', SUBMIT_HELP);
  const dataset = submit
    .command('dataset')
    .description('Submit a job that makes rows to train on: "submit dataset grpo".');
  addSubmitOptions(addModelOptions(addTeachOptions(submit.command('teach'))), 'teach');
  addSubmitOptions(addModelOptions(addEvalOptions(submit.command('eval'))), 'eval');
  addSubmitOptions(addGrpoOptions(dataset.command('grpo')), 'dataset grpo');
}

const addModelOptions = (command: Command): Command =>
  addLlmOptions(command).option(
    '--requests-per-minute <n>',
    'requests to a language model in any 60 seconds, of all workers together (default: no limit)',
    parseInteger,
  );

function addSubmitOptions(command: Command, name: string): void {
  const { unit, least, most, defaultSize } = SHARDED[name];
  addQueueOptions(command)
    .description(`Submit a job that does what "rhythm-vec ${name}" does.`)
    .option('--shard-size <n>', `${unit} of a shard, ${least} to ${most}`, parseInteger, defaultSize)
    .option('--priority <n>', '1 to 1000; jobs with a lower number go first', parseInteger, 100)
    .option(
      '--again',
      'pay again for the answers of a language model whose job was collected, because its file was lost',
    )
    .action(async (options) => (await import('./submit.js')).runSubmit(name, options));
}

function addWorkCommand(queue: Command, { signal }: Context): void {
  const command = queue
    .command('work')
    .description('Compute shards of submitted jobs, until interrupted.')
    .option('--concurrency <n>', 'shards at a time, each in a thread, 1 to 256', parseInteger, 1)
    .option(
      '--lease <s>',
      'seconds after which another worker takes over the shards of a worker that was killed or hangs',
      parseInteger,
      30,
    )
    .option('--until-empty', 'end when no shard is left');
  addEngineOptions(addQueueOptions(command), ASYNC_BACKENDS, { backend: 'native', threads: '1' })
    .addHelpText('after', WORK_HELP)
    .action(async (options) => (await import('./run.js')).runWork(options, signal));
}

function addCollectCommand(queue: Command, { signal }: Context): void {
  const command = queue
    .command('collect')
    .description('Wait for a job and write its file.')
    .argument('<name>', 'the name that submit printed')
    .requiredOption(
      '--output <file>',
      'the file to write or replace; - is the standard output: then Redis keeps the results',
    )
    .addOption(formatOption('of --output'))
    .option('--json <file>', 'jobs of eval: also write the results as JSON')
    .option(
      '--bracket <audit.json>',
      'jobs of eval: also show shares by the anchors of this audit, under its grader',
    );
  addQueueOptions(command)
    .addHelpText('after', COLLECT_HELP)
    .action(async (name, options) => (await import('./collect.js')).runCollect(name, options, signal));
}
