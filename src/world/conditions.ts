/** The evaluation conditions: profiles and seeds. The seeds for training. */
import { InputError } from '../shared/errors.js';
import { didYouMean } from '../shared/names.js';
import { checkInteger, describe, type NameAmong } from '../shared/values.js';
import { MAX_U32, PROFILE_NAMES } from './fields.js';
import type { ProfileName } from './numbers.js';
import type { ProfileKindName } from './resolve-names.js';

/** The kinds of profiles that a seed chooses. */
export const PROFILE_KINDS = ['sampled', 'discrete'] as const;
export type ProfileKind = (typeof PROFILE_KINDS)[number];

/** Consecutive seeds, both ends included. */
export interface SeedRange {
  /** u32: the first seed. */
  readonly first: number;
  /** u32: the last seed, included. */
  readonly last: number;
}

/** A range of seeds, and the profiles of their episodes. */
export interface Part {
  /** 'sampled', 'discrete' or a profile's name. */
  readonly profile: string;
  readonly seeds: SeedRange;
}

/** Episodes over which scores are averaged. */
export interface Condition {
  readonly name: string;
  /** Whether the option `profiles` may replace the condition's profiles. */
  readonly allowsProfiles: boolean;
  /** The parts, in order. The condition's score is the mean over the episodes of all parts. */
  readonly parts: readonly Part[];
}

const sampledCondition = (name: string, first: number, last: number): Condition => ({
  name,
  allowsProfiles: true,
  parts: [{ profile: 'sampled', seeds: { first, last } }],
});
/** Five episodes of a named profile, as in RhythmEnv's published evaluation of its student. */
const namedPart = (profile: string): Part => ({ profile, seeds: { first: 0, last: 4 } });

/**
 * The published conditions, in the order in which tables list them. The first two are the 150 episodes with sampled profiles of
 * RhythmEnv's published re-evaluation of its teacher.
 */
export const CONDITIONS: readonly Condition[] = [
  sampledCondition('in-distribution', 0, 99),
  sampledCondition('ood', 10000, 10049),
  ...PROFILE_NAMES.map((name) => ({
    name: `discrete:${name}`,
    allowsProfiles: false,
    parts: [namedPart(name)],
  })),
  { name: 'discrete', allowsProfiles: false, parts: PROFILE_NAMES.map(namedPart) },
];

/** The name of the condition with the caller's own seeds. */
export const CUSTOM = 'custom';
const SELECTABLE: readonly string[] = [...CONDITIONS.map((condition) => condition.name), CUSTOM];

/** Names that stand for several conditions. */
const GROUPS: Readonly<Record<string, readonly string[]>> = {
  discrete: SELECTABLE.filter((name) => name.startsWith('discrete')),
};

/** A condition, or a name of several. */
export type ConditionName = NameAmong<
  'in-distribution' | 'ood' | 'discrete' | `discrete:${ProfileName}` | typeof CUSTOM
>;

/** Options of `selectConditions`. */
export interface ConditionOptions {
  /**
   * Names of CONDITIONS, and `custom`. 'discrete' selects the condition of each named profile and the condition of all three.
   * Default: all conditions; with `profiles`, those that allow other profiles; with `seeds`, only `custom`.
   */
  readonly conditions?: readonly ConditionName[];
  /** Seeds of the condition `custom`, which is added to the named conditions. */
  readonly seeds?: SeedRange;
  /** Maximum number of seeds of each part, counted from its first seed. Default: all seeds. */
  readonly episodes?: number;
  /** 'sampled', 'discrete' or a profile's name: the profiles of in-distribution, ood and custom. Default 'sampled'. */
  readonly profiles?: ProfileKindName;
}

/**
 * Returns the conditions that options name.
 * @throws InputError `unknown_name`, `wrong_type`, `out_of_range`, `bad_seed`, or `unknown_option` for options that exclude
 *   each other.
 */
export function selectConditions(options: ConditionOptions): readonly Condition[] {
  const { profiles, episodes } = options;
  const selected = namesOf(options).map((name) => conditionOf(name, options));
  const conditions = selected.map((condition) =>
    profiles === undefined ? condition : withProfile(condition, profiles),
  );
  return episodes === undefined ? conditions : allShortened(conditions, episodes);
}

