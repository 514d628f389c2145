/** Copies the arguments of calls when they are made. */

import { MAX_ENVS, NUM_BELIEFS, NUM_STEPS } from '../../world/fields.js';
import { copyArgument, copyOptions } from '../validate/copy-arguments.js';
import { START_OPTIONS } from '../validate/starts.js';
import {
  ASYNC_RUN_OPTIONS,
  type AsyncRunOptionsFrom,
  FROM_OPTIONS,
  RESET_OPTIONS,
  type ResetOptions,
} from './vec-env-options.js';

/** Returns the number of entries in the longest valid argument of a call on `numEnvs` environments. */
export const longestArgument = (numEnvs: number): number =>
  Math.max(numEnvs * NUM_STEPS * NUM_BELIEFS, MAX_ENVS);

/** Copies a reset's options and its `start`, arrays included. */
export function copyResetOptions(options: ResetOptions, most: number): ResetOptions {
  const asked = copyOptions(options, RESET_OPTIONS, most);
  const start = asked?.start;
  return start === undefined ? asked : { ...asked, start: copyOptions(start, START_OPTIONS, most) };
}

/** Copies a run's options and its `from`, arrays included. The source environment is not copied. */
export function copyRunOptions<Env>(
  options: AsyncRunOptionsFrom<Env>,
  most: number,
): AsyncRunOptionsFrom<Env> {
  const asked = copyOptions(options, ASYNC_RUN_OPTIONS, most);
  const from = asked?.from;
  return from === undefined ? asked : { ...asked, from: copyOptions(from, FROM_OPTIONS, most) };
}

/** Copies the bytes of a snapshot, of any length. `restore` checks the length later. */
export const copyBytes = (bytes: Uint8Array): Uint8Array => copyArgument(bytes, Number.MAX_SAFE_INTEGER);
