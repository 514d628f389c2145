/** Finds the lines of episodes in the files of shards. */
import { type FileHandle, open } from 'node:fs/promises';
import { type Player, teacherName } from '../../rollouts/trajectories/trajectory-episode.js';
import { type LineSpan, lineSpans } from '../../shared/line-spans.js';

/** Lines of one policy, condition and profile with consecutive seeds, which follow each other in a file. */
interface LineRun {
  readonly handle: FileHandle;
  /** The positions in the file of the first byte and of the byte after the last. */
  readonly start: number;
  end: number;
  /** The seed of the first line. */
  readonly first: number;
  /** The number of lines. */
  count: number;
}

/**
 * The maximum number of lines of a run. A run is read at once. Chosen by hand: longer runs take more memory and fewer reads.
 */
const MAX_LINES = 128;

/** Identifies the episodes of one condition, policy and profile. */
export interface EpisodesOf {
  readonly condition: string;
  /** The name of a policy, such as "heuristic+constant" or "llm:MODEL". */
  readonly policy: string;
  readonly profile: string;
}

const keyOf = ({ condition, policy, profile }: EpisodesOf): string =>
  JSON.stringify([condition, policy, profile]);

/** The lines of episodes in files, which are found by policy, condition, profile and seed. */
export class StoredLines implements AsyncDisposable {
  readonly #handles: FileHandle[] = [];
  readonly #runs = new Map<string, LineRun[]>();

  /** Reads the files once. @param onLine called for each line. */
  static async open(paths: readonly string[], onLine: () => void = () => {}): Promise<StoredLines> {
    const lines = new StoredLines();
    try {
      for (const path of paths) {
        const handle = await open(path);
        lines.#handles.push(handle);
        await lines.#read(handle, onLine);
      }
      for (const runs of lines.#runs.values()) runs.sort((a, b) => a.first - b.first);
    } catch (error) {
      await lines[Symbol.asyncDispose]();
      throw error;
    }
    return lines;
  }

  async #read(handle: FileHandle, onLine: () => void): Promise<void> {
    let last: { key: string; run: LineRun } | null = null;
    for await (const span of lineSpans(handle)) {
      onLine();
      const row = JSON.parse((await bytesOf(handle, span)).toString());
      const key = keyOf(episodesOf(row));
      const run: LineRun | undefined = last?.key === key ? last.run : undefined;
      if (run !== undefined && run.count < MAX_LINES && row.seed === run.first + run.count) {
        run.count++;
        run.end = span.end;
        continue;
      }
      last = { key, run: { handle, start: span.start, end: span.end, first: row.seed, count: 1 } };
      const runs = this.#runs.get(key) ?? [];
      runs.push(last.run);
      this.#runs.set(key, runs);
    }
  }

  /**
   * Returns the lines of consecutive seeds, without line ends; null if the files have no episode of this condition,
   * policy and profile. @throws Error if a seed is missing, or if a file has become shorter.
   */
  async linesOf(episodes: EpisodesOf, seeds: ArrayLike<number>): Promise<string[] | null> {
    const runs = this.#runs.get(keyOf(episodes));
    if (runs === undefined) return null;
    const [first, end] = [seeds[0], seeds[0] + seeds.length];
    const lines: string[] = Array(seeds.length).fill('');
    for (let k = firstEndingFrom(runs, first); k < runs.length && runs[k].first < end; k++) {
      const run = runs[k];
      const texts = (await bytesOf(run.handle, run)).toString().split('\n');
      for (const [i, text] of texts.entries()) {
        const at = run.first + i - first;
        if (at >= 0 && at < lines.length) lines[at] = text;
      }
    }
    const missing = lines.indexOf('');
    if (missing < 0) return lines;
    throw new Error(
      `Expected seed ${first + missing} of ${keyOf(episodes)} in a shard, got none. Run the shards again, and merge them.`,
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const handle of this.#handles) await handle.close();
  }
}

/** Returns the index of the first run that ends at `seed` or later. @param runs sorted, without common seeds. */
function firstEndingFrom(runs: readonly LineRun[], seed: number): number {
  let [low, high] = [0, runs.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (runs[middle].first + runs[middle].count <= seed) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Returns the policy, condition and profile of a line's episode. */
const episodesOf = (
  row: Pick<Player, 'teacher' | 'model'> & { readonly condition: string; readonly profile_mode: string },
): EpisodesOf => ({ condition: row.condition, policy: teacherName(row), profile: row.profile_mode });

async function bytesOf(handle: FileHandle, { start, end }: LineSpan): Promise<Buffer> {
  const bytes = Buffer.alloc(end - start);
  for (let done = 0; done < bytes.length; ) {
    const { bytesRead } = await handle.read(bytes, done, bytes.length - done, start + done);
    if (bytesRead === 0) {
      throw new Error(
        'Expected no change of a shard while it is merged, got a shorter file. Run merge again.',
      );
    }
    done += bytesRead;
  }
  return bytes;
}
