/** Runs `rhythm-vec queue collect`. */
import { createHash } from 'node:crypto';
import { hostname } from 'node:os';
import { resolve } from 'node:path';
import { counted } from '../../evaluation/format-results.js';
import { Collector } from '../../server/queue/collect.js';
import { checkOutputs } from '../files/check-outputs.js';
import { openOutput } from '../files/output-file.js';
import { createProgress } from '../progress.js';
import { type QueueOptions, withQueue } from './queue-options.js';

export interface CollectOptions extends QueueOptions {
  readonly output: string;
}

/** Waits for a job and writes its file. @throws UsageError; QueueError; the signal's reason. */
export async function runCollect(name: string, options: CollectOptions, signal: AbortSignal): Promise<void> {
  const { output: path } = options;
  checkOutputs([{ option: '--output', path }], undefined);
  await withQueue(options, async (queue) => {
    const collector = await Collector.open(queue, name);
    const progress = createProgress('shards');
    try {
      await collector.wait(signal, (count) => progress.update(count, collector.job.shards));
      progress.stop();
      const sha256 = await write(collector, path, signal);
      // The queue keeps results that went to the standard output, because the program that reads it may still fail.
      if (path !== '-') await collector.finish(`${hostname()}:${resolve(path)}`, sha256);
    } finally {
      progress.stop();
      await collector.close();
    }
    if (path === '-') return;
    process.stderr.write(`${counted(collector.job.episodes, 'episode')} in ${path}.\n`);
  });
}

/** Writes the results. @returns the SHA-256 of the file. */
async function write(collector: Collector, path: string, signal: AbortSignal): Promise<string> {
  const hash = createHash('sha256');
  const output = await openOutput(path);
  try {
    for await (const bytes of collector.file()) {
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
