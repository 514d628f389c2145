/**
 * The benchmark's cases, the most important first, and what they write: outputs for the caller, and the state of episodes. Each
 * case is verified against the reference before it is timed.
 */
import { nativeBackend } from '../dist/engine/backends/native.js';
import {
  allocateOutputs,
  allocateTrajectory,
  OUTPUT_ARRAYS,
  TRAJECTORY_FIELDS,
} from '../dist/engine/backends/outputs.js';
import { NUM_STEPS, STATE_FIELDS, TAPE_WORDS } from '../dist/world/fields.js';
import * as plays from './episodes.js';
import type { Choice } from './operations.js';
import { FORK_STEP, NAMES, SIZE } from './ratios.js';

type Name = keyof typeof OUTPUT_ARRAYS;

/** The output arrays that every native step writes. */
export const STEP_ARRAYS: readonly Name[] = ['observations', 'rewards', 'finalMask'];
/** The output arrays that hold an episode's results. */
export const GRADE_ARRAYS = (Object.keys(OUTPUT_ARRAYS) as Name[]).filter(
  (name) => name !== 'finalObservations' && !STEP_ARRAYS.includes(name),
);

/** Returns the bytes of some arrays of one environment. A batch has as many bytes for each of its environments. */
const bytesOf = <Array extends string>(
  arrays: { readonly [name in Array]: { readonly byteLength: number } | null },
  names: readonly Array[],
): number => names.reduce((sum, name) => sum + arrays[name]!.byteLength, 0);

const ONE_ENV = allocateOutputs(1);
const STEP_BYTES = bytesOf(ONE_ENV, STEP_ARRAYS);
const GRADE_BYTES = bytesOf(ONE_ENV, GRADE_ARRAYS);
/** The bytes of a trajectory of one environment, with room for every step. */
const TRAJECTORY_BYTES = bytesOf(allocateTrajectory(1), TRAJECTORY_FIELDS);

const WORD = 4;
/** The fields of the state that a step changes; it also changes the sum of the current half and one word of `tape`. */
const CHANGED = ['step', 'meters', 'well', 'return', 'crashes'];
const changed = STATE_FIELDS.filter(({ name }) => CHANGED.includes(name));
const STATE_STEP_BYTES = WORD * (changed.reduce((sum, { size }) => sum + size, 0) + 2);
/** The state that an episode changes: also the sum of the other half, and the other TAPE_WORDS - 1 words of `tape`. */
const STATE_EPISODE_BYTES = STATE_STEP_BYTES + WORD * TAPE_WORDS;

export interface Writes {
  /** The description in rows and in the JSON file. */
  readonly text: string;
  /** Returns the bytes of outputs that a play of `steps` steps writes, for each episode. */
  readonly bytes: (steps: number) => number;
  /** Returns the bytes of state that a play of `steps` steps writes, for each episode. */
  readonly stateBytes: (steps: number) => number;
}

export const WRITES = {
  grades: {
    text: 'last step, grade',
    bytes: () => STEP_BYTES + GRADE_BYTES,
    stateBytes: () => STATE_EPISODE_BYTES,
  },
  steps: {
    text: 'every step, grade',
    bytes: (steps) => steps * STEP_BYTES + GRADE_BYTES,
    stateBytes: (steps) => steps * STATE_STEP_BYTES,
  },
  trajectory: {
    text: 'trajectory, last step, grade',
    bytes: () => TRAJECTORY_BYTES + STEP_BYTES + GRADE_BYTES,
    stateBytes: () => STATE_EPISODE_BYTES,
  },
} as const satisfies Record<string, Writes>;

/** Explains the texts of the column "writes". */
export const WRITES_LEGEND =
  `A step: ${STEP_ARRAYS.join(', ')}. A grade: ${GRADE_ARRAYS.join(', ')}. ` +
  'B/step counts the bytes that a caller reads.';

