/** What an audit is asked for, checked. */
import { type Grader, type GraderLike, graderWeights, toGrader } from '../graders/grader.js';
import { checkInteger, checkOptions } from '../validate/values.js';
import type { VecEnvOptions } from '../vec-env/options.js';
import { checkLongCall } from '../vec-env/slices.js';
import { MAX_ENVS, MAX_U32 } from '../world/fields.js';
import { LUCKS } from './seeds.js';

export interface AuditOptions {
  /** Which grader: a name of GRADER_NAMES, a Grader, or six weights, which results call "custom". Default 'v2'. */
  readonly grader?: GraderLike;
  /** u32, of the searches' own random numbers: the same seed finds the same tapes. Default 0. */
  readonly seed?: number;
  /** Tapes to score in the search for one tape for everybody, 1,000 to 10^9; other searches take shares. Default 300,000. */
  readonly evaluations?: number;
  /** Fresh seeds that everything found is scored on, from 20000 on: 2 to 10^6. Default 2,000. */
  readonly episodes?: number;
  /** How many of these are played by who knows the person, one search each: 2 to `episodes`, 524,288 at most. Default 400. */
  readonly persons?: number;
  /** As in `VecEnvOptions`; they change no result. */
  readonly backend?: string;
  readonly kernel?: string;
  readonly threads?: number;
  /** Called every few milliseconds, with the weeks played and to be played by all searches. */
  readonly onProgress?: (done: number, total: number) => void;
  /** Aborting it rejects the promise with the signal's reason, within milliseconds. */
  readonly signal?: AbortSignal;
}

/** An audit with nothing left to check. */
export interface AuditRequest {
  readonly grader: Grader;
  /** f32 [6]. */
  readonly weights: Float32Array;
  readonly seed: number;
  readonly evaluations: number;
  readonly episodes: number;
  readonly persons: number;
  readonly engine: Pick<VecEnvOptions, 'backend' | 'kernel' | 'threads'>;
  readonly onProgress: (done: number, total: number) => void;
  readonly signal: AbortSignal | undefined;
}

export const OPTIONS: readonly (keyof AuditOptions)[] = [
  'grader',
  'seed',
  'evaluations',
  'episodes',
  'persons',
  'backend',
  'kernel',
  'threads',
  'onProgress',
  'signal',
];
const DEFAULTS = { grader: 'v2', seed: 0, evaluations: 300_000, episodes: 2000 } as const;
const PERSONS = 400;
const MOST_EPISODES = 1e6;
/** All their weeks are played side by side. */
const MOST_PERSONS = MAX_ENVS / LUCKS;

/** @throws InputError `unknown_option`, `wrong_type`, `out_of_range`; for a grader `unknown_name` or `bad_grader`. */
export function toAuditRequest(options: AuditOptions): AuditRequest {
  checkOptions('audit options', options, OPTIONS);
  checkLongCall(options);
  const asked = { ...DEFAULTS, ...definedOf(options) };
  const { backend, kernel, threads, onProgress = () => {}, signal } = asked;
  const grader = toGrader(asked.grader);
  const episodes = checkInteger('episodes', asked.episodes, 2, MOST_EPISODES);
  const { persons = Math.min(PERSONS, episodes) } = asked;
  return {
    grader,
    weights: graderWeights(grader),
    seed: checkInteger('seed', asked.seed, 0, MAX_U32),
    evaluations: checkInteger('evaluations', asked.evaluations, 1000, 1e9),
    episodes,
    persons: checkInteger('persons', persons, 2, Math.min(episodes, MOST_PERSONS)),
    engine: { backend, kernel, threads },
    onProgress,
    signal,
  };
}

/** Without what is only there as undefined. */
const definedOf = (options: AuditOptions): AuditOptions =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
