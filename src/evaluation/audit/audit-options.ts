/** Options of an audit and their validation; its seeds and its kinds of profiles. */

import { type Grader, type GraderLike, graderWeights, toGrader } from '../../engine/graders/grader.js';
import type { PolicyLike } from '../../engine/policy/policy.js';
import type { ProfileChoice } from '../../engine/validate/profiles.js';
import { checkLongCall } from '../../engine/vec-env/runs.js';
import type { EngineOptions } from '../../engine/vec-env/vec-env-options.js';
import { InputError } from '../../shared/errors.js';
import { checkInteger, checkOptions } from '../../shared/values.js';
import { type ProfileKind, spreadSeeds } from '../../world/conditions.js';
import { MAX_ENVS, MAX_U32, NUM_METERS, PROFILE_SIZE } from '../../world/fields.js';
import { createWorld } from '../../world/world.js';
import { UserPolicy } from '../user-policy.js';

/** The number of seeds of the searches for all profiles. More seeds do not raise the score on fresh seeds; fewer lower it. */
export const NUM_TRAINING_SEEDS = 512;
/** The number of seeds of the search for one profile. Chosen by hand: more seeds take longer. */
export const SEEDS_PER_PROFILE = 32;
/** The first fresh seed, beyond the seeds of training and of the published evaluations. */
export const FRESH_FIRST = 20000;

/** Returns the training seeds of the searches for all profiles, u32 [512]. */
export const trainingSeeds = (): Uint32Array => spreadSeeds(NUM_TRAINING_SEEDS);

/** Returns the training seeds of the searches for one profile, u32 [32]. They contain no fresh seed. */
export const profileTrainingSeeds = (): Uint32Array => spreadSeeds(SEEDS_PER_PROFILE);

/** Returns the fresh seeds, u32 [n]. */
export const freshSeeds = (episodes: number): Uint32Array =>
  Uint32Array.from({ length: episodes }, (_, i) => FRESH_FIRST + i);

/** Describes the first n fresh seeds, as "20000-20099". */
export const freshRange = (episodes: number): string => `${FRESH_FIRST}-${FRESH_FIRST + episodes - 1}`;

/** With 'neutral' (the impossible world), every profile is the same, so there is nothing to infer. */
export type AuditProfiles = ProfileKind | 'neutral';

/** Returns the profile of the impossible world: the neutral traits (docs/world.md) and equal weights, f32 [16]. */
export function neutralProfile(): Float32Array {
  const profile = new Float32Array(PROFILE_SIZE).fill(1 / NUM_METERS);
  profile.set(createWorld().params.traitNeutral);
  return profile;
}

/** Returns the profiles of n environments. */
export function profileChoice(profiles: AuditProfiles, n: number): ProfileChoice {
  if (profiles !== 'neutral') return profiles;
  const rows = new Float32Array(n * PROFILE_SIZE);
  const neutral = neutralProfile();
  for (let at = 0; at < rows.length; at += PROFILE_SIZE) rows.set(neutral, at);
  return rows;
}

/** Returns the `profile` of an ActionSequenceProblem. */
export const problemProfile = (profiles: AuditProfiles): string | Float32Array =>
  profiles === 'neutral' ? neutralProfile() : profiles;

/** Options of `audit`. docs/grader-audit.md describes its players and the impossible world. */
export interface AuditOptions extends EngineOptions {
  /** A name of GRADER_NAMES, a Grader, or eight weights (called "custom" in results). Default 'v2'. */
  readonly grader?: GraderLike;
  /** u32, seed of the searches. The same seed finds the same sequences. Default 0. */
  readonly seed?: number;
  /**
   * The number of sequences that each of three searches scores: open-loop and open-loop-honest for sampled profiles, open-loop
   * for discrete profiles. 1,000 to 10^9. Default 300,000. Each other search for a sequence scores a part of this number
   * (searches.ts), at least 1,000.
   */
  readonly evaluations?: number;
  /**
   * The number of fresh seeds, from 20000 on, that a player plays: 2 to 10^6. Default 2,000. But planners and `policies` play
   * `plannerEpisodes` seeds, `oracle-open-loop` plays `profiles`, and null players up to 50 times `episodes`.
   */
  readonly episodes?: number;
  /**
   * The number of profiles with a search for their own sequence: 2 to `episodes`, at most 524,288. Default 400, or `episodes`
   * if that is less.
   */
  readonly profiles?: number;
  /**
   * The number of fresh seeds that each planner plays: 2 to `episodes`; half as many, but at least 2, in the impossible world.
   * A planned episode takes about 0.06 s of a core. Default 100, or `episodes` if that is less.
   */
  readonly plannerEpisodes?: number;
  /**
   * Further policies to score, by their names in results. Each plays `plannerEpisodes` fresh seeds. The verdict does not
   * depend on them.
   */
  readonly policies?: Readonly<Record<string, PolicyLike>>;
  /** Called with the approximate number of episodes that searches have played and planners have imagined, and the total. */
  readonly onProgress?: (done: number, total: number) => void;
  /** Aborting it rejects the promise with the signal's reason. */
  readonly signal?: AbortSignal;
}

