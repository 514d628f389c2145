/** Files of shards. Beside each file is its manifest, which has the job, the shard and the SHA-256 of the file. */
import { createHash } from 'node:crypto';
import { createReadStream, readFileSync, rmSync } from 'node:fs';
import { basename } from 'node:path';
import { counted } from '../../evaluation/format-results.js';
import type { RowFormat } from '../../shared/row-files/file-formats.js';
import { LINES } from '../../shared/row-files/file-formats.js';
import { BadRow } from '../../shared/row-schemas.js';
import { UsageError } from '../command-errors.js';
import { readLines } from '../files/lines.js';
import { jsonText, Outputs, writeFilesAtomically } from '../files/output-file.js';
import { stat } from '../files/paths.js';
import { createProgress } from '../progress.js';
import { type Job, jobDigest, type Manifest, manifestOf, manifestPath, parseManifest } from './job.js';
import { type Shard, shardText } from './shard.js';

/** The shard that a command computes, and the option that names its file. */
export interface ShardFile {
  readonly job: Job;
  readonly shard: Shard;
  /** The shard's part of the job, such as "seeds 100-129". */
  readonly part: string;
  readonly option: string;
  readonly path: string;
}

/**
 * Refuses an output that cannot have a manifest beside it, and a format whose files `merge` cannot join.
 * @param formatOption the option that names the format. @throws UsageError.
 */
export function checkShardFile(option: string, path: string, format: RowFormat, formatOption = option): void {
  const existing = path === '-' ? null : stat(path);
  if (path === '-' || existing?.isFile() === false) {
    throw new UsageError(
      `Expected ${option} to be a file with --shard, got ${path}. The manifest is written beside it. Name a file.`,
    );
  }
  if (format === LINES) return;
  throw new UsageError(
    `Expected ${formatOption} to have JSON lines with --shard, got ${format.name}, which merge cannot join. Name a file that ends with .jsonl.`,
  );
}

/**
 * Begins a shard. Unless the file is complete, removes its manifest, which would not describe the new bytes.
 * A file is complete if its manifest names this job and shard, and has the digest of its bytes.
 * @returns whether the file is complete: then the command has nothing to do.
 * @throws UsageError if the file is another shard of the same job: two shards would overwrite each other.
 */
export async function beginShard({ job, shard, option, path }: ShardFile): Promise<boolean> {
  const manifest = validManifest(path);
  if (manifest === null || manifest.job_digest !== jobDigest(job)) return removeManifest(path);
  if (shardText(manifest.shard) !== shardText(shard)) {
    throw new UsageError(
      `Expected ${option} to be a file of shard ${shardText(shard)} alone, got ${path}, which has shard ` +
        `${shardText(manifest.shard)} of the same job. Name a file for each shard, such as ${numbered(path, shard)}.`,
    );
  }
  const file = stat(path) === null ? null : await contentsOf(path);
  if (file?.sha256 !== manifest.sha256) return removeManifest(path);
  process.stderr.write(`Shard ${shardText(shard)} is complete in ${path}. Nothing to do.\n`);
  return true;
}

/** Writes the manifest of a shard's finished file, and returns it. */
export async function endShard({ job, shard, part, path }: ShardFile): Promise<Manifest> {
  const manifest = manifestOf(job, shard, { part, ...(await contentsOf(path)) });
  await writeFilesAtomically([{ path: manifestPath(path), data: jsonText(manifest) }]);
  return manifest;
}

/** A part of a shard's file, and the amount of work that it completes. */
interface ShardPiece {
  readonly text: string;
  readonly work: number;
}

/**
 * Writes the file of a shard and its manifest, unless the file is complete.
 * @param unit the noun of the work, of which there is `total`. @param row the noun of a line.
 */
export async function writeShard(
  file: ShardFile,
  { unit, total, row }: { readonly unit: string; readonly total: number; readonly row: string },
  pieces: AsyncIterable<ShardPiece>,
  signal: AbortSignal,
): Promise<void> {
  const isComplete = await beginShard(file);
  if (isComplete) return;
  using progress = createProgress(unit);
  await using outputs = new Outputs();
  const output = await outputs.open(file.path);
  let done = 0;
  for await (const { text, work } of pieces) {
    signal.throwIfAborted();
    await output.write(text);
    done += work;
    progress.update(done, total);
  }
  signal.throwIfAborted();
  await outputs.commit();
  progress.stop();
  const { rows } = await endShard(file);
  process.stderr.write(`Shard ${shardText(file.shard)}: ${counted(rows, row)} in ${file.path}.\n`);
}

/** Removes the manifest beside a file. @returns false: the shard is not complete. */
function removeManifest(path: string): false {
  rmSync(manifestPath(path), { force: true });
  return false;
}

/** Returns the manifest beside a file; null if it is missing. @throws BadRow for an invalid manifest. */
export const readManifest = (path: string): Manifest | null =>
  stat(manifestPath(path))?.isFile() ? parseManifest(readFileSync(manifestPath(path), 'utf8')) : null;

/** Returns the manifest beside a file; null if it is missing or invalid. */
function validManifest(path: string): Manifest | null {
  try {
    return readManifest(path);
  } catch (error) {
    if (error instanceof BadRow) return null;
    throw error;
  }
}

/** Returns the file name with the shard's index before the ending, such as t-0.jsonl. */
const numbered = (path: string, { index }: Shard): string =>
  basename(path).replace(/(\.[^.]*)?$/, (ending) => `-${index}${ending}`);

const LF = 0x0a;
/** The number of bytes of a read. Chosen by hand: less needs more reads, and more needs more memory. */
const CHUNK_BYTES = 1 << 20;

/** Returns the number of lines, the size and the SHA-256 of a file. */
export async function contentsOf(path: string): Promise<Pick<Manifest, 'rows' | 'bytes' | 'sha256'>> {
  const hash = createHash('sha256');
  let [rows, bytes, last] = [0, 0, LF];
  for await (const chunk of createReadStream(path, { highWaterMark: CHUNK_BYTES }) as AsyncIterable<Buffer>) {
    hash.update(chunk);
    bytes += chunk.length;
    last = chunk[chunk.length - 1];
    for (let at = chunk.indexOf(LF); at >= 0; at = chunk.indexOf(LF, at + 1)) rows++;
  }
  // The last line may have no line end.
  return { rows: last === LF ? rows : rows + 1, bytes, sha256: hash.digest('hex') };
}

/** Yields the lines of complete shards in batches of `size`. */
export async function* lineBatches(paths: readonly string[], size: number): AsyncGenerator<string[]> {
  let batch: string[] = [];
  for (const path of paths) {
    const bytes = createReadStream(path, { highWaterMark: CHUNK_BYTES });
    for await (const { text } of readLines(bytes, Number.POSITIVE_INFINITY)) {
      // `text` is null only for a line that is not UTF-8. A command writes no such line.
      batch.push(text!);
      if (batch.length < size) continue;
      yield batch;
      batch = [];
    }
  }
  if (batch.length > 0) yield batch;
}
