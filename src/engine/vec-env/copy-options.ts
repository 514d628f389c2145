/**
 * Copies the arguments of asynchronous calls, which run later. Arrays longer than `maxLength` are not copied, because
 * validation refuses them.
 */

import { MAX_ENVS, NUM_BELIEFS, NUM_STEPS, PROFILE_SIZE } from '../../world/fields.js';
import type { TrajectoryField } from '../backends/backend.js';
import { isGrader } from '../graders/grader.js';
import { copyArgument, copyOptions } from '../validate/copy-arguments.js';
import type { GraderChoice } from '../validate/profiles.js';
import { START_OPTIONS } from '../validate/starts.js';
import {
  ASYNC_RUN_OPTIONS,
  type AsyncRunOptionsFrom,
  FORK_OPTIONS,
  type ForkOptions,
  FROM_OPTIONS,
  IMAGINED_OPTIONS,
  RESET_OPTIONS,
  type ResetOptions,
} from './vec-env-options.js';

/**
 * Returns the number of entries in the longest valid argument of a call on `numEnvs` environments, apart from imagined
 * profiles and snapshots: the beliefs of a run, or the indices of a fork.
 */
export const longestArgument = (numEnvs: number): number =>
  Math.max(numEnvs * NUM_STEPS * NUM_BELIEFS, MAX_ENVS);

/** Copies a reset's options, its graders and its `start`, arrays included. */
export function copyResetOptions(options: ResetOptions, maxLength: number): ResetOptions {
  const copied = copyOptions(options, RESET_OPTIONS, maxLength);
  const { start, graders } = copied ?? {};
  if (start === undefined && graders === undefined) return copied;
  return {
    ...copied,
    ...(start !== undefined && { start: copyOptions(start, START_OPTIONS, maxLength) }),
    ...(graders !== undefined && { graders: copyGraders(graders) }),
  };
}

/** Copies a grader, or the graders of a list. Validation follows, so the values may have other types. */
function copyGraders(graders: GraderChoice): GraderChoice {
  const copy = <T>(grader: T): T =>
    isGrader(grader) ? { ...grader, weights: copyObject(grader.weights) } : grader;
  return Array.isArray(graders) ? graders.map(copy) : copy(graders);
}

const copyObject = <T extends object>(value: T): T =>
  typeof value === 'object' && value !== null ? { ...value } : value;

/** Copies a fork's options and its `imagination`, arrays included. */
export function copyForkOptions(options: ForkOptions, maxLength: number): ForkOptions {
  const copied = copyOptions(options, FORK_OPTIONS, maxLength);
  const imagination = copied?.imagination;
  if (typeof imagination !== 'object') return copied;
  // Imagined profiles may be longer than `longestArgument`.
  return { ...copied, imagination: copyOptions(imagination, IMAGINED_OPTIONS, MAX_ENVS * PROFILE_SIZE) };
}

/** Copies a run's options and its `from`, arrays included. The source environment is not copied. */
export function copyRunOptions<Env, Field extends TrajectoryField>(
  options: AsyncRunOptionsFrom<Env, Field>,
  maxLength: number,
): AsyncRunOptionsFrom<Env, Field> {
  const copied = copyOptions(options, ASYNC_RUN_OPTIONS, maxLength);
  const from = copied?.from;
  return from === undefined ? copied : { ...copied, from: copyOptions(from, FROM_OPTIONS, maxLength) };
}

/** Copies the bytes of a snapshot, of any length. `restore` checks the length later. */
export const copyBytes = (bytes: Uint8Array): Uint8Array => copyArgument(bytes, Number.MAX_SAFE_INTEGER);
