/** `rhythm-vec queue status` and `rhythm-vec queue cancel`. */
import type { Command } from 'commander';
import { dollars } from '../../agents/llm/ledger.js';
import { grouped } from '../../evaluation/format-results.js';
import { cancel, type JobStatus, readStatus } from '../../server/queue/shards.js';
import { snakeCase } from '../../shared/names.js';
import { duration } from '../progress.js';
import { renderColumns } from '../text-table.js';
import { addQueueOptions, type QueueOptions, withQueue } from './queue-options.js';

const CANCEL_HELP = `
Removes the shards and results of the job from Redis, even if the job is finished but not collected. Workers stop its shards
within seconds. A cancelled job cannot be collected. Submit the job again to compute it again.

Example:
  rhythm-vec queue cancel teach-1f0c2a9b3d4e
`;

export function defineStatus(command: Command): void {
  addQueueOptions(command)
    .argument('[name]', 'the name that submit printed')
    .option('--json', 'print JSON')
    .action(runStatus);
}

export function defineCancel(command: Command): void {
  addQueueOptions(command)
    .argument('<name>', 'the name that submit printed')
    .addHelpText('after', CANCEL_HELP)
    .action(runCancel);
}

/** Cancels a job. */
async function runCancel(name: string, options: QueueOptions): Promise<void> {
  const before = await withQueue(options, (queue) => cancel(queue, name));
  process.stderr.write(before === 'open' ? `${name} is cancelled.\n` : `${name} was ${before} already.\n`);
}

/** Column heads. "per second" counts rows, and "left" is the estimated time. */
const HEADS = ['job', 'state', 'shards', 'active', 'rows', 'per second', 'left', 'failures', 'spent'];

/** Prints the status of one job or of all jobs. */
async function runStatus(
  name: string | undefined,
  options: QueueOptions & { readonly json?: boolean },
): Promise<void> {
  const jobs = await withQueue(options, (queue) => readStatus(queue, name));
  if (options.json) {
    const rows = jobs.map((job) =>
      Object.fromEntries(Object.entries(job).map(([key, value]) => [snakeCase(key), value])),
    );
    process.stdout.write(`${JSON.stringify(name === undefined ? rows : rows[0])}\n`);
    return;
  }
  if (jobs.length === 0) process.stdout.write('No jobs.\n');
  else process.stdout.write(`${tableOf(jobs)}\n${jobs.map(notesOf).join('')}`);
}

const tableOf = (jobs: readonly JobStatus[]): string =>
  renderColumns(
    HEADS,
    jobs.map((job) => [
      job.name,
      job.state,
      `${job.finished}/${job.shards}`,
      String(job.active),
      `${grouped(job.finishedRows)}/${grouped(job.rows)}`,
      job.rowsPerSecond === null ? '-' : job.rowsPerSecond.toPrecision(3),
      job.secondsLeft === null ? '-' : duration(1000 * job.secondsLeft),
      String(job.failures),
      job.spent === null ? '-' : dollars(job.spent),
    ]),
    2,
  );

/** Returns lines about failed shards, about shards that gave other bytes, and about the file that `collect` wrote. */
function notesOf({ name, failed, different, file }: JobStatus): string {
  const lines = [
    ...failed.map(
      ({ index, attempts, error }) => `${name}: shard ${index} failed ${attempts} times: ${error}`,
    ),
    ...different.map((index) => `${name}: shard ${index} gave other bytes when it was computed again.`),
    ...(file === null ? [] : [`${name}: collected into ${file}`]),
  ];
  return lines.map((line) => `${line}\n`).join('');
}