/** Validated options. */
export interface AuditRequest {
  readonly grader: Grader;
  /** f32 [8]: the grader's weights. */
  readonly weights: Float32Array;
  readonly seed: number;
  readonly evaluations: number;
  readonly episodes: number;
  readonly profiles: number;
  readonly plannerEpisodes: number;
  readonly policies: readonly UserPolicy[];
  readonly engine: EngineOptions;
  readonly onProgress: (done: number, total: number) => void;
  readonly signal: AbortSignal | undefined;
}

export const OPTIONS: readonly (keyof AuditOptions)[] = [
  'grader',
  'seed',
  'evaluations',
  'episodes',
  'profiles',
  'plannerEpisodes',
  'policies',
  'backend',
  'kernel',
  'threads',
  'onProgress',
  'signal',
];
/**
 * The defaults. Those of sizes, here and below, and MAX_EPISODES are chosen by hand: larger ones give better sequences or
 * narrower intervals, and take longer.
 */
const DEFAULTS = { grader: 'v2', seed: 0, evaluations: 300_000, episodes: 2000 } as const;
const DEFAULT_PROFILES = 400;
const DEFAULT_PLANNER_EPISODES = 100;
const MAX_EPISODES = 1e6;
/** The searches of single profiles run in one batch, with SEEDS_PER_PROFILE environments each. */
const MAX_PROFILES = MAX_ENVS / SEEDS_PER_PROFILE;

/** Validates options and adds defaults. */
export function toAuditRequest(options: AuditOptions): AuditRequest {
  checkOptions('audit options', options, OPTIONS);
  checkLongCall(options);
  const settings = { ...DEFAULTS, ...definedOf(options) };
  const { backend, kernel, threads, onProgress = () => {}, signal } = settings;
  const grader = toGrader(settings.grader);
  const episodes = checkInteger('episodes', settings.episodes, 2, MAX_EPISODES);
  const { profiles = Math.min(DEFAULT_PROFILES, episodes) } = settings;
  const { plannerEpisodes = Math.min(DEFAULT_PLANNER_EPISODES, episodes) } = settings;
  return {
    grader,
    weights: graderWeights(grader),
    seed: checkInteger('seed', settings.seed, 0, MAX_U32),
    evaluations: checkInteger('evaluations', settings.evaluations, 1000, 1e9),
    episodes,
    profiles: checkInteger('profiles', profiles, 2, Math.min(episodes, MAX_PROFILES)),
    plannerEpisodes: checkInteger('plannerEpisodes', plannerEpisodes, 2, episodes),
    policies: Object.entries(settings.policies ?? {}).map(toUserPolicy),
    engine: { backend, kernel, threads },
    onProgress,
    signal,
  };
}

/** Returns the options that are not undefined. */
const definedOf = (options: AuditOptions): AuditOptions =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));

/** Matches the names of the audit's own players, with or without a belief, and all names "planner-WORD" and "push:TEXT". */
const OWN_PLAYERS =
  /^(random|heuristic|open-loop|open-loop-honest|reactive|planner(-\w+)?|oracle-open-loop|push:.*)(\+.*)?$/;

/** Validates a user's policy. */
function toUserPolicy([name, policy]: [string, PolicyLike]): UserPolicy {
  if (!OWN_PLAYERS.test(name)) return new UserPolicy(name, policy);
  throw new InputError('unknown_name', {
    expected: 'a name that no policy of the audit itself has',
    got: `"${name}"`,
    remedy: 'Pass your policy under another name.',
  });
}
