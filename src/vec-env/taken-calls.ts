/** What calls are given, as it is when they are made. */
import { START_OPTIONS } from '../validate/starts.js';
import { taken, takenOptions } from '../validate/taken.js';
import { MAX_ENVS, NUM_BELIEFS, NUM_STEPS } from '../world/fields.js';
import {
  ASYNC_RUN_OPTIONS,
  type AsyncRunOptionsFrom,
  FROM_OPTIONS,
  RESET_OPTIONS,
  type ResetOptions,
} from './options.js';

/** Entries of the longest argument that a call on so many slots can have. */
export const longestArgument = (numEnvs: number): number =>
  Math.max(numEnvs * NUM_STEPS * NUM_BELIEFS, MAX_ENVS);

/** A reset's options, and where it begins, with copies of their arrays. */
export function takenReset(options: ResetOptions, most: number): ResetOptions {
  const asked = takenOptions(options, RESET_OPTIONS, most);
  const start = asked?.start;
  return start === undefined ? asked : { ...asked, start: takenOptions(start, START_OPTIONS, most) };
}

/** A run's options, and where it begins, with copies of their arrays. The source is the very environment. */
export function takenRun<Env>(options: AsyncRunOptionsFrom<Env>, most: number): AsyncRunOptionsFrom<Env> {
  const asked = takenOptions(options, ASYNC_RUN_OPTIONS, most);
  const from = asked?.from;
  return from === undefined ? asked : { ...asked, from: takenOptions(from, FROM_OPTIONS, most) };
}

/** Bytes of any length: how many a snapshot has, it says itself. */
export const takenBytes = (bytes: Uint8Array): Uint8Array => taken(bytes, Number.MAX_SAFE_INTEGER);
