/** Runs `rhythm-vec queue status`. */
import { dollars } from '../../agents/llm/ledger.js';
import { grouped } from '../../evaluation/format-results.js';
import { type JobStatus, readStatus } from '../../server/queue/status.js';
import { snakeCase } from '../../shared/letter-case.js';
import { renderColumns } from '../text-table.js';
import { type QueueOptions, withQueue } from './queue-options.js';

export interface StatusOptions extends QueueOptions {
  readonly json?: boolean;
}

/** Column heads. "per second" counts rows, and "left" is the estimated time. */
const HEADS = ['job', 'state', 'shards', 'active', 'rows', 'per second', 'left', 'failures', 'spent'];

/** Prints the status of one job or of all jobs. */
export async function runStatus(name: string | undefined, options: StatusOptions): Promise<void> {
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
    HEADS.map((_, k) => (k < 2 ? 'left' : 'right')),
    jobs.map((job) => [
      job.name,
      job.state,
      `${job.finished}/${job.shards}`,
      String(job.active),
      `${grouped(job.finishedRows)}/${grouped(job.rows)}`,
      job.rowsPerSecond === null ? '-' : job.rowsPerSecond.toPrecision(3),
      job.secondsLeft === null ? '-' : duration(job.secondsLeft),
      String(job.failures),
      job.spent === null ? '-' : dollars(job.spent),
    ]),
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

/** Formats seconds: "50 s", "12 min", "3.5 h". */
const duration = (seconds: number): string => {
  if (seconds < 120) return `${Math.ceil(seconds)} s`;
  return seconds < 7200 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
};
