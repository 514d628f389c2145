/** `rhythm-vec queue collect`: fetches the files of a job's shards, and merges them. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import type { Command } from 'commander';
import { BudgetError } from '../../agents/llm/ledger.js';
import { QueueError } from '../../server/queue/connection.js';
import {
  dataKeys,
  findJob,
  finishedShards,
  finishJob,
  isCurrent,
  type Queue,
  readJob,
  readResult,
  type ShardResult,
  type StoredJob,
  shardOf,
} from '../../server/queue/jobs.js';
import { isOverBudget, readSpending } from '../../server/queue/model-limits.js';
import { failedShards } from '../../server/queue/shards.js';
import { CLOCK } from '../../shared/http/retry.js';
import type { Context } from '../context.js';
import { makeDirectory, stat } from '../files/paths.js';
import type { MergeCommandOptions } from '../merge/merge-eval.js';
import { createProgress } from '../progress.js';
import { manifestPath } from '../shards/job.js';
import { contentsOf } from '../shards/shard-file.js';
import { formatOption } from '../shared-options.js';
import { addQueueOptions, type QueueOptions, withQueue } from './queue-options.js';

interface CollectOptions extends QueueOptions, MergeCommandOptions {}

const HELP = `
Waits until all shards are computed, then does what "rhythm-vec merge" does with their files: writes --output whole or not at
all. Redis keeps the results until then, so that a command that is interrupted or killed loses nothing: run it again. If shards
failed in all their attempts, the command names them and ends; submit the job again to repeat them.

Example:
  rhythm-vec queue collect teach-1f0c2a9b3d4e --output teacher.jsonl
`;

export function defineCollect(command: Command, { signal }: Context): void {
  command
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
    )
    .option('--details', 'jobs of eval: print all tables, as eval --details');
  addQueueOptions(command)
    .addHelpText('after', HELP)
    .action((name: string, options: CollectOptions) => runCollect(name, options, signal));
}

/** Waits for a job and writes its file. @throws UsageError; QueueError; BudgetError; LibraryError; the signal's reason. */
async function runCollect(name: string, options: CollectOptions, signal: AbortSignal): Promise<void> {
  const { output: path } = options;
  const isFile = path !== '-' && (stat(path)?.isFile() ?? true);
  await withQueue(options, async (queue) => {
    const job = await findJob(queue, name);
    if (isFile && (await isComplete(job, options))) return;
    if (job.state !== 'open') throw jobEnded(job);
    await untilComputed(queue, job, signal);
    const folder = await mkdtemp(join(isFile ? folderOf(path) : tmpdir(), '.rhythm-vec-'));
    try {
      const shards = await fetchShards(queue, job, folder);
      const { runMerge } = await import('../merge/command.js');
      if (!(await runMerge(shards, options, signal)))
        throw new QueueError(`Expected the shards of ${name} to fit together.`);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
    // After writing to a stream the job stays, because the reader of the stream may still fail.
    if (!isFile) return;
    const spent = (await readSpending(queue, job))?.spent ?? null;
    const { sha256 } = await contentsOf(path);
    await finishJob(queue, job, { file: fileOf(path), sha256, at: new Date().toISOString(), spent });
  });
}

/** Returns the directory of a file. Creates it if it is missing. */
function folderOf(path: string): string {
  const folder = dirname(resolve(path));
  makeDirectory(folder);
  return folder;
}

/** Returns HOST:PATH: the name of this machine and the absolute path of a file. */
const fileOf = (path: string): string => `${hostname()}:${resolve(path)}`;

/** Returns whether the job was collected into this file, which is unchanged, and no other files are to be written. */
async function isComplete(job: StoredJob, options: CollectOptions): Promise<boolean> {
  const { output: path, json, bracket, details } = options;
  if (job.collected?.file !== fileOf(path) || stat(path) === null) return false;
  if ([json, bracket, details].some((other) => other !== undefined)) return false;
  if ((await contentsOf(path)).sha256 !== job.collected.sha256) return false;
  process.stderr.write(`${job.name} is complete in ${path}. Nothing to do.\n`);
  return true;
}

/**
 * Milliseconds before the number of results is read again: the first wait, and the longest. Chosen by hand: less sends more
 * commands to Redis, more notices results later.
 */
const POLL = { first: 50, last: 1000 };
/** The maximum number of failed shards that an error lists. Chosen by hand, to keep the error short. */
const LISTED = 3;

/**
 * Waits until every shard of a job has a result.
 * @throws QueueError if all shards without a result have failed, if two runs of a shard gave different results, or if the job
 *   has ended; BudgetError if shards failed because the budget is spent; the signal's reason.
 */
async function untilComputed(queue: Queue, job: StoredJob, signal: AbortSignal): Promise<void> {
  const progress = createProgress('shards');
  try {
    for (let pause = POLL.first; ; pause = Math.min(POLL.last, 2 * pause)) {
      signal.throwIfAborted();
      await checkDifferences(queue, job);
      const { size } = await finishedShards(queue, shardOf(job));
      progress.update(size, job.shards);
      if (size === job.shards) return;
      if (!(await isCurrent(queue, shardOf(job)))) throw jobEnded((await readJob(queue, job.name)) ?? job);
      const failed = await failedShards(queue, job);
      // Counts again, because a shard may have got its result since the first count.
      if (
        failed.length > 0 &&
        failed.length + (await finishedShards(queue, shardOf(job))).size >= job.shards
      ) {
        if (await isOverBudget(queue, job)) throw new BudgetError(failed[0].error);
        throw allFailed(job.name, failed);
      }
      await CLOCK.wait(pause, signal);
    }
  } finally {
    progress.stop();
  }
}

/** @throws QueueError if two runs of a shard gave different results. */
async function checkDifferences({ redis, prefix }: Queue, job: StoredJob): Promise<void> {
  const [difference] = Object.entries(await redis.hgetall(dataKeys(prefix, shardOf(job)).differences));
  if (difference === undefined) return;
  throw new QueueError(
    `Expected shard ${difference[0]} of ${job.name} to give the same bytes on every machine, got other bytes on ${difference[1]}. ` +
      'Compare the versions and the processors of the workers, cancel the job and submit it again.',
  );
}

/** Writes the files of all shards with their manifests, which the merge checks. @returns their paths. @throws QueueError. */
async function fetchShards(queue: Queue, job: StoredJob, folder: string): Promise<string[]> {
  const paths: string[] = [];
  for (let index = 0; index < job.shards; index++) {
    const result = await readResult(queue, shardOf(job, index));
    if (result === null) throw jobEnded((await readJob(queue, job.name)) ?? job);
    const path = join(folder, `shard-${index}.jsonl`);
    await writeFile(path, bytesOf(job.name, index, result));
    await writeFile(manifestPath(path), result.manifest);
    paths.push(path);
  }
  return paths;
}

function bytesOf(name: string, index: number, { compressed }: ShardResult): Buffer {
  try {
    return brotliDecompressSync(compressed);
  } catch {
    throw new QueueError(
      `Expected the result of shard ${index} of ${name} as it was stored, got other bytes. Cancel the job and submit it again.`,
    );
  }
}

/** Returns the error for a job that is not open. */
function jobEnded({ name, collected }: StoredJob): QueueError {
  if (collected === null) {
    return new QueueError(
      `Expected the job ${name} to run, got a cancelled job. Submit it again: the same command gives it the same name.`,
    );
  }
  const { file, sha256, at } = collected;
  return new QueueError(
    `Expected the results of ${name} in Redis, got a job that was collected at ${at} into ${file} (SHA-256 ${sha256}). ` +
      'Copy that file, or submit the job again.',
  );
}

function allFailed(
  name: string,
  failed: readonly { readonly index: number; readonly error: string }[],
): QueueError {
  const listed = failed.slice(0, LISTED).map(({ index, error }) => `shard ${index}: ${error}`);
  const more = failed.length > LISTED ? `; and ${failed.length - LISTED} more` : '';
  return new QueueError(
    `Expected all shards of ${name} to succeed, got ${failed.length} failed (${listed.join('; ')}${more}). ` +
      'Mend the cause and submit the job again: finished shards are kept.',
  );
}
