/** Runs: validates their arguments, and plays them in slices of environments, with reports of progress between the slices. */

import { InputError, Place, StateError } from '../../shared/errors.js';
import { didYouMean } from '../../shared/names.js';
import { checkName, describe, isList, readOptions, toFlag, wrongType } from '../../shared/values.js';
import { NUM_BELIEFS, NUM_STEPS } from '../../world/fields.js';
import type {
  OutputName,
  RecordedTrajectory,
  Refusal,
  RunBeliefs,
  RunPolicy,
  RunRequest,
  TrajectoryField,
  TrajectoryOf,
} from '../backends/backend.js';
import { allocateTrajectory, TRAJECTORY_FIELDS } from '../backends/outputs.js';
import { type EngineCalls, resultOf } from '../engine-calls.js';
import { HISTORY_FIELDS } from '../observe/history.js';
import { copyIfAliased } from '../validate/copy-arguments.js';
import { type SeedChoice, toSeeds } from '../validate/seeds.js';
import {
  type Actions,
  illegalAction,
  toActions,
  toBeliefs,
  toConstantBelief,
  toGiven,
  toStops,
} from '../validate/steps.js';
import { checkCopies, commitCopies, needsReplay, type RunOrigin, toOrigin } from './copy-states.js';
import type { Core } from './core.js';
import { toOutputNames } from './step-outputs.js';
import {
  type AsyncRunOptionsFrom,
  FROM_OPTIONS,
  LAYOUTS,
  type LongCallOptions,
  type RunOptionsFrom,
} from './vec-env-options.js';

/** A policy that every backend implements, or action sequences: codes, [numEnvs, 28] by the episode's step. */
export type RunChoice = 'random' | 'heuristic' | Actions;

const POLICIES = ['random', 'heuristic'];
/** The shape of action sequences and of the rows of beliefs, for errors. */
const SEQUENCE = `numEnvs x ${NUM_STEPS}`;

/** Returns the policy of a run. @throws InputError `unknown_name`, `unknown_option`, or as `toSeeds` and `toActions`. */
export function toRunPolicy(
  choice: RunChoice,
  policySeeds: SeedChoice | undefined,
  numEnvs: number,
): RunPolicy {
  if (choice === 'random') {
    const seeds = policySeeds === undefined ? null : toSeeds(policySeeds, numEnvs, 'policySeeds');
    return { kind: 'random', policySeeds: seeds };
  }
  if (policySeeds !== undefined) {
    throw new InputError('unknown_option', {
      expected: 'policySeeds with the random policy only',
      got: `them with ${describe(choice)}`,
      remedy: 'Leave them out.',
    });
  }
  if (choice === 'heuristic') return { kind: 'heuristic' };
  if (typeof choice === 'string') {
    throw new InputError('unknown_name', {
      expected: `${POLICIES.join(', ')} or action sequences as the policy`,
      got: describe(choice),
      remedy: didYouMean(choice, POLICIES, ' Call evaluate for any other policy, such as the planner.'),
    });
  }
  const length = numEnvs * NUM_STEPS;
  return { kind: 'sequence', actions: toActions(choice, length, SEQUENCE, null) };
}

/**
 * Returns the beliefs of a run. @param beliefs three numbers that hold for all steps, or [numEnvs, 28, 3].
 * @throws InputError as `toConstantBelief`, `toBeliefs` and `toGiven`.
 */
export function toRunBeliefs(beliefs: ArrayLike<number>, numEnvs: number): RunBeliefs {
  if (isList(beliefs) && beliefs.length === NUM_BELIEFS) {
    return { kind: 'constant', belief: toConstantBelief(beliefs) };
  }
  const rows = numEnvs * NUM_STEPS;
  const sequence = toBeliefs(beliefs, rows, SEQUENCE, null);
  return { kind: 'sequence', beliefs: sequence, given: toGiven(sequence, rows, new Uint8Array(rows)) };
}

/** The trajectory options of a run. */
type TrajectoryOptions = Pick<RunOptionsFrom<unknown>, 'trajectory' | 'layout'>;

