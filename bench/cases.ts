/** The benchmark's cases, the most important first. Each is verified against the reference before it is timed. */
import { nativeBackend } from '../dist/engine/backends/native.js';
import { NUM_STEPS } from '../dist/world/fields.js';
import { FORK_STEP, NAMES, SIZE } from './names.js';
import type { Choice } from './operations.js';
import * as plays from './plays.js';
import type { OpenRig, Setting } from './rig.js';
import { WRITES, type Writes } from './writes.js';

export interface Case extends Setting {
  /** The name in the JSON file. */
  readonly name: string;
  readonly writes: Writes;
  /** Opens the timed work: episodes that are played to their grade. */
  readonly open: OpenRig;
  /** Opens the work with which the reference computes the expected outputs. */
  readonly openExpected: OpenRig;
  /** Steps that a play takes per episode. */
  readonly steps: number;
  /**
   * 'random' if a step also draws its action, else 'given', for the count of operations in operations.ts. Absent if
   * a step needs fewer operations than the rules demand.
   */
  readonly choice?: Choice;
}

/** The part of a case that does not depend on the setting. */
type Workload = Pick<Case, 'name' | 'writes' | 'open' | 'openExpected' | 'steps' | 'choice'>;

/** Returns a workload of whole episodes. By default the reference does the same work. */
const wholeEpisodes = (
  name: string,
  writes: Writes,
  open: OpenRig,
  openExpected: OpenRig = open,
  choice: Choice = 'given',
): Workload => ({
  name,
  writes,
  open,
  openExpected,
  steps: NUM_STEPS,
  choice,
});

/** Whole random episodes in one `run` ("fused" in names.ts). */
export const FUSED = wholeEpisodes(NAMES.fused, WRITES.grades, plays.random, plays.random, 'random');
export const STEP = wholeEpisodes(NAMES.step, WRITES.steps, plays.steps);
const HEURISTIC = wholeEpisodes(NAMES.heuristic, WRITES.grades, plays.heuristic);
const SEQUENCE = wholeEpisodes(NAMES.sequence, WRITES.grades, plays.sequence);
const RECORDED = wholeEpisodes(NAMES.recorded, WRITES.trajectory, plays.recordedSequence);
const FORK: Workload = {
  ...wholeEpisodes(NAMES.fork, WRITES.grades, plays.fork, plays.forkFromReset),
  steps: NUM_STEPS - FORK_STEP,
  // Rollouts from one state share their random draws, so a step needs fewer operations.
  choice: undefined,
};
const ENV_STEP = wholeEpisodes(NAMES.envStep, WRITES.steps, plays.envSteps, plays.steps);
// One call makes all steps. Each step overwrites the outputs of the step before. The last outputs equal those of one `run`.
const ADDON_STEP = wholeEpisodes(NAMES.addonStep, WRITES.steps, plays.addonSteps, plays.sequence);

const rows = 'row-major' as const;
const columns = 'column-major' as const;

/** The kernels that this machine can run, best first. */
export const KERNELS: readonly string[] = nativeBackend
  .kernels()
  .filter((kernel) => kernel.available)
  .map((kernel) => kernel.name);

/** Returns a native case: one thread and row-major outputs by default. */
const native = (kernel: string, workload: Workload, changes: Partial<Setting> = {}): Case => ({
  ...workload,
  backend: 'native',
  kernel,
  threads: 1,
  episodes: SIZE.usual,
  layout: rows,
  ...changes,
});

/** Returns the cases of a kernel. The scalar kernel gains nothing from the column-major layout. */
const kernelCases = (kernel: string): Case[] => [
  native(kernel, FUSED),
  ...(kernel === 'scalar' ? [] : [native(kernel, STEP, { layout: columns })]),
  native(kernel, STEP),
  native(kernel, FORK),
  native(kernel, SEQUENCE),
  ...(kernel === 'scalar' ? [] : [native(kernel, RECORDED, { layout: columns })]),
  native(kernel, RECORDED),
  native(kernel, HEURISTIC),
];

/** Returns further cases of the best kernel. */
const bestCases = (kernel: string): Case[] => [
  native(kernel, FUSED, { episodes: SIZE.large }),
  native(kernel, FUSED, { episodes: SIZE.large, threads: 2 }),
  native(kernel, ENV_STEP, { episodes: SIZE.small }),
  native(kernel, ADDON_STEP, { episodes: SIZE.small }),
];

const reference = (workload: Workload): Case => ({
  ...workload,
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
