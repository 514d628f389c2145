/** Fills the tables of docs/speed.md from recorded runs of the bench (bench/results). */
import { NAMES, SIZE } from '../bench/ratios.js';
import { withTable } from './with-table.js';

/** A row of a recorded run. */
interface StoredRow {
  readonly kernel: string | null;
  readonly name: string;
  readonly layout: string;
  readonly threads: number;
  readonly episodes: number;
  readonly ns_per_step: number | null;
  /** The least possible time divided by the measured time; null if it was not computed. */
  readonly share: number | null;
}

/** The parts of a recorded run that the pages show. */
export interface StoredRun {
  readonly machine: { readonly cpu: string; readonly node: string };
  readonly rows: readonly StoredRow[];
  readonly peers?: {
    readonly players: readonly {
      readonly name: string;
      readonly tolerance: number;
      readonly missing: string | null;
    }[];
    readonly cells: readonly {
      readonly name: string;
      readonly episodes: number;
      readonly steps_per_second: number;
    }[];
    readonly ratios: Readonly<Record<string, number>>;
  };
  readonly webgpu?: {
    readonly device: { readonly adapter: string; readonly software: boolean; readonly exact: boolean } | null;
    readonly rows: readonly {
      readonly backend: string;
      readonly name: string;
      readonly read_back: boolean;
      readonly episodes: number;
      readonly steps_per_second: number | null;
    }[];
  };
}

const tableOf = (head: readonly string[], rows: readonly (readonly (string | number)[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');

/** The columns of the table of kernels. */
const COLUMNS = [
  { head: 'whole random episodes in one `run`, grades only', name: NAMES.fused, layout: 'row-major' },
  { head: 'step, 22 numbers each, column-major', name: NAMES.step, layout: 'column-major' },
  { head: 'the same, row-major', name: NAMES.step, layout: 'row-major' },
  { head: 'recorded `run`, row-major', name: NAMES.recorded, layout: 'row-major' },
] as const;

/** Returns the table of kernels: nanoseconds per step, and the share (the least possible time divided by the measured time). */
export function kernelsTable({ rows }: StoredRun): string {
  const small = rows.filter(({ threads, episodes }) => threads === 1 && episodes <= SIZE.usual);
  const kernels = [...new Set(small.map(({ kernel }) => kernel))];
  const cellOf = (kernel: string | null, { name, layout }: (typeof COLUMNS)[number]) => {
    const row = small.find((each) => each.kernel === kernel && each.name === name && each.layout === layout);
    if (row === undefined || row.ns_per_step === null) return '-';
    const ns = `${row.ns_per_step < 100 ? row.ns_per_step.toFixed(1) : row.ns_per_step.toFixed(0)} ns`;
    return row.share === null ? ns : `${ns}, ${percent(row.share)}`;
  };
  const lines = kernels.map((kernel) => [
    kernel ?? 'reference (TypeScript)',
    ...COLUMNS.map((column) => cellOf(kernel, column)),
  ]);
  return tableOf(['kernel', ...COLUMNS.map(({ head }) => head)], lines);
}

const percent = (share: number): string => `${(100 * share).toFixed(0)} %`;

/**
 * The numbers of episodes in the table of peers (programs that a user would write instead of rhythm-vec), if they were
 * measured. Chosen by hand. docs/peers.svg has all numbers of episodes.
 */
const PEER_SIZES = [1, 16, 256, 4096, 65_536, 2 ** 20];

/** Returns the table of peers: millions of steps per second. */
export function peersTable({ peers }: StoredRun): string {
  const { players, cells } = peers!;
  const names = players.flatMap(({ name, missing }) => (missing === null ? [name] : []));
  const cellOf = (name: string, size: number) => {
    const cell = cells.find((each) => each.name === name && each.episodes === size);
    return cell === undefined ? '-' : threeDigits(cell.steps_per_second / 1e6);
  };
  const lines = PEER_SIZES.filter((size) => cells.some(({ episodes }) => episodes === size)).map((size) => [
    size.toLocaleString('en'),
    ...names.map((name) => cellOf(name, size)),
  ]);
  return tableOf(['episodes', ...names], lines);
}

/** Formats a number with three significant digits, and without an exponent. */
const threeDigits = (value: number): string => String(Number(value.toPrecision(3)));

const NO_DEVICE =
  '**No GPU has been measured yet.** All tests ran on SwiftShader, which emulates a GPU on the processor, so these tests say\n' +
  'nothing about the speed of GPUs.';

/** Returns the table of GPUs; a note if none was measured. Leaves out software adapters, and rows without a rate. */
export function devicesTable(runs: readonly StoredRun[]): string {
  const lines = runs.flatMap(({ webgpu }) => {
    if (!webgpu?.device || webgpu.device.software) return [];
    const { device, rows } = webgpu;
    return rows
      .filter(({ backend, steps_per_second: rate }) => backend === 'webgpu' && rate !== null)
      .map((row) => {
        const native = rows.find(
          (each) => each.backend === 'native' && each.name === row.name && each.episodes === row.episodes,
        );
        const timesNative = native?.steps_per_second
          ? (row.steps_per_second! / native.steps_per_second).toFixed(1)
          : '-';
        return [
          device.adapter,
          row.name,
          row.read_back ? 'all outputs' : 'nothing',
          row.episodes.toLocaleString('en'),
          threeDigits(row.steps_per_second! / 1e6),
          timesNative,
        ];
      });
  });
  if (lines.length === 0) return NO_DEVICE;
  return tableOf(
    ['adapter', 'case', 'read back', 'episodes', 'million steps/s', 'times one native thread'],
    lines,
  );
}

/** The recorded runs that the pages show. */
export interface Recorded {
  /** The run with the rows of kernels. */
  readonly kernels: StoredRun;
  /** The run with `--peers`. */
  readonly peers: StoredRun;
  /** The runs with `--webgpu`. */
  readonly devices: readonly StoredRun[];
}

/** Returns docs/speed.md with new tables. @throws Error if the page lacks a comment that marks a table. */
export const withSpeed = (page: string, { kernels, peers, devices }: Recorded): string =>
  Object.entries({
    kernels: kernelsTable(kernels),
    peers: peersTable(peers),
    devices: devicesTable(devices),
  }).reduce((text, [name, table]) => withTable(text, name, table, 'docs/speed.md'), page);