/** The part of a case that does not depend on the setting. */
interface Workload {
  /** The name in the JSON file. */
  readonly name: string;
  readonly writes: Writes;
  /** Opens the timed work: episodes that are played to their grade. */
  readonly open: plays.OpenRig;
  /** Opens the work with which the reference computes the expected outputs. */
  readonly openExpected: plays.OpenRig;
  /** Steps that a play takes per episode. */
  readonly steps: number;
  /**
   * 'random' if a step also draws its action, else 'given', for the count of operations in operations.ts. Absent if
   * a step needs fewer operations than the rules demand.
   */
  readonly choice?: Choice;
}
export type Case = Workload & plays.Setting;
type Engine = Pick<Case, 'backend' | 'kernel'>;

/** Returns a workload of whole episodes. By default the reference does the same work. */
const wholeEpisodes = (
  name: string,
  writes: Writes,
  open: plays.OpenRig,
  changes: Partial<Workload> = {},
): Workload => ({ name, writes, open, openExpected: open, steps: NUM_STEPS, choice: 'given', ...changes });

const { grades, steps, trajectory } = WRITES;

/** Whole random episodes in one `run` ("fused" in names.ts). */
export const FUSED = wholeEpisodes(NAMES.fused, grades, plays.random, { choice: 'random' });
export const STEP = wholeEpisodes(NAMES.step, steps, plays.steps);
const SEQUENCE = wholeEpisodes(NAMES.sequence, grades, plays.sequence);
const RECORDED = wholeEpisodes(NAMES.recorded, trajectory, plays.recordedSequence);
const FORK = wholeEpisodes(NAMES.fork, grades, plays.fork, {
  openExpected: plays.forkFromReset,
  steps: NUM_STEPS - FORK_STEP,
  // Rollouts from one state share their random draws, so a step needs fewer operations.
  choice: undefined,
});
const ENV_STEP = wholeEpisodes(NAMES.envStep, steps, plays.envSteps, { openExpected: plays.steps });
// One call makes all steps. Each step overwrites the outputs of the step before. The last outputs equal those of one `run`.
const ADDON_STEP = wholeEpisodes(NAMES.addonStep, steps, plays.addonSteps, { openExpected: plays.sequence });

/** The kernels that this machine can run, best first. */
export const KERNELS: readonly string[] = nativeBackend
  .kernels()
  .filter((kernel) => kernel.available)
  .map((kernel) => kernel.name);

/** Returns a case of an engine: one thread and row-major outputs by default. */
const caseOf = (engine: Engine, workload: Workload, changes: Partial<plays.Setting> = {}): Case => ({
  ...workload,
  ...engine,
  threads: 1,
  episodes: SIZE.usual,
  layout: 'row-major',
  ...changes,
});

/** Returns the cases of an engine. The scalar kernel gains nothing from the column-major layout. */
const engineCases = (engine: Engine): Case[] => {
  const inColumns = (workload: Workload) =>
    engine.kernel === 'scalar' ? [] : [caseOf(engine, workload, { layout: 'column-major' })];
  return [
    caseOf(engine, FUSED),
    ...inColumns(STEP),
    caseOf(engine, STEP),
    caseOf(engine, FORK),
    caseOf(engine, SEQUENCE),
    ...inColumns(RECORDED),
    caseOf(engine, RECORDED),
  ];
};

/** Returns further cases of the best kernel. */
const bestCases = (engine: Engine): Case[] => [
  caseOf(engine, FUSED, { episodes: SIZE.large }),
  caseOf(engine, FUSED, { episodes: SIZE.large, threads: 2 }),
  caseOf(engine, ENV_STEP, { episodes: SIZE.small }),
  caseOf(engine, ADDON_STEP, { episodes: SIZE.small }),
];

const reference = { backend: 'reference', kernel: null, threads: 1, layout: 'row-major' } as const;
const wasm: Engine = { backend: 'wasm', kernel: null };
const [best, ...others] = KERNELS.map((kernel): Engine => ({ backend: 'native', kernel }));

export const CASES: readonly Case[] = [
  ...(best === undefined ? [] : [...engineCases(best), ...bestCases(best)]),
  ...[...others, wasm].flatMap(engineCases),
  ...[FUSED, STEP].map((workload): Case => ({ ...workload, ...reference, episodes: SIZE.reference })),
];
