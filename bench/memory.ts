/** `--memory`: what a million episodes with observations take. */
import { createVecEnv, OBSERVATION_SIZE } from '../dist/index.js';
import { STATE_WORDS } from '../dist/world/fields.js';
import { runNode } from './child.js';
import type { OnProgress } from './measure.js';
import { digits, table, verdict } from './report.js';
import { Mismatch } from './verify.js';

const MILLION = 1_000_000;
export const FULL_MEMORY: readonly number[] = [MILLION, 2 ** 20];
export const SMALL_MEMORY: readonly number[] = [2 ** 16];
const STEPS = 4;

/** Bytes, at most: of state an episode, and resident for a million episodes with observations. */
const STATE_BAR = 256;
const RESIDENT_BAR = 600e6;

/** What the child prints. */
interface Told {
  readonly backend: string;
  readonly startBytes: number;
  readonly peakBytes: number;
  readonly outputBytes: number;
  readonly last: readonly number[];
}

export interface MemoryRow {
  readonly episodes: number;
  readonly backend: string;
  /** Resident at most, in a process of its own: Node, the package, and all episodes. */
  readonly peakBytes: number;
  /** Before any episode was opened. */
  readonly startBytes: number;
  readonly outputBytesPerEpisode: number;
  /** Whatever grew, shared out. */
  readonly bytesPerEpisode: number;
}

export interface Memory {
  readonly stateBytesPerEpisode: number;
  readonly rows: readonly MemoryRow[];
  readonly bars: {
    readonly stateBytesPerEpisode: MemoryBar;
    /** Of the row of a million. */
    readonly peakBytes: MemoryBar;
  };
}

/** In bytes. */
interface MemoryBar {
  readonly bound: 'at most';
  readonly bar: number;
  /** Null where it was not measured. */
  readonly met: boolean | null;
}

const atMost = (bar: number, bytes: number | undefined): MemoryBar => ({
  bound: 'at most',
  bar,
  met: bytes === undefined ? null : bytes <= bar,
});

/** @throws Mismatch if the last episode of a batch shows anything but what the reference does. */
export async function measureMemory(sizes: readonly number[], onProgress: OnProgress): Promise<Memory> {
  const rows: MemoryRow[] = [];
  for (const episodes of sizes) {
    onProgress(`memory of ${episodes} episodes`);
    const { stdout } = await runNode(['bench/memory-child.js', String(episodes), String(STEPS)]);
    const told = JSON.parse(stdout) as Told;
    checkLast(episodes, told.last);
    rows.push({
      episodes,
      backend: told.backend,
      peakBytes: told.peakBytes,
      startBytes: told.startBytes,
      outputBytesPerEpisode: told.outputBytes / episodes,
      bytesPerEpisode: (told.peakBytes - told.startBytes) / episodes,
    });
  }
  const stateBytesPerEpisode = STATE_WORDS * Uint32Array.BYTES_PER_ELEMENT;
  const million = rows.find((row) => row.episodes === MILLION);
  return {
    stateBytesPerEpisode,
    rows,
    bars: {
      stateBytesPerEpisode: atMost(STATE_BAR, stateBytesPerEpisode),
      peakBytes: atMost(RESIDENT_BAR, million?.peakBytes),
    },
  };
}

/** The child's slot i plays seed i, and action 0 at every step. */
function checkLast(episodes: number, last: readonly number[]): void {
  using env = createVecEnv({ numEnvs: 1, backend: 'reference' });
  let { observations } = env.reset({ seed: episodes - 1 });
  for (let t = 0; t < STEPS; t++) ({ observations } = env.step([0]));
  const at = Array.from(observations).findIndex((value, k) => value !== last[k]);
  if (at < 0 && last.length === OBSERVATION_SIZE) return;
  throw new Mismatch(
    `memory of ${episodes} episodes: Expected number ${at} of the last one to be ${observations[at]}, got ${last[at]}.`,
  );
}

const megabytes = (bytes: number): string => digits(bytes / 1e6, 0);

export function renderMemory({ stateBytesPerEpisode, rows, bars }: Memory): string {
  const head = [
    'episodes',
    'backend',
    'resident MB',
    'of it at the start',
    'bytes an episode',
    'of it outputs',
  ];
  const lines = rows.map((row) => [
    String(row.episodes),
    row.backend,
    megabytes(row.peakBytes),
    megabytes(row.startBytes),
    digits(row.bytesPerEpisode, 0),
    digits(row.outputBytesPerEpisode, 0),
  ]);
  const { stateBytesPerEpisode: state, peakBytes: resident } = bars;
  const judged = ({ bar, met }: MemoryBar, text: (bar: number) => string) =>
    met === null ? [] : [`${text(bar)}: ${verdict(met)}`];
  return [
    'Memory',
    table(head, lines, 2),
    ...judged(state, (bar) => `${stateBytesPerEpisode} bytes of state an episode, at most ${bar}`),
    ...judged(
      resident,
      (bar) => `a million episodes with observations resident in at most ${megabytes(bar)} MB`,
    ),
  ].join('\n');
}
