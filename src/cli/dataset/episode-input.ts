/** The recorded episodes of a dataset, and the results of their replay. */
import type { ResultSource } from '../../training/datasets/replay-results.js';
import { readTrajectories } from '../files/trajectory-files.js';
import type { TrajectoryLine } from '../files/trajectory-table.js';
import type { SelectionCliOptions } from './selection-options.js';

/** Called with the number of bytes read so far, and the size of all files. */
type OnProgress = (done: number, total: number) => void;

export interface EpisodeInput {
  /** The files that are read, and the option that names them. */
  readonly files: { readonly option: string; readonly paths: readonly string[] };
  /** Opens the source of the results. The caller closes it. */
  readonly source: () => Promise<ResultSource>;
  /** Yields episodes and invalid lines. */
  readonly lines: (onProgress: OnProgress) => AsyncIterable<TrajectoryLine>;
}

/** Yields the lines of --jsonl. */
export const linesOf = (
  { jsonl, ...engine }: SelectionCliOptions,
  signal: AbortSignal,
  onProgress: OnProgress,
): AsyncIterable<TrajectoryLine> => readTrajectories(jsonl, { signal, onProgress, engine });
