/** The program of a worker's threads: runs the command of a job for one shard, and stores the shard's file. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { workerData } from 'node:worker_threads';
import { brotliCompressSync, constants } from 'node:zlib';
import type { SandboxedJob } from 'bullmq';
import type { Redis } from 'ioredis';
import { connect, QueueError, untilAccepted } from '../../server/queue/connection.js';
import {
  isCurrent,
  isOfRelease,
  noteFailure,
  type Queue,
  readJob,
  readResult,
  type ShardData,
  type StoredJob,
  storeResult,
} from '../../server/queue/jobs.js';
import { openAnswers, SharedLedger, SharedPauses } from '../../server/queue/model-limits.js';
import { STOPPED, type ThreadData } from '../../server/queue/worker.js';
import { execute } from '../commands.js';
import type { SharedModel } from '../context.js';
import { setQuiet } from '../progress.js';
import { manifestPath } from '../shards/job.js';
import { releaseHere } from './queue-options.js';
import { commandLine, type JobOptions, SHARDED } from './sharded.js';

/** Milliseconds between checks whether the job was cancelled. Chosen by hand: a shorter time sends more commands to Redis. */
const WATCH_MS = 500;
/** Brotli's quality, 0 to 11. With 5 the size is within 10 % of the smallest, which takes a hundred times as long. */
const QUALITY = 5;

const { address, engine } = workerData as ThreadData;
// What commands report about their files concerns nobody here.
process.stderr.write = () => true;
let connection: Promise<Redis> | null = null;

/** Computes a shard. BullMQ calls it. @returns whether a result was computed: not if it exists or is no longer needed. */
export default async function compute(
  shard: SandboxedJob<ShardData>,
  token: string,
  stop: AbortSignal,
): Promise<boolean> {
  connection ??= connect(address);
  const queue: Queue = { redis: await connection, prefix: address.prefix };
  const { data } = shard;
  const ended = new AbortController();
  const signal = AbortSignal.any([stop, ended.signal]);
  // If Redis refuses a check, the next check follows.
  const check = async (): Promise<void> => {
    if (!(await isCurrent(queue, data))) ended.abort(new Error('The job has ended.'));
  };
  const watch = setInterval(() => void check().catch(() => {}), WATCH_MS);
  try {
    const job = await untilAccepted(() => readJob(queue, data.job), signal);
    if (job?.state !== 'open' || job.submission !== data.submission || (await readResult(queue, data)))
      return false;
    if (!isOfRelease(job, releaseHere())) {
      await shard.updateProgress('another release');
      return await giveBack(shard, token);
    }
    await computeAndStore(queue, job, { shard: data, token }, signal);
    return true;
  } catch (error) {
    if (stop.aborted && stop.reason === STOPPED) return await giveBack(shard, token);
    if (ended.signal.aborted) return false;
    if (stop.aborted) throw error;
    // If Redis refuses the note, this failure is not counted.
    await noteFailure(queue, data).catch(() => {});
    const { code } = error as { code?: unknown };
    const isFinal = code === 'over_budget' || error instanceof QueueError;
    throw isFinal ? named('UnrecoverableError', (error as Error).message) : error;
  } finally {
    clearInterval(watch);
  }
}

/** Lets another worker take the shard at once. @throws an error that tells BullMQ that the shard is not finished. */
async function giveBack(shard: SandboxedJob<ShardData>, token: string): Promise<never> {
  await shard.moveToWait(token);
  throw named('WaitingError', STOPPED);
}

/** Returns an error that BullMQ knows by its name. */
const named = (name: string, message: string): Error => Object.assign(new Error(message), { name });

async function computeAndStore(
  queue: Queue,
  job: StoredJob,
  attempt: { readonly shard: ShardData; readonly token: string },
  signal: AbortSignal,
): Promise<void> {
  const { shard } = attempt;
  const folder = await mkdtemp(join(tmpdir(), 'rhythm-vec-shard-'));
  const path = join(folder, 'shard.jsonl');
  const started = performance.now();
  const ledgers: SharedLedger[] = [];
  const model: SharedModel = {
    answers: () => openAnswers(queue, shard),
    rateLimiter: new SharedPauses(queue, shard),
    ledger: (prices, timeoutMs) => {
      const ledger = new SharedLedger(queue, { ...attempt, timeoutMs }, prices);
      ledgers.push(ledger);
      return ledger;
    },
  };
  try {
    setQuiet(true);
    await execute(await wordsOf(job, shard, folder, path), { signal, model });
    const bytes = await readFile(path);
    const result = {
      manifest: JSON.stringify(JSON.parse(await readFile(manifestPath(path), 'utf8'))),
      compressed: brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: QUALITY } }),
    };
    const ms = performance.now() - started;
    const isSame = await untilAccepted(() => storeResult(queue, shard, result, ms, hostname()), signal);
    if (!isSame) throw differentBytes(shard);
  } finally {
    await Promise.all(ledgers.map((ledger) => ledger.settled()));
    await rm(folder, { recursive: true, force: true });
  }
}

/** Returns the command line of a shard. Writes the grader's file, if the job has one. */
async function wordsOf(
  job: StoredJob,
  { index }: ShardData,
  folder: string,
  path: string,
): Promise<string[]> {
  const { texts, graderFile } = JSON.parse(job.options) as JobOptions;
  const graderPath = graderFile === null ? null : join(folder, basename(texts.grader));
  if (graderPath !== null) await writeFile(graderPath, graderFile!);
  const { backend, kernel, threads } = engine;
  const flags = Object.entries({ backend, kernel, threads, shard: `${index}/${job.shards}` });
  return [
    '--quiet',
    ...commandLine(job, graderPath),
    ...flags.flatMap(([name, value]) => (value === undefined ? [] : [`--${name}=${value}`])),
    `${SHARDED[job.command].output}=${path}`,
  ];
}

const differentBytes = ({ job: name, index }: ShardData): QueueError =>
  new QueueError(
    `Expected shard ${index} of ${name} to give the same bytes again on ${hostname()}, got other bytes. ` +
      'Compare the versions and the processors of the workers, cancel the job and submit it again.',
  );
