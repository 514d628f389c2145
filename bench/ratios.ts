/**
 * The ratios that summarise the rows, and their targets. A ratio is a share of the bound (rows.ts), or a quotient of two times.
 */
import { NAMES, SIZE } from './names.js';
import { MIN_TICKS, type Row } from './rows.js';

/** Selects a row. `kernel: 'best'` stands for the kernel of the first native row. */
export type Key = Partial<Pick<Row, 'kernel' | 'name' | 'threads' | 'episodes' | 'layout'>>;

/** A target of the project. */
export interface Target {
  readonly bound: 'at most' | 'at least';
  readonly value: number;
  /** A stricter bound, judged separately. Only the target of device.ts has one. */
  readonly goal?: number;
}

interface Rule {
  readonly name: string;
  /** A description, for docs/speed.md. */
  readonly what: string;
  /**
   * The field of a row that is read. Targets are set on shares and on quotients of times, because machines differ in clock rate
   * and in execution units.
   */
  readonly unit: 'share' | 'nsPerStep';
  readonly row: Key;
  /** The divisor. The quotient of the times of `row` and `over` is the speed of `over` divided by the speed of `row`. */
  readonly over?: Key;
  /** The minimum number of cores for a meaningful ratio. */
  readonly cores?: number;
  readonly target?: Target;
}

const atMost = (value: number): Target => ({ bound: 'at most', value });
const atLeast = (value: number): Target => ({ bound: 'at least', value });

const rowMajor = 'row-major';
const columnMajor = 'column-major';

const keyOf = (name: string, kernel: string, layout: string): Key => ({
  kernel,
  name,
  episodes: SIZE.usual,
  threads: 1,
  layout,
});
const fused = (kernel: string): Key => keyOf(NAMES.fused, kernel, rowMajor);
const large = (threads: number): Key => ({ ...fused('best'), episodes: SIZE.large, threads });
const best = (name: string): Key => ({ kernel: 'best', name, layout: rowMajor });
const ns = 'nsPerStep';

/** Cases whose share of the bound has a target. */
const SHARE_CASES = {
  fused: { name: NAMES.fused, layout: rowMajor, what: 'whole random episodes in one `run`' },
  step_column: { name: NAMES.step, layout: columnMajor, what: 'step, column-major' },
  step_row: { name: NAMES.step, layout: rowMajor, what: 'step, row-major' },
  recorded_column: { name: NAMES.recorded, layout: columnMajor, what: 'recorded run, column-major' },
  recorded_row: { name: NAMES.recorded, layout: rowMajor, what: 'recorded run, row-major' },
} as const;
type ShareCase = keyof typeof SHARE_CASES;

/**
 * The targets of shares, by kernel: below the shares that a Zen 5 core reached (results/kernels.json). It does four or five
 * operations per cycle. Cores that do two reach greater shares.
 */
const SHARES: Readonly<Record<string, Partial<Record<ShareCase, number>>>> = {
  avx512: { fused: 0.5, step_column: 0.35, step_row: 0.3, recorded_column: 0.35, recorded_row: 0.25 },
  avx2: { fused: 0.5, step_column: 0.3, step_row: 0.3, recorded_column: 0.3, recorded_row: 0.2 },
  portable: { fused: 0.6, step_column: 0.4, step_row: 0.4, recorded_column: 0.4, recorded_row: 0.3 },
  scalar: { fused: 0.4, step_row: 0.3, recorded_row: 0.35 },
};

const shareRules = Object.entries(SHARES).flatMap(([kernel, targets]) =>
  Object.entries(targets).map(([key, target]): Rule => {
    const { name, layout, what } = SHARE_CASES[key as ShareCase];
    return {
      name: `${kernel}_${key}_share`,
      what: `share of the bound: ${what}`,
      unit: 'share',
      row: keyOf(name, kernel, layout),
      target: atLeast(target),
    };
  }),
);

const layoutRules = ['avx512', 'avx2', 'portable'].map(
  (kernel): Rule => ({
    name: `${kernel}_row_over_column`,
    what: 'time of a row-major step divided by the time of a column-major step',
    unit: ns,
    row: keyOf(NAMES.step, kernel, rowMajor),
    over: keyOf(NAMES.step, kernel, columnMajor),
    target: atMost(1.2),
  }),
);

/** The targets of quotients are chosen by hand: equal times (two threads: half the time), with 10 to 20 % of margin. */
const RULES: readonly Rule[] = [
  ...shareRules,
  ...layoutRules,
  {
    name: 'fork_over_fused',
    what: 'time of a step of forked groups divided by the time of a step of action sequences without a fork',
    unit: ns,
    row: best(NAMES.fork),
    over: best(NAMES.sequence),
    target: atMost(1.1),
  },
  {
    name: 'fused_flatness',
    what: 'speed with 65,536 episodes divided by the speed with 4,096',
    unit: ns,
    row: fused('best'),
    over: large(1),
    target: atLeast(0.9),
  },
  {
    name: 'two_threads_fused',
    what: 'speed of two threads divided by the speed of one thread, 65,536 episodes',
    unit: ns,
    row: large(1),
    over: large(2),
    cores: 2,
    target: atLeast(1.8),
  },
  {
    name: 'api_over_native',
    what: 'speed of `VecEnv.step` divided by the speed of a loop inside the addon',
    unit: ns,
    row: best(NAMES.addonStep),
    over: best(NAMES.envStep),
    target: atLeast(0.85),
  },
  {
    name: 'fused_over_scalar',
    what: 'speed of avx512 divided by the speed of scalar, whole random episodes',
    unit: ns,
    row: fused('scalar'),
    over: fused('avx512'),
  },
  {
    name: 'step_over_scalar',
    what: 'speed of a column-major step of avx512 divided by the speed of a row-major step of scalar',
    unit: ns,
    row: keyOf(NAMES.step, 'scalar', rowMajor),
    over: keyOf(NAMES.step, 'avx512', columnMajor),
  },
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

/** The targets, by the names of ratios. */
export const TARGETS: ReadonlyMap<string, Target> = new Map(
  RULES.flatMap(({ name, target }) => (target === undefined ? [] : [[name, target] as const])),
);

/** Returns the description of a ratio. @throws Error for an unknown name. */
export function whatIs(ratio: string): string {
  const rule = RULES.find(({ name }) => name === ratio);
  if (rule === undefined) throw new Error(`Expected the name of a ratio, got ${ratio}. Measure again.`);
  return rule.what;
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

/** Returns the figure of a row, or the reason why there is none. */
function figure(key: Key, unit: Rule['unit'], measured: readonly Row[]): number | string {
  const kernel =
    key.kernel === 'best' ? measured.find((row) => row.backend === 'native')?.kernel : key.kernel;
  const wanted = Object.entries({ ...key, kernel });
  const row = measured.find((each) => wanted.every(([name, value]) => each[name as keyof Key] === value));
  const title = `${key.name}, ${key.kernel} kernel`;
  if (row === undefined) return `There is no row of ${title}.`;
  if (row.saturated)
    return `The row of ${title} is void: its samples are shorter than ${MIN_TICKS} ticks of the timer.`;
  return row[unit] ?? `The core's operations per second were not measured for ${title}.`;
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