/** Returns the fields that a run returns. @throws InputError `wrong_type`, `unknown_name`. */
function toFields(value: TrajectoryOptions['trajectory']): readonly TrajectoryField[] {
  if (value === undefined || typeof value === 'boolean') {
    return toFlag('trajectory', value) ? TRAJECTORY_FIELDS : [];
  }
  if (!isList(value)) {
    throw wrongType(
      'trajectory',
      'a boolean or a list of fields',
      value,
      "Pass true, or ['rewards'], for instance.",
    );
  }
  return Array.from(value, (name, k) => checkName(`trajectory[${k}]`, name, TRAJECTORY_FIELDS));
}

/**
 * Allocates the trajectory of a run; null if it records nothing.
 * @param hasHistory whether histories are computed from the trajectory. @throws InputError `wrong_type`, `unknown_name`.
 */
function toTrajectory(
  { trajectory, layout = 'row-major' }: TrajectoryOptions,
  numEnvs: number,
  hasHistory: boolean,
): RecordedTrajectory | null {
  const isColumnMajor = checkName('layout', layout, LAYOUTS) === 'column-major';
  const fields = new Set([...toFields(trajectory), ...(hasHistory ? HISTORY_FIELDS : [])]);
  return fields.size === 0 ? null : allocateTrajectory(numEnvs, [...fields], isColumnMajor);
}

/** Checks the options of a long call. @throws InputError `wrong_type`. */
export function checkLongCall({ onProgress, signal }: LongCallOptions): void {
  if (onProgress !== undefined && typeof onProgress !== 'function') {
    refuse('onProgress', 'a function', onProgress);
  }
  if (signal !== undefined && !(signal instanceof AbortSignal)) refuse('signal', 'an AbortSignal', signal);
}

function refuse(name: string, expected: string, got: unknown): never {
  throw wrongType(name, expected, got, `Pass ${expected}, or leave out ${name}.`);
}

/** A run with valid arguments. */
export interface Run {
  readonly request: RunRequest;
  /** The source of the states to begin from; null for the current states. */
  readonly origin: RunOrigin | null;
  readonly options: RunOptionsFrom<unknown>;
  /** The outputs to read back; undefined for all. */
  readonly outputs: readonly OutputName[] | undefined;
}

/**
 * Validates the arguments of a run. @param known the names of valid options.
 * @param coreOf returns the core of a source environment. @throws as `VecEnv.run`.
 */
export function toRun<Env>(
  core: Core,
  choice: RunChoice,
  options: AsyncRunOptionsFrom<Env>,
  known: readonly (keyof AsyncRunOptionsFrom<Env>)[],
  coreOf: (what: string, env: Env) => Core,
): Run {
  const runOptions = readOptions('run options', options, known);
  checkLongCall(runOptions);
  if (runOptions.from === undefined) core.requireEpisodes();
  const from = runOptions.from === undefined ? undefined : readOptions('from', runOptions.from, FROM_OPTIONS);
  const origin = from === undefined ? null : toOrigin(core, coreOf('from.source', from.source), from.indices);
  const request = toRequest(core, choice, runOptions);
  if (origin !== null) checkCopies(core, origin.source, origin.indices);
  const outputs = runOptions.outputs === undefined ? undefined : toOutputNames(runOptions.outputs);
  return { request, origin, options: runOptions, outputs };
}

/** Returns the request of a run. @throws InputError for an invalid argument. */
function toRequest(core: Core, choice: RunChoice, options: RunOptionsFrom<unknown>): RunRequest {
  const { numEnvs, overwritten, stepOutputs } = core;
  const stops = options.stops === undefined ? null : toStops(options.stops, numEnvs);
  const unaliased = <T>(array: T): T => copyIfAliased(array, overwritten, options.onProgress !== undefined);
  const policy = toRunPolicy(unaliased(choice), options.policySeeds, numEnvs);
  const beliefs = options.beliefs === undefined ? null : toRunBeliefs(unaliased(options.beliefs), numEnvs);
  return { policy, beliefs, stops, trajectory: toTrajectory(options, numEnvs, stepOutputs.history !== null) };
}

/**
 * Environments per slice: a multiple of 16, which `RunRequest.part` requires. A slice takes a few milliseconds of native
 * work, some tenths of a second on the reference.
 */
const SLICE_ENVS = 16_384;

/** Environments per slice on a GPU, which computes many at a time. Chosen by hand: no GPU was measured. */
const DEVICE_SLICE_ENVS = 2 ** 20;

