/** Evaluation: every policy under every condition, streamed in constant memory. */
import { InputError } from '../errors.js';
import { BASELINE, type BeliefKind, findPolicy, POLICY_NAMES, type Policy } from '../policies/policies.js';
import { checkInteger, checkOptions, describe } from '../validate/values.js';
import type { RunResult, VecEnvOptions } from '../vec-env/options.js';
import type { VecEnv } from '../vec-env.js';
import {
  type Condition,
  type ConditionOptions,
  episodesOf,
  type Part,
  profilesOf,
  seedsOf,
  selectConditions,
} from './conditions.js';
import { EnvOfSize } from './env-of-size.js';
import { describeMachine, type Machine, packageVersion } from './provenance.js';
import { type Summary, Tally } from './tally.js';

export interface EvaluateOptions extends ConditionOptions {
  /** Names of POLICIES. Default: all. */
  readonly policies?: readonly string[];
  /** 'v1' or 'v2'. Default 'v2'. */
  readonly grader?: string;
  /** As in `VecEnvOptions`. */
  readonly backend?: string;
  readonly kernel?: string;
  readonly threads?: number;
  /** Episodes played together, 1 to 2^20; changes no result. Default 8192. */
  readonly chunkSize?: number;
  /** Called once, before the first episode. */
  readonly onStart?: (run: RunInfo) => void;
  /** Called after every chunk with the episodes played and to be played, those of all policies together. */
  readonly onProgress?: (done: number, total: number) => void;
  /** Aborting it rejects the promise with the signal's reason, at the next chunk. */
  readonly signal?: AbortSignal;
}

/** What ran, and where. */
export interface RunInfo {
  readonly version: string;
  readonly worldDigest: string;
  readonly backend: string;
  /** Why this backend; not part of the JSON. */
  readonly backendReason: string;
  readonly kernel: string;
  readonly threads: number;
  readonly machine: Machine;
  readonly grader: string;
}

export interface Evaluation extends RunInfo {
  /** Wall time. */
  readonly seconds: number;
  /** By condition, then by policy. */
  readonly rows: readonly EvaluationRow[];
}

export interface EvaluationRow extends Summary {
  readonly condition: string;
  /** How actions were chosen; with `belief`, an entry of POLICIES. */
  readonly policy: string;
  readonly belief: BeliefKind;
  /** "0-99". */
  readonly seeds: string;
  /** 'sampled', 'discrete', a profile's name, or 'named' for the pool of the three named ones. */
  readonly profiles: string;
}

const OPTIONS: readonly (keyof EvaluateOptions)[] = [
  'policies',
  'conditions',
  'seeds',
  'episodes',
  'profiles',
  'grader',
  'backend',
  'kernel',
  'threads',
  'chunkSize',
  'onStart',
  'onProgress',
  'signal',
];
/** A chunk's states and outputs fit a cache, and the reference backend still answers a signal within a second. */
const CHUNK = 8192;
const MAX_CHUNK = 2 ** 20;
const DEFAULT_GRADER = 'v2';

/**
 * Plays every policy under every condition and summarises final scores, paired wins against the heuristic and digests.
 * @throws InputError for options that name nothing known or do not go together, before anything is played;
 *   BackendError if the backend or kernel asked for cannot be used here.
 */
