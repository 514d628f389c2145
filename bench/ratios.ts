/**
 * The names of the measured cases, their rows, the ratios that summarise the rows, and the targets. A ratio is a share of the
 * bound, or a quotient of times.
 */
import { atLeast, atMost, type Ratio, type Ratios, type Target } from './report.js';
import { MIN_TICKS } from './runner.js';

/** Numbers of episodes. */
export const SIZE = {
  /** A small batch, for the cases that measure the cost of a call. */
  small: 1024,
  /** The size of most cases. Chosen by hand. */
  usual: 4096,
  /** A batch whose states exceed the second-level cache. */
  large: 65_536,
  /** Small, because the reference is slow. */
  reference: 256,
} as const;

/** The number of rollouts from each state, and the step of that state. Chosen by hand: step 14 is the middle of an episode. */
export const ROLLOUTS = 16;
export const FORK_STEP = 14;

/** The names of cases. "fused" stands for whole episodes in one `run`. */
export const NAMES = {
  fused: 'fused random',
  sequence: 'fused action sequence',
  recorded: 'fused action sequence, recorded',
  step: 'step',
  fork: `${ROLLOUTS} rollouts a state, forked at t = ${FORK_STEP}`,
  envStep: 'VecEnv.step',
  addonStep: 'step, looped in the addon',
} as const;

/** The subject of a row. */
export interface Subject {
  readonly backend: string;
  readonly kernel: string | null;
  readonly name: string;
  readonly threads: number;
  readonly episodes: number;
  readonly layout: string;
  /** The outputs that are written for the caller. */
  readonly writes: string;
  readonly bytesPerStep: number;
}

export interface Row extends Subject {
  /** Whether the row is void because the timer was too coarse. The following figures are then null. */
  readonly saturated: boolean;
  /** Wall time, the median over the rounds. */
  readonly nsPerStep: number | null;
  /** Half the distance between the quartiles of the wall time, divided by the median. */
  readonly spread: number | null;
  /** Cycles of the processor's clock, measured with each sample; null if not measured. */
  readonly cyclesPerStep: number | null;
  /**
   * The share of the bound: the least time of a step, divided by its measured time. The least time is the longer of two: for
   * the operations of the rules, and for the written bytes. Null where the least time is not known.
   */
  readonly share: number | null;
  /** Which of the two times of `share` is the longer one; null without a share. */
  readonly boundBy: 'operations' | 'bytes' | null;
  /** The median `rate` of the samples, divided by the best rate in this run; null if not measured. */
  readonly core: number | null;
}

/** Selects a row. `kernel: 'best'` stands for the kernel of the first native row. */
type Key = Partial<Pick<Row, 'kernel' | 'name' | 'threads' | 'episodes' | 'layout'>>;

interface Rule {
  readonly name: string;
  readonly row: Key;
  /**
   * The divisor. The quotient of the times of `row` and `over` is the speed of `over` divided by the speed of `row`. Without it
   * the ratio is the share of `row`. Targets are set on shares and on quotients of times, because machines differ in clock rate
   * and in execution units.
   */
  readonly over?: Key;
  /** The minimum number of cores for a meaningful ratio. */
  readonly cores?: number;
  readonly target: Target;
}

const keyOf = (name: string, kernel: string, layout: string): Key => ({
  kernel,
  name,
  episodes: SIZE.usual,
  threads: 1,
  layout,
});
const fused = keyOf(NAMES.fused, 'best', 'row-major');
const large = (threads: number): Key => ({ ...fused, episodes: SIZE.large, threads });
const best = (name: string): Key => ({ kernel: 'best', name, layout: 'row-major' });

/** Cases whose share of the bound has a target: name and layout. */
const SHARE_CASES = {
  fused: [NAMES.fused, 'row-major'],
  step_column: [NAMES.step, 'column-major'],
  step_row: [NAMES.step, 'row-major'],
  recorded_column: [NAMES.recorded, 'column-major'],
  recorded_row: [NAMES.recorded, 'row-major'],
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
    const [name, layout] = SHARE_CASES[key as ShareCase];
    return {
      name: `${kernel}_${key}_share`,
      row: keyOf(name, kernel, layout),
      target: atLeast(target),
    };
  }),
);

const layoutRules = ['avx512', 'avx2', 'portable'].map(
  (kernel): Rule => ({
    name: `${kernel}_row_over_column`,
    // Time of a row-major step divided by the time of a column-major step.
    row: keyOf(NAMES.step, kernel, 'row-major'),
    over: keyOf(NAMES.step, kernel, 'column-major'),
    target: atMost(1.2),
  }),
);

/** The targets of quotients are chosen by hand: equal times (two threads: half the time), with 10 to 20 % of margin. */
const RULES: readonly Rule[] = [
  ...shareRules,
  ...layoutRules,
  {
    name: 'fork_over_fused',
    // Time of a step of forked groups divided by the time of a step of action sequences without a fork.
    row: best(NAMES.fork),
    over: best(NAMES.sequence),
    target: atMost(1.1),
  },
  {
    name: 'fused_flatness',
    // Speed with 65,536 episodes divided by the speed with 4,096.
    row: fused,
    over: large(1),
    target: atLeast(0.9),
  },
  {
    name: 'two_threads_fused',
    // Speed of two threads divided by the speed of one thread, 65,536 episodes.
    row: large(1),
    over: large(2),
    cores: 2,
    target: atLeast(1.8),
  },
  {
    name: 'api_over_native',
    // Speed of `VecEnv.step` divided by the speed of a loop inside the addon.
    row: best(NAMES.addonStep),
    over: best(NAMES.envStep),
    target: atLeast(0.85),
  },
];

/** Computes all ratios. @param cores the number of available cores. */
export function ratiosOf(measured: readonly Row[], cores: number): Required<Ratios> {
  const ratios: Ratio[] = [];
  const leftOut: { name: string; why: string }[] = [];
  for (const rule of RULES) {
    const { name, target } = rule;
    const value = compute(rule, measured, cores);
    if (typeof value === 'string') leftOut.push({ name, why: value });
    else ratios.push({ name, value, target });
  }
  return { ratios, leftOut };
}

/** Returns a ratio, or the reason why it cannot be computed. */
function compute({ row, over, cores = 1 }: Rule, measured: readonly Row[], available: number) {
  if (available < cores) return `It needs ${cores} cores; this machine has ${available}.`;
  if (over === undefined) return figure(row, 'share', measured);
  const [value, divisor] = [row, over].map((key) => figure(key, 'nsPerStep', measured));
  if (typeof value === 'string') return value;
  return typeof divisor === 'string' ? divisor : value / divisor;
}

/** Returns the figure of a row, or the reason why there is none. */
function figure(key: Key, unit: 'share' | 'nsPerStep', measured: readonly Row[]): number | string {
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
