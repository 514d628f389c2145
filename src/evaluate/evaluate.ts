/** Evaluation: every policy under every condition, streamed in constant memory. */
import { InputError } from '../errors.js';
import { type Grader, type GraderLike, graderWeights, toGrader } from '../graders/grader.js';
import { BASELINE, type BeliefKind, POLICY_NAMES, type Policy } from '../policies/policies.js';
import { findAnyPolicy, STEPPED_NAMES, type SteppedPolicy } from '../policies/stepped.js';
import { checkInteger, checkOptions, describe } from '../validate/values.js';
import type { RunResult, VecEnvOptions } from '../vec-env/options.js';
import { checkLongCall } from '../vec-env/slices.js';
import { othersTurn } from '../vec-env/turns.js';
import type { VecEnv } from '../vec-env.js';
import {
  type Condition,
  type ConditionOptions,
  episodesOf,
  profilesOf,
  seedsOf,
  selectConditions,
} from './conditions.js';
import { EnvOfSize } from './env-of-size.js';
import { isStepped, type PlayOptions, play, type Weeks } from './playing.js';
import { describeRun, type RunInfo } from './run-info.js';
import { type Summary, Tally } from './tally.js';

export interface EvaluateOptions extends ConditionOptions {
  /** Names of POLICIES, which is the default, and of STEPPED_POLICIES. */
  readonly policies?: readonly string[];
  /** A name of GRADER_NAMES, a Grader, or six weights, which results call "custom". Default 'v2'. */
  readonly grader?: GraderLike;
  /** As in `VecEnvOptions`. */
  readonly backend?: string;
  readonly kernel?: string;
  readonly threads?: number;
  /** Episodes played together, 1 to 2^20; changes no result. Default 8192, or 128 with a policy that is asked at each step. */
  readonly chunkSize?: number;
  /** Called once, before the first episode; a promise is waited for. */
  readonly onStart?: (run: RunInfo) => unknown;
  /** Called after every chunk, and each asked policy in it, with the episodes played and to be played, those of all policies together. */
  readonly onProgress?: (done: number, total: number) => void;
  /** Called with the episodes of each policy in each chunk, in the order of their seeds; a promise is waited for. */
  readonly onEpisodes?: (episodes: PlayedEpisodes) => unknown;
  /** Aborting it rejects the promise with the signal's reason, at the next chunk, or at the next step of an asked policy. */
  readonly signal?: AbortSignal;
}

export interface Evaluation extends RunInfo {
  /** Wall time. */
  readonly seconds: number;
  /** By condition, then by policy. */
  readonly rows: readonly EvaluationRow[];
}

/** Under which condition what has played. */
interface Played {
  readonly condition: string;
  /** How actions were chosen; with `belief`, an entry of POLICIES or STEPPED_POLICIES. */
  readonly policy: string;
  readonly belief: BeliefKind;
  /** For a policy that plays a tape, the grader that it was found for; else null. */
  readonly tape: string | null;
  /** Whether it was shown who the persons are, which no agent may be. */
  readonly oracle: boolean;
}

export interface EvaluationRow extends Played, Summary {
  /** "0-99". */
  readonly seeds: string;
  /** 'sampled', 'discrete', a profile's name, or 'named' for the pool of the three named ones. */
  readonly profiles: string;
}

/** Some episodes of a row. */
export interface PlayedEpisodes extends Played {
  /** Whose weeks they are: 'sampled', 'discrete' or a profile's name. */
  readonly profile: string;
  /** u32 [n]. */
  readonly seeds: Uint32Array;
  /** Of n slots, row-major. Its arrays are views, valid until the listener returns, or its promise is resolved. */
  readonly result: RunResult;
}