export async function evaluate(options: EvaluateOptions = {}): Promise<Evaluation> {
  checkOptions('evaluate options', options, OPTIONS);
  checkTypes(options);
  const policies = [...new Set(options.policies ?? POLICY_NAMES)].map(findPolicy);
  const conditions = selectConditions(options);
  const chunkSize = checkInteger('chunkSize', options.chunkSize ?? CHUNK, 1, MAX_CHUNK);
  const started = performance.now();
  using environments = new EnvOfSize(engineOf(options));
  const info = describeRun(environments.of(1), options.grader);
  options.onStart?.(info);
  const tallies = conditions.map(() => new Map(policies.map((policy) => [policy, new Tally()])));
  const total = conditions.reduce((sum, condition) => sum + episodesOf(condition), 0) * policies.length;
  let done = 0;
  for (const [index, condition] of conditions.entries()) {
    for (const chunk of chunks(condition, chunkSize)) {
      options.signal?.throwIfAborted();
      const episodes = chunk.last - chunk.first + 1;
      playChunk(environments.of(episodes), chunk, tallies[index]);
      done += episodes * policies.length;
      options.onProgress?.(done, total);
      // Lets signals and timers in; without it a long run could not be interrupted.
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
  options.signal?.throwIfAborted();
  const rows = conditions.flatMap((condition, index) => rowsOf(condition, tallies[index]));
  return { ...info, seconds: (performance.now() - started) / 1000, rows };
}

/** What only a caller without types gets wrong. */
function checkTypes({ policies, conditions, seeds, signal, onStart, onProgress }: EvaluateOptions): void {
  for (const [name, list] of Object.entries({ policies, conditions })) {
    const fine = Array.isArray(list) && list.length > 0 && list.every((each) => typeof each === 'string');
    if (list !== undefined && !fine) refuseType(name, 'a list of at least one name', list);
  }
  for (const [name, listener] of Object.entries({ onStart, onProgress })) {
    if (listener !== undefined && typeof listener !== 'function') refuseType(name, 'a function', listener);
  }
  if (seeds !== undefined && (typeof seeds !== 'object' || seeds === null)) {
    refuseType('seeds', '{ first, last }', seeds);
  }
  if (signal !== undefined && !(signal instanceof AbortSignal))
    refuseType('signal', 'an AbortSignal', signal);
}

function refuseType(name: string, expected: string, got: unknown): never {
  throw new InputError(
    'wrong_type',
    `Expected ${name} to be ${expected}, got ${describe(got)}. Pass one, or leave it out.`,
  );
}

function describeRun(env: VecEnv, grader = DEFAULT_GRADER): RunInfo {
  const { backend, backendReason, kernel, threads, world } = env;
  return {
    version: packageVersion(),
    worldDigest: world.digest,
    backend,
    backendReason,
    kernel,
    threads,
    machine: describeMachine(),
    grader,
  };
}

function engineOf({
  backend,
  kernel,
  threads,
  profiles,
  grader,
}: EvaluateOptions): Omit<VecEnvOptions, 'numEnvs'> {
  return { backend, kernel, threads, profiles, grader };
}

interface Chunk extends Part {
  readonly first: number;
  readonly last: number;
}

function* chunks({ parts }: Condition, size: number): Generator<Chunk> {
  for (const part of parts) {
    for (let first = part.seeds.first; first <= part.seeds.last; first += size) {
      yield { ...part, first, last: Math.min(first + size - 1, part.seeds.last) };
    }
  }
}

/** The baseline plays first, asked for or not: every row is compared with it on the same seeds. */
function playChunk(env: VecEnv, chunk: Chunk, tallies: ReadonlyMap<Policy, Tally>): void {
  const { first, last, profile } = chunk;
  const seeds = Uint32Array.from({ length: last - first + 1 }, (_, i) => first + i);
  const play = ({ choice, options }: Policy): RunResult => {
    env.reset({ seed: seeds, profiles: profile });
    return env.run(choice, options);
  };
  const result = play(BASELINE);
  const baseline = result.finalScores.slice();
  tallies.get(BASELINE)?.add(result, baseline);
  for (const [policy, tally] of tallies) {
    if (policy !== BASELINE) tally.add(play(policy), baseline);
  }
}

function rowsOf(condition: Condition, tallies: ReadonlyMap<Policy, Tally>): EvaluationRow[] {
  return Array.from(tallies, ([policy, tally]) => ({
    condition: condition.name,
    policy: policy.actions,
    belief: policy.belief,
    seeds: seedsOf(condition),
    profiles: profilesOf(condition),
    ...tally.summary(),
  }));
}
