/** Checks that files are all the shards of one job, and unchanged since they were written. */
import { listed } from '../../evaluation/format-results.js';
import { BadRow } from '../../shared/row-schemas.js';
import { MAKE_AGAIN } from '../../shared/schemas.js';
import { packageVersion } from '../../shared/version.js';
import { createWorld } from '../../world/world.js';
import { printable } from '../files/lines.js';
import { createProgress } from '../progress.js';
import { type Job, jobDifferences, type Manifest, manifestPath } from '../shards/job.js';
import { shardText } from '../shards/shard.js';
import { contentsOf, readManifest } from '../shards/shard-file.js';

/** A shard's file and its manifest. */
export interface ShardInput {
  readonly path: string;
  readonly manifest: Manifest;
}

export interface CheckedShards {
  /** Null if no manifest can be read. */
  readonly job: Job | null;
  /** One file for each shard, in the order of the indices; may be incomplete if there are problems. */
  readonly shards: readonly ShardInput[];
  /** One sentence or more for each problem. */
  readonly problems: readonly string[];
}

/** Checks the files of shards and their manifests. @throws the signal's reason. */
export async function checkShards(paths: readonly string[], signal: AbortSignal): Promise<CheckedShards> {
  const problems: string[] = [];
  const inputs = [...new Set(paths)].flatMap((path) => readInput(path, problems));
  const [first] = inputs;
  if (first === undefined) return { job: null, shards: [], problems };
  const { job, shard } = first.manifest;
  checkRelease(first, problems);
  const own = inputs.filter((input) => isOfJob(input, first, problems));
  const byIndex = new Map<number, ShardInput>();
  for (const input of await intactOf(own, problems, signal)) {
    const { index } = input.manifest.shard;
    const other = byIndex.get(index) ?? input;
    byIndex.set(index, other);
    if (other.manifest.sha256 === input.manifest.sha256) continue;
    problems.push(
      `${input.path}: Expected the same bytes as ${other.path}, because both are shard ${shardText(input.manifest.shard)}, got other bytes. ` +
        'Run the shard again, and pass one of its files.',
    );
  }
  checkMissing(new Set(byIndex.keys()), shard.count, problems);
  const shards = [...byIndex].sort(([a], [b]) => a - b).map(([, input]) => input);
  return { job, shards, problems };
}

/** Returns a file with its manifest. Without a valid manifest, returns [] and adds a problem to `problems`. */
function readInput(path: string, problems: string[]): ShardInput[] {
  try {
    const manifest = readManifest(path);
    if (manifest !== null) return [{ path, manifest }];
    problems.push(
      `${path}: Expected its manifest ${manifestPath(path)}, got none. The shard is not finished: run it again.`,
    );
  } catch (error) {
    if (!(error instanceof BadRow)) throw error;
    problems.push(`${manifestPath(path)}: ${printable(error.message)} Run the shard again.`);
  }
  return [];
}

/** Adds a problem for a shard of another release, which may merge the same shards to other bytes. */
function checkRelease({ path, manifest: { job } }: ShardInput, problems: string[]): void {
  const here = { version: packageVersion(), world_digest: createWorld().digest };
  const differences = jobDifferences(here, { version: job.version, world_digest: job.world_digest });
  if (differences.length === 0) return;
  problems.push(
    `${path}: Expected a shard of this release, got one of another release: ${differences.join('; ')}. ${MAKE_AGAIN}`,
  );
}

/**
 * Returns whether a shard belongs to the same job as the first shard, divided into the same number of shards. If not, adds a
 * problem to `problems`.
 */
function isOfJob({ path, manifest }: ShardInput, first: ShardInput, problems: string[]): boolean {
  const differences = [
    ...jobDifferences(first.manifest.job, manifest.job),
    ...jobDifferences({ shards: first.manifest.shard.count }, { shards: manifest.shard.count }),
  ];
  if (differences.length === 0) return true;
  problems.push(
    `${path}: Expected a shard of the same job as ${first.path}, got one of another job: ${printable(differences.join('; '))}. Leave it out, or run it with the same options.`,
  );
  return false;
}

/** Returns the shards whose files have the bytes that their manifests describe. Adds a problem for each other shard. */
async function intactOf(
  inputs: readonly ShardInput[],
  problems: string[],
  signal: AbortSignal,
): Promise<ShardInput[]> {
  using progress = createProgress('bytes');
  const total = inputs.reduce((sum, { manifest }) => sum + manifest.bytes, 0);
  const intact: ShardInput[] = [];
  let done = 0;
  for (const input of inputs) {
    signal.throwIfAborted();
    const { path, manifest } = input;
    const { sha256, bytes } = await contentsOf(path);
    done += bytes;
    progress.update(done, total);
    if (sha256 === manifest.sha256) intact.push(input);
    else
      problems.push(
        `${path}: Expected the SHA-256 ${manifest.sha256} and ${manifest.bytes} bytes of its manifest, got ${sha256} and ${bytes} bytes. ` +
          'The file was changed: run the shard again.',
      );
  }
  return intact;
}

/** Adds a problem that lists the missing shards, if any is missing. */
function checkMissing(present: ReadonlySet<number>, count: number, problems: string[]): void {
  const ranges: string[] = [];
  for (let index = 0; index < count; index++) {
    if (present.has(index)) continue;
    const first = index;
    while (index + 1 < count && !present.has(index + 1)) index++;
    ranges.push(first === index ? `${first}` : `${first} to ${index}`);
  }
  if (ranges.length === 0) return;
  const isOne = count - present.size === 1;
  problems.push(
    `Expected ${count} shards, got ${present.size}: ${isOne ? 'shard' : 'shards'} ${listed(ranges)} ${isOne ? 'is' : 'are'} missing.`,
  );
}
