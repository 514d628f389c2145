/** Runs `rhythm-vec queue collect`. */
import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { counted } from '../../evaluation/format-results.js';
import type { RunnableJob } from '../../server/jobs/job.js';
import { Collector, type ShardStore } from '../../server/queue/collect.js';
import { isCurrent, type Queue, readJob, type StoredJob } from '../../server/queue/job-store.js';
import type { RowFormat } from '../../shared/row-files/file-formats.js';
import { checkGrpoOutput } from '../dataset/run-grpo.js';
import { checkBracket } from '../files/bracket-file.js';
import { checkOutputs } from '../files/check-outputs.js';
import { openLinesOutput } from '../files/episode-file.js';
import { formatOfJob, LINES } from '../files/format-option.js';
import { makeDirectory, stat } from '../files/paths.js';
import { hasEnded, ownProcess } from '../files/temporary-file.js';
import type { MergeCommandOptions } from '../merge/merge-eval.js';
import { assemble, checkEvalOptions, outputsOf } from '../merge/run-merge.js';
import { createProgress } from '../progress.js';
import { contentsOf } from '../shards/shard-file.js';
import { CollectedShards, collectedOf, removeCollected } from './collected-shards.js';
import { type QueueOptions, withQueue } from './queue-options.js';

export interface CollectOptions extends QueueOptions, MergeCommandOptions {}

/** Waits for a job and writes its file. @throws UsageError; QueueError; LibraryError; the signal's reason. */
export async function runCollect(name: string, options: CollectOptions, signal: AbortSignal): Promise<void> {
  const { output: path } = options;
  const existing = stat(path);
  const isFile = path !== '-' && (existing === null || existing.isFile());
  const [own, ...others] = outputsOf(options);
  const outputs = [isFile ? { ...own, workFiles: [collectedOf(path)] } : own, ...others];
  checkOutputs(outputs);
  checkBracket(options.bracket, outputs);
  await withQueue(options, async (queue) => {
    const file = isFile ? fileOf(path) : '';
    if (isFile && (await isComplete(queue, name, options))) return;
    const collector = await Collector.open(queue, name, {
      file,
      process: ownProcess(),
      hasEnded,
      openStore: isFile ? (job) => openStore(queue, job, path) : null,
    });
    const progress = createProgress('shards');
    try {
      const job = JSON.parse(collector.job.job) as RunnableJob;
      checkEvalOptions(job, options);
      if (job.kind === 'dataset') checkGrpoOutput(options);
      await collector.wait(signal, (count) => progress.update(count, collector.job.shards));
      progress.stop();
      const sha256 = await write(job, collector, options, signal);
      // `finish` removes the job from Redis. After writing to a stream it stays, because the reader of the stream may still
      // fail.
      if (isFile) await collector.finish(sha256 ?? (await contentsOf(path)).sha256);
    } finally {
      progress.stop();
      await collector.close();
    }
    const { kind, rows } = collector.job;
    // The writer of a dataset's rows prints this line itself.
    if (path === '-' || kind === 'dataset') return;
    // The rows of an audit are its pieces (audit-options.ts).
    process.stderr.write(`${counted(rows, kind === 'audit' ? 'piece' : 'episode')} in ${path}.\n`);
  });
}

/** Returns HOST:PATH: the name of this machine and the absolute path of a file. */
const fileOf = (path: string): string => `${hostname()}:${resolve(path)}`;

const openStore = (queue: Queue, job: StoredJob, path: string): Promise<ShardStore> =>
  CollectedShards.open(collectedOf(path), job, ({ name, submission }) =>
    isCurrent(queue, { job: name, submission }),
  );

/**
 * Returns whether nothing is left to do: the job was collected into this file, which is unchanged, and no other files are to be
 * written. Then also removes FILE.shards (collected-shards.ts) and prints a note.
 */
async function isComplete(queue: Queue, name: string, options: CollectOptions): Promise<boolean> {
  const { output: path, json, components, bracket } = options;
  const job = await readJob(queue, name);
  const isOwn = job?.state === 'collected' && job.file === fileOf(path) && stat(path) !== null;
  if (!isOwn || [json, components, bracket].some((other) => other !== undefined)) return false;
  if ((await contentsOf(path)).sha256 !== job.sha256) return false;
  await removeCollected(collectedOf(path), job);
  process.stderr.write(`${name} is complete in ${path}. Nothing to do.\n`);
  return true;
}

/**
 * Writes the job's file, and further files of an evaluation or a dataset.
 * @returns the SHA-256 of --output if it was computed while writing, else null.
 */
async function write(
  job: RunnableJob,
  collector: Collector,
  options: CollectOptions,
  signal: AbortSignal,
): Promise<string | null> {
  const { output: path } = options;
  if (job.kind === 'teach') {
    const format = formatOfJob(job, options);
    const sha256 = await writeLines(collector, path, signal, format);
    return format === LINES ? sha256 : null;
  }
  // The files of other jobs are assembled from one file with the lines of all shards.
  const parent = path === '-' ? tmpdir() : dirname(resolve(path));
  makeDirectory(parent);
  const folder = await mkdtemp(join(parent, '.rhythm-vec-'));
  try {
    const shards = join(folder, 'shards.jsonl');
    await writeLines(collector, shards, signal);
    await assemble(job, [shards], options, signal);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  return null;
}

/** Writes the lines of all shards to one file, in the order of the shards. @returns the SHA-256 of the lines. */
async function writeLines(
  collector: Collector,
  path: string,
  signal: AbortSignal,
  format: RowFormat = LINES,
): Promise<string> {
  const hash = createHash('sha256');
  const output = await openLinesOutput(path, format);
  try {
    for await (const bytes of collector.lines()) {
      signal.throwIfAborted();
      hash.update(bytes);
      await output.write(bytes);
    }
    await output.commit();
  } finally {
    await output.discard();
  }
  return hash.digest('hex');
}