/**
 * Runs a batch in one call, or, with `onProgress` or `signal`, slice by slice. Finished slices are committed even after an
 * error or a refusal.
 * @param pause waits between slices; null to wait for nothing.
 * @param read reads the outputs back. @param onFinish receives the number of environments that ran, after they are committed.
 * @returns the refusal that ended the run, or null.
 * @throws the signal's reason; errors of `onProgress`; StateError `outputs_detached` if memory was transferred.
 */
export function* runInSlices(
  core: Core,
  run: Run,
  pause: (() => Promise<void>) | null,
  read: () => EngineCalls<void>,
  onFinish: (envs: number) => void,
): EngineCalls<Refusal | null> {
  const { request, origin, options } = run;
  const { batch, numEnvs } = core;
  const { onProgress, signal } = options;
  const isObserved = onProgress !== undefined || signal !== undefined;
  const size = !isObserved ? numEnvs : batch.device?.software === false ? DEVICE_SLICE_ENVS : SLICE_ENVS;
  const from = origin === null ? undefined : { source: origin.source.batch, indices: origin.indices };
  let done = 0;
  signal?.throwIfAborted();
  try {
    while (done < numEnvs) {
      signal?.throwIfAborted();
      const end = Math.min(done + size, numEnvs);
      const refusal = yield* resultOf(batch.run({ ...request, slice: { first: done, end }, from }));
      if (refusal !== null) return refusal;
      done = end;
      reportProgress(origin === null ? [core] : [core, origin.source], () => onProgress?.(done, numEnvs));
      if (isObserved && done < numEnvs && pause !== null) yield* resultOf(pause());
    }
    return null;
  } finally {
    yield* read();
    yield* commitSlices(core, run, done);
    onFinish(done);
  }
}

/** Calls `onProgress`. Calls of the run's environments from it are refused as `busy`. @throws StateError `outputs_detached`. */
function reportProgress(cores: readonly Core[], onProgress: () => void): void {
  for (const core of cores) core.busy = true;
  try {
    onProgress();
    for (const core of cores) core.requireAttached();
  } finally {
    for (const core of cores) core.busy = false;
  }
}

/** Commits the finished slices of a run: its first `done` environments. */
function* commitSlices(core: Core, { request, origin }: Run, done: number): EngineCalls<void> {
  if (origin !== null) {
    const indices = origin.indices.subarray(0, done);
    const isReplayed = done > 0 && needsReplay(core, origin.source);
    const words = isReplayed ? yield* resultOf(origin.source.batch.save(indices)) : null;
    commitCopies(core, origin.source, indices, words);
  }
  // A run with an origin may be the first call. If it stops early, some environments have no episode and need a reset.
  if (done === core.numEnvs) core.phase = 'playing';
  if (done === 0) return;
  // The run has ended no episodes of the other environments.
  if (core.attached) core.outputs.finalMask.fill(0, done);
  core.commitRun(request, done);
}

/** Returns the requested fields of a recorded trajectory; null if there are none. */
export function requestedFields<Field extends TrajectoryField>(
  recorded: RecordedTrajectory | null,
  { trajectory }: TrajectoryOptions,
): TrajectoryOf<Field> | null {
  const fields = toFields(trajectory);
  if (recorded === null || fields.length === 0) return null;
  const arrays = Object.fromEntries(fields.map((name) => [name, recorded[name]]));
  return { ...arrays, columnStride: recorded.columnStride } as TrajectoryOf<Field>;
}

/** Throws the error for a refusal. Does nothing for null. */
export function throwIfRefused(refusal: Refusal | null): void {
  if (refusal === null) return;
  throw refusal.code === 'illegal_action' ? actionError(refusal) : episodeOverError(refusal);
}

function actionError({ index, step, value }: Refusal): InputError {
  const text = step === undefined ? undefined : `actions of environment ${index}, step ${step}`;
  return illegalAction(new Place('actions', index, text), value);
}

function episodeOverError({ index }: Refusal): StateError {
  return new StateError(
    'episode_over',
    `Expected every episode to have steps left, got environment ${index}, which has taken all ${NUM_STEPS}. ` +
      'No episode was stepped. Call reset first, or leave the environment out with a mask.',
  );
}
