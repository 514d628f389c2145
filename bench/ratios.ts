/** The ratios that summarise the rows, and their targets. */
import { NAMES, SIZE } from './names.js';
import { MIN_TICKS, type Row } from './rows.js';

/** Selects a row. `kernel: 'best'` stands for the kernel of the first native row. */
export type Key = Partial<Pick<Row, 'kernel' | 'name' | 'threads' | 'episodes' | 'layout'>>;

/** A target of the project. */
export interface Target {
  readonly bound: 'at most' | 'at least';
  readonly value: number;
  /** A second, stricter bound. */
  readonly goal?: number;
}

interface Rule {
  readonly name: string;
  readonly unit: 'cyclesPerStep' | 'nsPerStep';
  readonly row: Key;
  /** The divisor. Rows hold times, so the quotient `row` / `over` tells how many times as fast `over` is as `row`. */
  readonly over?: Key;
  /** The minimum number of cores for a meaningful ratio. */
  readonly cores?: number;
  readonly target?: Target;
}

const atMost = (value: number, goal?: number): Target => ({ bound: 'at most', value, goal });
const atLeast = (value: number): Target => ({ bound: 'at least', value });

const rowMajor = 'row-major';
const columnMajor = 'column-major';

const fused = (kernel: string, episodes: number = SIZE.usual, threads = 1): Key => ({
  kernel,
  name: NAMES.fused,
  episodes,
  threads,
  layout: rowMajor,
});
const step = (kernel: string, layout: string): Key => ({
  kernel,
  name: NAMES.step,
  episodes: SIZE.usual,
  layout,
});
const best = (name: string): Key => ({ kernel: 'best', name, layout: rowMajor });
const cycles = 'cyclesPerStep';
const ns = 'nsPerStep';

const RULES: readonly Rule[] = [
  { name: 'fused_cycles', unit: cycles, row: fused('avx512'), target: atMost(16, 13.5) },
  { name: 'step_column_cycles', unit: cycles, row: step('avx512', columnMajor), target: atMost(14, 12) },
  { name: 'step_row_cycles', unit: cycles, row: step('avx512', rowMajor), target: atMost(20) },
  {
    name: 'fork_over_fused',
    unit: cycles,
    row: best(NAMES.fork),
    over: best(NAMES.sequence),
    target: atMost(1.1),
  },
  { name: 'scalar_fused_cycles', unit: cycles, row: fused('scalar'), target: atMost(200) },
  { name: 'scalar_step_cycles', unit: cycles, row: step('scalar', rowMajor), target: atMost(165) },
  {
    name: 'fused_flatness',
    unit: ns,
    row: fused('best'),
    over: fused('best', SIZE.large),
    target: atLeast(0.9),
  },
  {
    name: 'two_threads_fused',
    unit: ns,
    row: fused('best', SIZE.large),
    over: fused('best', SIZE.large, 2),
    cores: 2,
    target: atLeast(1.8),
  },
  {
    name: 'api_over_native',
    unit: ns,
    row: best(NAMES.addonStep),
    over: best(NAMES.envStep),
    target: atLeast(0.85),
  },
  { name: 'fused_over_scalar', unit: cycles, row: fused('scalar'), over: fused('avx512') },
  // Each kernel in its best layout.
  {
    name: 'step_over_scalar',
    unit: cycles,
    row: step('scalar', rowMajor),
    over: step('avx512', columnMajor),
  },
  { name: 'avx2_fused_cycles', unit: cycles, row: fused('avx2') },
  { name: 'portable_fused_cycles', unit: cycles, row: fused('portable') },
];

export interface Ratio {
  readonly name: string;
  readonly value: number;
  /** Absent for ratios without a target. */
  readonly target?: Target;
}

export interface Ratios {
  readonly ratios: readonly Ratio[];
  /** Ratios that could not be computed, and why. */
  readonly leftOut: readonly { readonly name: string; readonly why: string }[];
}

/** Computes all ratios. @param cores the number of available cores. */
export function ratiosOf(measured: readonly Row[], cores: number): Ratios {
  const ratios: Ratio[] = [];
  const leftOut: { name: string; why: string }[] = [];
  for (const rule of RULES) {
    const { name, target } = rule;
    const value = apply(rule, measured, cores);
    if (typeof value === 'string') leftOut.push({ name, why: value });
    else ratios.push(target === undefined ? { name, value } : { name, value, target });
  }
  return { ratios, leftOut };
}

/** Returns a ratio, or the reason why it cannot be computed. */
function apply({ unit, row, over, cores = 1 }: Rule, measured: readonly Row[], available: number) {
  if (available < cores) return `It needs ${cores} cores; this machine has ${available}.`;
  const value = figure(row, unit, measured);
  const divisor = over === undefined ? 1 : figure(over, unit, measured);
  if (typeof value === 'string') return value;
  return typeof divisor === 'string' ? divisor : value / divisor;
}

function figure(key: Key, unit: Rule['unit'], measured: readonly Row[]): number | string {
  const kernel =
    key.kernel === 'best' ? measured.find((row) => row.backend === 'native')?.kernel : key.kernel;
  const wanted = Object.entries({ ...key, kernel });
  const row = measured.find((each) => wanted.every(([name, value]) => each[name as keyof Key] === value));
  const title = `${key.name}, ${key.kernel} kernel`;
  if (row === undefined) return `There is no row of ${title}.`;
  if (row.saturated) return `The row of ${title} is void: shorter than ${MIN_TICKS} ticks of the timer.`;
  return row[unit] ?? `No clock was measured for ${title}.`;
}

const meets = (value: number, bound: Target['bound'], limit: number): boolean =>
  bound === 'at most' ? value <= limit : value >= limit;

/** Returns whether a ratio meets its target and its goal, the stricter bound; null for each that it lacks. */
export function judge({ value, target }: Ratio): { met: boolean | null; goalMet: boolean | null } {
  if (target === undefined) return { met: null, goalMet: null };
  const { bound, goal } = target;
  return {
    met: meets(value, bound, target.value),
    goalMet: goal === undefined ? null : meets(value, bound, goal),
  };
}