/** Of either kind. */
type Playing = Policy | SteppedPolicy;

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
  'onEpisodes',
  'signal',
];
/** A chunk's states and outputs fit a cache, and the reference backend still answers a signal within a second. */
const CHUNK = 8192;
/** So that a policy that thinks about each step answers a signal, and shows its progress, within seconds. */
const STEPPED_CHUNK = 128;
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
  const policies = [...new Set(options.policies ?? POLICY_NAMES)].map(findAnyPolicy);
  const conditions = selectConditions(options);
  const grader = toGrader(options.grader === undefined ? DEFAULT_GRADER : options.grader);
  const chunkSize = checkInteger('chunkSize', options.chunkSize ?? defaultChunk(policies), 1, MAX_CHUNK);
  const started = performance.now();
  using environments = new EnvOfSize(engineOf(options, grader));
  const info = describeRun(environments.of(1), grader);
  await options.onStart?.(info);
  const total = conditions.reduce((sum, condition) => sum + episodesOf(condition), 0) * policies.length;
  const asked = playOptionsOf(options, grader);
  let done = 0;
  const rows: EvaluationRow[] = [];
  for (const condition of conditions) {
    const tallies = new Map(policies.map((policy) => [policy, new Tally()]));
    for (const chunk of chunks(condition, chunkSize)) {
      options.signal?.throwIfAborted();
      const env = environments.of(chunk.seeds.length);
      for await (const episodes of playChunk(env, chunk, tallies, asked)) {
        await options.onEpisodes?.({ condition: condition.name, ...episodes });
        done += env.numEnvs;
        if (STEPPED_NAMES.includes(episodes.policy)) options.onProgress?.(done, total);
      }
      if (!isStepped(policies[policies.length - 1])) options.onProgress?.(done, total);
      // Lets signals and timers in; without it a long run could not be interrupted.
      await othersTurn();
    }
    rows.push(...rowsOf(condition, tallies, grader.name));
  }
  options.signal?.throwIfAborted();
  return { ...info, seconds: (performance.now() - started) / 1000, rows };
}

const defaultChunk = (policies: readonly Playing[]): number =>
  policies.some(isStepped) ? STEPPED_CHUNK : CHUNK;

/** What only a caller without types gets wrong. */
function checkTypes(options: EvaluateOptions): void {
  checkLongCall(options);
  const { policies, conditions, seeds, onStart, onEpisodes } = options;
  for (const [name, list] of Object.entries({ policies, conditions })) {
    const fine = Array.isArray(list) && list.length > 0 && list.every((each) => typeof each === 'string');
    if (list !== undefined && !fine) refuseType(name, 'a list of at least one name', list);
  }
  for (const [name, listener] of Object.entries({ onStart, onEpisodes })) {
    if (listener !== undefined && typeof listener !== 'function') refuseType(name, 'a function', listener);
  }
  if (seeds !== undefined && (typeof seeds !== 'object' || seeds === null)) {
    refuseType('seeds', '{ first, last }', seeds);
  }
}

function refuseType(name: string, expected: string, got: unknown): never {
  throw new InputError(
    'wrong_type',
    `Expected ${name} to be ${expected}, got ${describe(got)}. Pass one, or leave it out.`,
  );
}

function engineOf(
  { backend, kernel, threads, profiles }: EvaluateOptions,
  grader: Grader,
): Omit<VecEnvOptions, 'numEnvs'> {
  return { backend, kernel, threads, profiles, grader: graderWeights(grader) };
}

const playOptionsOf = (
  { backend, kernel, threads, signal }: EvaluateOptions,
  grader: Grader,
): PlayOptions => ({
  ...{ grader, backend, kernel, threads, signal },
});

function* chunks({ parts }: Condition, size: number): Generator<Weeks> {
  for (const { profile, seeds } of parts) {
    for (let first = seeds.first; first <= seeds.last; first += size) {
      const length = Math.min(size, seeds.last - first + 1);
      yield { profile, seeds: Uint32Array.from({ length }, (_, i) => first + i) };
    }
  }
}

/** The baseline plays first, asked for or not: every row is compared with it on the same seeds. */
async function* playChunk(
  env: VecEnv,
  weeks: Weeks,
  tallies: ReadonlyMap<Playing, Tally>,
  options: PlayOptions,
): AsyncGenerator<Omit<PlayedEpisodes, 'condition'>> {
  const others = Array.from(tallies.keys()).filter((policy) => policy !== BASELINE);
  let baseline = new Float32Array();
  for (const policy of [BASELINE, ...others]) {
    const result = await play(env, weeks, policy, options);
    if (policy === BASELINE) baseline = result.finalScores.slice();
    const tally = tallies.get(policy);
    if (tally === undefined) continue;
    tally.add(result, baseline);
    yield { ...playedBy(policy, options.grader.name), ...weeks, result };
  }
}

const playedBy = (policy: Playing, grader: string): Omit<Played, 'condition'> => ({
  policy: policy.actions,
  belief: policy.belief,
  tape: policy.tape(grader),
  oracle: isStepped(policy) && policy.oracle,
});

function rowsOf(condition: Condition, tallies: ReadonlyMap<Playing, Tally>, grader: string): EvaluationRow[] {
  return Array.from(tallies, ([policy, tally]) => ({
    condition: condition.name,
    ...playedBy(policy, grader),
    seeds: seedsOf(condition),
    profiles: profilesOf(condition),
    ...tally.summary(),
  }));
}
