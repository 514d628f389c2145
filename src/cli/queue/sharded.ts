/** The commands that the queue can share: those that compute one of several shards of their file with --shard. */

import { QueueError } from '../../server/queue/connection.js';
import type { JobRecord } from '../../server/queue/jobs.js';
import { isPolicyFile } from '../files/policy-file.js';

/** A command that the queue can share. */
export interface ShardedCommand {
  /** The option that names the file of a shard. */
  readonly output: string;
  /** The options that determine the file, by key. A job has no others. */
  readonly options: readonly string[];
  /** The noun for the parts of a shard, and the minimum, maximum and default of their number (--shard-size). */
  readonly unit: string;
  readonly least: number;
  readonly most: number;
  readonly defaultSize: number;
}

const SAMPLING = ['maxTokens', 'temperature', 'topP', 'samplingSeed', 'form', 'prices'];
/** Smaller shards add requests to Redis, larger ones repeat more work after a failure. Chosen by hand. */
const EPISODES = { unit: 'episodes', least: 8, most: 64, defaultSize: 32 };

export const SHARDED: Readonly<Record<string, ShardedCommand>> = {
  teach: { output: '--output', options: ['policy', 'seeds', 'profiles', 'grader', ...SAMPLING], ...EPISODES },
  eval: {
    output: '--trajectories',
    options: ['policies', 'conditions', 'seeds', 'episodes', 'profiles', 'grader', ...SAMPLING],
    ...EPISODES,
  },
  'dataset grpo': {
    output: '--output',
    options: ['rows', 'seeds', 'profiles', 'steps', 'seed', 'allowEvalSeeds', 'grader'],
    // The maximum is 50 MB of text.
    ...{ unit: 'rows', least: 8, most: 16384, defaultSize: 2048 },
  },
};

/** The options of language models that change no result, by key. A later submission may change them. */
export const SETTINGS = ['baseUrl', 'thought', 'concurrency', 'systemRole', 'timeout', 'retries'] as const;

/** The options of a job: those of its command as texts, and the text of the grader's file; null for a built-in grader. */
export interface JobOptions {
  readonly texts: Readonly<Record<string, string>>;
  readonly graderFile: string | null;
}

/** Returns the named options as texts, as the command line takes them. */
export const textsOf = (options: object, names: readonly string[]): Record<string, string> =>
  Object.fromEntries(
    names.flatMap((name) => {
      const value: unknown = options[name as keyof typeof options];
      return value === undefined ? [] : [[name, optionText(value)]];
    }),
  );

function optionText(value: unknown): string {
  if (Array.isArray(value)) return value.map((name) => String(name).replaceAll(',', '\\,')).join(',');
  if (typeof value !== 'object') return String(value);
  const { first, last, prompt, completion, cached } = value as Record<string, number>;
  return first === undefined ? [prompt, completion, cached].join(',') : `${first}-${last}`;
}

/**
 * Returns the command line of a job's shard. It is parsed and checked as any command line.
 * @param graderPath the path of the grader's file, if it is not built in. @throws QueueError for a command or an option that no
 *   job has, and for policies from files: whoever can write to Redis must not be able to run code on a worker.
 */
export function commandLine({ command, options, settings }: JobRecord, graderPath: string | null): string[] {
  const sharded = Object.hasOwn(SHARDED, command) ? SHARDED[command] : refuse(`the command ${command}`);
  const { texts } = JSON.parse(options) as JobOptions;
  const given = { ...texts, ...(graderPath === null ? {} : { grader: graderPath }) };
  const changeable = JSON.parse(settings) as Record<string, string>;
  return [...command.split(' '), ...wordsOf(given, sharded.options), ...wordsOf(changeable, SETTINGS)];
}

const wordsOf = (texts: Readonly<Record<string, string>>, allowed: readonly string[]): string[] =>
  Object.entries(texts).map(([name, text]) => {
    if (!allowed.includes(name)) refuse(`the option ${name}`);
    const names = name === 'policy' || name === 'policies' ? text.split(',') : [];
    if (names.some((each) => isPolicyFile(each.trim()))) refuse(`the policy ${text}`);
    const flag = `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
    return name === 'allowEvalSeeds' ? flag : `${flag}=${text}`;
  });

function refuse(what: string): never {
  throw new QueueError(
    `Expected a job that "queue submit" stored, got ${what}. Cancel the job, and find out who can write to Redis.`,
  );
}
