/** What is timed: a table of cases, those that matter most first. Each is verified against the reference before. */
import { nativeBackend } from '../dist/backends/native.js';
import { NUM_STEPS } from '../dist/world/fields.js';
import { FORK_STEP, NAMES, SIZE } from './names.js';
import * as plays from './plays.js';
import type { Play, Setting } from './rig.js';
import { WRITES, type Writes } from './writes.js';

export interface Case extends Setting {
  /** As in the JSON: what is done, how. */
  readonly name: string;
  readonly writes: Writes;
  /** What is timed: every episode from where it begins to its grade. */
  readonly play: Play;
  /** What leaves the same when the reference plays it. */
  readonly truth: Play;
  /** Steps that a play takes of each episode. */
  readonly steps: number;
}

type Way = Pick<Case, 'name' | 'writes' | 'play' | 'truth' | 'steps'>;

/** Whole episodes; unless something else is named, the reference plays them the same way. */
const way = (name: string, writes: Writes, play: Play, truth: Play = play): Way => ({
  name,
  writes,
  play,
  truth,
  steps: NUM_STEPS,
});

export const FUSED = way(NAMES.fused, WRITES.grades, plays.random);
export const STEP = way(NAMES.step, WRITES.steps, plays.steps);
const HEURISTIC = way(NAMES.heuristic, WRITES.grades, plays.heuristic);
const TAPE = way(NAMES.tape, WRITES.grades, plays.tape);
const RECORDED = way(NAMES.recorded, WRITES.trajectory, plays.recordedTape);
const FORK: Way = {
  ...way(NAMES.fork, WRITES.grades, plays.fork, plays.forkUnforked),
  steps: NUM_STEPS - FORK_STEP,
};
const ENV_STEP = way(NAMES.envStep, WRITES.steps, plays.envSteps, plays.steps);
// One call shows one thing: the end, which a run of the same tape shows too.
const ADDON_STEP = way(NAMES.addonStep, WRITES.steps, plays.addonSteps, plays.tape);

const rows = 'row-major' as const;
const columns = 'column-major' as const;

/** The kernels that this machine can run, best first. */
export const KERNELS: readonly string[] = nativeBackend
  .kernels()
  .filter((kernel) => kernel.available)
  .map((kernel) => kernel.name);

/** A native case on one thread, row-major as `createVecEnv` is by default, unless said otherwise. */
const native = (kernel: string, of: Way, changes: Partial<Setting> = {}): Case => ({
  ...of,
  backend: 'native',
  kernel,
  threads: 1,
  episodes: SIZE.usual,
  layout: rows,
  ...changes,
});

/** What every kernel is measured by. One lane at a time gains nothing from columns. */
const kernelCases = (kernel: string): Case[] => [
  native(kernel, FUSED),
  ...(kernel === 'scalar' ? [] : [native(kernel, STEP, { layout: columns })]),
  native(kernel, STEP),
  native(kernel, FORK),
  native(kernel, TAPE),
  native(kernel, RECORDED),
  native(kernel, HEURISTIC),
];

/** What is asked of the best kernel alone. */
const bestCases = (kernel: string): Case[] => [
  native(kernel, FUSED, { episodes: SIZE.large }),
  native(kernel, FUSED, { episodes: SIZE.large, threads: 2 }),
  native(kernel, ENV_STEP, { episodes: SIZE.small }),
  native(kernel, ADDON_STEP, { episodes: SIZE.small }),
];

const reference = (of: Way): Case => ({
  ...of,
  backend: 'reference',
  kernel: null,
  threads: 1,
  episodes: SIZE.reference,
  layout: rows,
});

const [best, ...others] = KERNELS;

export const CASES: readonly Case[] = [
  ...(best === undefined ? [] : [...kernelCases(best), ...bestCases(best)]),
  ...others.flatMap(kernelCases),
  reference(FUSED),
  reference(STEP),
];