/** Returns the names of the selected conditions. */
function namesOf({ conditions, seeds, profiles }: ConditionOptions): readonly string[] {
  if (conditions !== undefined) {
    const names = conditions.flatMap((name) => (Object.hasOwn(GROUPS, name) ? GROUPS[name] : [name]));
    return [...new Set(seeds === undefined ? names : [...names, CUSTOM])];
  }
  if (seeds !== undefined) return [CUSTOM];
  return CONDITIONS.filter(({ allowsProfiles }) => allowsProfiles || profiles === undefined).map(
    ({ name }) => name,
  );
}

function conditionOf(name: string, { seeds }: ConditionOptions): Condition {
  if (name === CUSTOM) return customCondition(seeds);
  const condition = CONDITIONS.find((candidate) => candidate.name === name);
  if (condition !== undefined) return condition;
  throw new InputError(
    'unknown_name',
    `Expected one of the conditions ${SELECTABLE.join(', ')}; got ${describe(name)}.${didYouMean(name, SELECTABLE)}`,
  );
}

function customCondition(seeds: SeedRange | undefined): Condition {
  if (seeds === undefined) {
    throw new InputError('bad_seed', {
      expected: 'seeds for the condition "custom"',
      got: 'none',
      remedy: 'Give seeds, such as 0-999.',
    });
  }
  const first = checkInteger('the first seed', seeds.first, 0, MAX_U32);
  const last = checkInteger('the last seed', seeds.last, first, MAX_U32);
  return sampledCondition(CUSTOM, first, last);
}

function withProfile(condition: Condition, profile: string): Condition {
  if (condition.allowsProfiles)
    return { ...condition, parts: condition.parts.map((part) => ({ ...part, profile })) };
  throw new InputError(
    'unknown_option',
    `Expected no profiles with the condition "${condition.name}", which has its own; got "${profile}". ` +
      'Leave out the profiles, or the condition.',
  );
}

/** Shortens every part of every condition to at most its first `episodes` seeds. */
function allShortened(conditions: readonly Condition[], episodes: number): Condition[] {
  if (Number.isInteger(episodes) && episodes >= 1) {
    return conditions.map((condition) => shortened(condition, episodes));
  }
  throw new InputError('out_of_range', {
    expected: 'episodes to be an integer of at least 1',
    got: describe(episodes),
    remedy: 'Pass 1 or more.',
  });
}

function shortened(condition: Condition, episodes: number): Condition {
  const parts = condition.parts.map(({ profile, seeds: { first, last } }) => ({
    profile,
    seeds: { first, last: Math.min(last, first + episodes - 1) },
  }));
  return { ...condition, parts };
}

/** Returns the number of episodes of a condition. */
export const episodesOf = ({ parts }: Pick<Condition, 'parts'>): number =>
  parts.reduce((sum, { seeds }) => sum + seeds.last - seeds.first + 1, 0);

/** Returns a condition's seeds as results show them: "0-99". All parts of a condition have the same seeds. */
export function seedsOf({ parts }: Condition): string {
  const { first, last } = parts[0].seeds;
  return `${first}-${last}`;
}

/** Returns the profiles of a condition, as `describeProfiles` does. */
export const profilesOf = ({ parts }: Condition): string =>
  describeProfiles(parts.map(({ profile }) => profile));

/**
 * Describes the profiles of episodes by their profile modes, at least one: the mode if all have the same, 'named' for several
 * named profiles, and 'mixed' if sampled profiles are among several.
 */
export function describeProfiles(modes: Iterable<string>): string {
  const [first, ...others] = new Set(modes);
  if (others.length === 0) return first;
  return first === 'sampled' || others.includes('sampled') ? 'mixed' : 'named';
}

/** Seeds for training and examples. Seeds below and above these are for evaluation. */
export const TRAINING_SEEDS: SeedRange = Object.freeze({ first: 100, last: 9999 });

/** Formats a range as in options, such as 100-9999. */
export const rangeText = ({ first, last }: SeedRange): string => `${first}-${last}`;

/** Returns the evaluation seeds in a range: all seeds below and above the training seeds. */
export function evalSeedsIn({ first, last }: SeedRange): SeedRange[] {
  const below = { first, last: Math.min(last, TRAINING_SEEDS.first - 1) };
  const above = { first: Math.max(first, TRAINING_SEEDS.last + 1), last };
  return [below, above].filter((range) => range.first <= range.last);
}

/** Returns `count` seeds, spread evenly over a range (default: `TRAINING_SEEDS`), u32 [count]. */
export function spreadSeeds(count: number, { first, last } = TRAINING_SEEDS): Uint32Array {
  const size = last - first + 1;
  return Uint32Array.from({ length: count }, (_, k) => first + Math.floor((k * size) / count));
}
