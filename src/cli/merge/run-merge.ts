/** Runs `rhythm-vec merge`. */
import { createReadStream } from 'node:fs';
import { counted } from '../../evaluation/format-results.js';
import { mergeShards } from '../../server/jobs/merge.js';
import { checkOutputs } from '../files/check-outputs.js';
import { checkDifferentFile, checkInput } from '../files/input-file.js';
import { openOutput } from '../files/output-file.js';
import { createProgress } from '../progress.js';
import { type CheckedShards, checkShards } from './check-shards.js';

export interface MergeCommandOptions {
  readonly output: string;
}

/**
 * Writes the merged file, or reports every problem of the shards and writes nothing.
 * @returns whether the shards are complete. @throws UsageError for paths; the signal's reason.
 */
export async function runMerge(
  shards: readonly string[],
  options: MergeCommandOptions,
  signal: AbortSignal,
): Promise<boolean> {
  const paths = shards.map(withoutManifest);
  for (const path of paths) {
    checkInput('a shard', path);
    checkDifferentFile('--output', options.output, 'the shards', path);
  }
  checkOutputs([{ option: '--output', path: options.output }], undefined);
  const checked = await checkShards(paths, signal);
  if (checked.problems.length > 0) {
    const problems = checked.problems.map((problem) => `- ${problem}\n`).join('');
    process.stderr.write(
      `error: Expected all shards of one job, got these problems. Nothing was written.\n${problems}`,
    );
    return false;
  }
  await write(checked, options.output, signal);
  return true;
}

/** A pattern such as part-* also matches the manifests. */
const withoutManifest = (path: string): string => path.replace(/\.manifest\.json$/, '');

async function write({ job, shards }: CheckedShards, path: string, signal: AbortSignal): Promise<void> {
  const total = shards.reduce((sum, { manifest }) => sum + manifest.bytes, 0);
  const rows = shards.reduce((sum, { manifest }) => sum + manifest.rows, 0);
  const progress = createProgress('bytes');
  const output = await openOutput(path);
  let done = 0;
  try {
    const results = shards.map((shard) => ({
      read: () => createReadStream(shard.path, { highWaterMark: 1 << 20 }),
    }));
    for await (const chunk of mergeShards(job!, results)) {
      signal.throwIfAborted();
      await output.write(chunk);
      done += chunk.length;
      progress.update(done, total);
    }
    await output.commit();
  } finally {
    progress.stop();
    await output.discard();
  }
  if (path === '-') return;
  process.stderr.write(`${counted(rows, 'row')} of ${counted(shards.length, 'shard')} in ${path}.\n`);
}
