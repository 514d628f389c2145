/**
 * The Rhythm world, version 1.1.0: every number of the environment, written once.
 *
 * The version fixes sizes, codes, names and structure. All other numbers of a changed world may differ. A decimal means the
 * nearest float32.
 */

/** Every number of a world; docs/world.md says what each does. Vectors over meters are in the order of `meters`. */
export interface WorldSpec {
  /**
   * The name that errors and `env.spec` show beside the digest, printable, of 1 to 60 characters; no part of the digest. Give a
   * changed world a name of its own. "rhythm" for the published world.
   */
  name: string;
  /** Rises when the same seed and actions can give another number (docs/installing.md). */
  version: string;
  /** Names of the meters. */
  meters: string[];
  /** The meters at step 0, in [0, 1]. */
  initialMeters: number[];
  /** Names of the times of day. */
  slots: string[];
  /** Days of an episode: 7. */
  days: number;
  /** Steps of a day: 4. */
  slotsPerDay: number;
  /** Steps of an episode: 28. */
  maxEpisodeSteps: number;
  /** Names of the categories of actions. */
  categories: string[];
  /** Actions by code: name, category, tags and effect on each meter. */
  actions: { name: string; category: string; tags: string[]; effect: number[] }[];
  /** Multipliers of an action's effect, [slot][category]. */
  timeOfDay: number[][];
  /** Loss of each meter per step. */
  decay: number[];
  /** Additional change of each meter while serenity is below the profile's `stress_threshold`. */
  stress: number[];
  /** Amplitudes of the noise that a step adds to the meters and to the reward. */
  noise: { meters: number[]; reward: number };
  /** Events by code: name and effect on each meter. */
  events: { name: string; effect: number[] }[];
  /** Traits of a profile: sampled uniformly from [low, high). `neutral` is the neutral profile's value. */
  traits: { name: string; low: number; high: number; neutral: number }[];
  /** The named profiles: traits by name, and weights by meter. */
  profiles: ByName<ProfileName, { traits: Record<string, number>; weights: number[] }>;
  /**
   * Numbers of the rules: factors of vitality and cognition, thresholds, and the scales and offsets of three
   * components of the grade.
   */
  constants: {
    vitalityFactorBase: number;
    vitalityFactorSlope: number;
    focusCognition: number;
    crashThreshold: number;
    /** u32: an event occurs when its draw is below this. */
    eventThreshold: number;
    adaptationScale: number;
    adaptationGateOffset: number;
    wellbeingScale: number;
    wellbeingBase: number;
    /** u32 in [0, 27]: `belief_skill` counts the beliefs from this step on. */
    beliefSkillFrom: number;
    beliefSkillScale: number;
  };
  /**
   * Numbers of rules 8 and 10: scale of the weighted changes, bias of each meter's weight, penalty for each crashed meter,
   * scale of the grade in the last reward.
   */
  reward: { scale: number; bias: number[]; crashPenalty: number; terminalScale: number };
  /** Factors of the belief targets, in the order of BELIEF_NAMES. */
  belief: { name: string; factors: BeliefFactor[] }[];
  /** Multiplies the distance between 0.5 and the sum of a belief target's factors. */
  beliefGain: number;
  /** Multiplies the reward weights among the factors of the belief targets. */
  beliefWeightScale: number;
  /** Weights of the eight components of the grade. */
  graders: ByName<GraderName, number[]>;
  /** Second words of the generator's key, hexadecimal u32. `imagination` is XORed with others (docs/world.md). */
  streams: Record<'profile' | 'event' | 'noise' | 'policy' | 'imagination', string>;
  /**
   * The published rule-based policy: an action for each time of day, replaced by that of the first rule that applies. A
   * rule applies if its meter is less than `below` in one of its `slots` (default: all).
   */
  heuristic: {
    schedule: string[];
    rules: { meter: string; below: number; action: string; slots?: number[] }[];
  };
}

/** Values of known names, which any name may index. */
type ByName<Name extends string, Value> = Record<Name, Value> & Record<string, Value>;

/** The names of the named profiles. */
export type ProfileName = keyof typeof PUBLISHED.profiles;
/** The names of the built-in graders. */
export type GraderName = keyof typeof PUBLISHED.graders;

/** One factor of a belief target: a trait or a reward weight, by name. */
export interface BeliefFactor {
  /** A name of TRAIT_NAMES. A factor has either this or `weight`. */
  trait?: string;
  /** A name of METER_NAMES: the factor is the meter's reward weight. */
  weight?: string;
  /** Weight of the factor in the target's sum. */
  share: number;
  /** Whether 1 - value is used in place of the value. */
  inverted?: boolean;
}

function freeze<T extends object>(value: T): T {
  for (const part of Object.values(value)) if (typeof part === 'object') freeze(part);
  return Object.freeze(value);
}

const PUBLISHED = freeze({
  name: 'rhythm',
  version: '1.1.0',
  meters: ['vitality', 'cognition', 'progress', 'serenity', 'connection'],
  initialMeters: [0.7, 0.7, 0.7, 0.7, 0.7],
  slots: ['morning', 'afternoon', 'evening', 'night'],
  days: 7,
  slotsPerDay: 4,
  maxEpisodeSteps: 28,
  categories: ['productivity', 'recovery', 'social', 'leisure'],
  actions: [
    {
      name: 'deep_work',
      category: 'productivity',
      tags: ['productive'],
      effect: [-0.12, -0.1, 0.18, -0.05, 0],
    },
    {
      name: 'admin_work',
      category: 'productivity',
      tags: ['productive'],
      effect: [-0.05, -0.04, 0.08, -0.02, 0],
    },
    {
      name: 'learn',
      category: 'productivity',
      tags: ['productive'],
      effect: [-0.06, -0.06, 0.1, 0, 0],
    },
    { name: 'sleep', category: 'recovery', tags: [], effect: [0.16, 0.08, 0, 0.01, 0] },
    { name: 'exercise', category: 'recovery', tags: [], effect: [0.08, 0.03, 0, 0.03, 0] },
    { name: 'meditate', category: 'recovery', tags: ['solo'], effect: [0.01, 0.05, 0, 0.05, 0] },
    {
      name: 'family_time',
      category: 'social',
      tags: ['social'],
      effect: [-0.04, -0.01, 0, 0.02, 0.13],
    },
    { name: 'socialize', category: 'social', tags: ['social'], effect: [-0.04, -0.02, 0, 0.01, 0.1] },
    { name: 'me_time', category: 'leisure', tags: ['solo'], effect: [0.03, 0.03, 0, 0.05, -0.01] },
    {
      name: 'binge_watch',
      category: 'leisure',
      tags: ['guilty'],
      effect: [0.01, -0.05, 0, 0.06, -0.01],
    },
  ],
  timeOfDay: [
    [1.2, 1, 0.8, 0.8],
    [1, 1, 1, 1],
    [0.8, 1, 1.2, 1.2],
    [0.6, 1.2, 0.8, 1],
  ],
  decay: [0.019, 0.011, 0.02, 0.013, 0.0235],
  stress: [-0.02, -0.03, 0, 0, 0],
  noise: { meters: [0.012, 0.02, 0.02, 0.06, 0.02], reward: 1.5 },
  events: [
    { name: 'illness', effect: [-0.15, -0.06, 0, -0.06, 0] },
    { name: 'work_crisis', effect: [-0.04, -0.06, -0.1, -0.1, 0] },
    { name: 'family_emergency', effect: [-0.05, -0.03, 0, -0.1, -0.1] },
    { name: 'good_news', effect: [0.02, 0.02, 0, 0.1, 0.06] },
    { name: 'friend_visit', effect: [-0.03, 0, 0, 0.05, 0.1] },
  ],
  traits: [
    { name: 'social_vitality_multiplier', low: 0.2, high: 3, neutral: 1 },
    { name: 'social_serenity_bonus', low: -0.08, high: 0.12, neutral: 0 },
    { name: 'morning_focus', low: 0.5, high: 1.5, neutral: 1 },
    { name: 'night_focus', low: 0.5, high: 1.5, neutral: 1 },
    { name: 'work_vitality_recovery', low: -0.03, high: 0.07, neutral: 0 },
    { name: 'progress_serenity_bonus', low: -0.04, high: 0.1, neutral: 0 },
    { name: 'solo_serenity_bonus', low: -0.06, high: 0.12, neutral: 0 },
    { name: 'leisure_guilt', low: -0.02, high: 0.1, neutral: 0 },
    { name: 'stress_threshold', low: 0.15, high: 0.45, neutral: 0.3 },
    { name: 'metabolic_rate', low: 0.6, high: 1.4, neutral: 1 },
    { name: 'event_impact', low: 0.5, high: 1.5, neutral: 1 },
  ],
  profiles: {
    introvert_morning: {
      traits: {
        social_vitality_multiplier: 3,
        social_serenity_bonus: -0.08,
        morning_focus: 1.4,
        night_focus: 0.6,
        work_vitality_recovery: 0,
        progress_serenity_bonus: 0,
        solo_serenity_bonus: 0.1,
        leisure_guilt: 0.04,
        stress_threshold: 0.3,
        metabolic_rate: 1,
        event_impact: 1,
      },
      weights: [0.2, 0.15, 0.2, 0.3, 0.15],
    },
    extrovert_night_owl: {
      traits: {
        social_vitality_multiplier: 0.2,
        social_serenity_bonus: 0.1,
        morning_focus: 0.6,
        night_focus: 1.4,
        work_vitality_recovery: 0,
        progress_serenity_bonus: 0,
        solo_serenity_bonus: -0.04,
        leisure_guilt: 0.02,
        stress_threshold: 0.25,
        metabolic_rate: 1,
        event_impact: 0.8,
      },
      weights: [0.15, 0.1, 0.15, 0.15, 0.45],
    },
    workaholic_stoic: {
      traits: {
        social_vitality_multiplier: 1,
        social_serenity_bonus: 0,
        morning_focus: 1.236,
        night_focus: 1.1,
        work_vitality_recovery: 0.06,
        progress_serenity_bonus: 0.08,
        solo_serenity_bonus: 0,
        leisure_guilt: 0.1,
        stress_threshold: 0.15,
        metabolic_rate: 0.8,
        event_impact: 0.6,
      },
      weights: [0.1, 0.05, 0.7, 0.1, 0.05],
    },
  },
  constants: {
    vitalityFactorBase: 0.65,
    vitalityFactorSlope: 0.5,
    focusCognition: 0.1,
    crashThreshold: 0.1,
    eventThreshold: 343597384,
    adaptationScale: 1,
    adaptationGateOffset: 0.5,
    wellbeingScale: 5,
    wellbeingBase: 0.7,
    beliefSkillFrom: 8,
    beliefSkillScale: 17.1,
  },
  reward: { scale: 10, bias: [0, 0, 0.5, 0, 0.4], crashPenalty: 0.3, terminalScale: 5 },
  belief: [
    {
      name: 'social',
      factors: [
        { trait: 'social_vitality_multiplier', share: 0.4, inverted: true },
        { trait: 'social_serenity_bonus', share: 0.3 },
        { weight: 'connection', share: 0.3 },
      ],
    },
    {
      name: 'morning',
      factors: [
        { trait: 'morning_focus', share: 0.4 },
        { trait: 'night_focus', share: 0.3, inverted: true },
        { weight: 'vitality', share: 0.3 },
      ],
    },
    {
      name: 'work',
      factors: [
        { trait: 'work_vitality_recovery', share: 0.4 },
        { trait: 'progress_serenity_bonus', share: 0.3 },
        { weight: 'progress', share: 0.3 },
      ],
    },
  ],
  beliefGain: 1.53,
  beliefWeightScale: 2.5,
  graders: {
    v1: [0.2, 0.25, 0.15, 0.3, 0.1, 0, 0, 0],
    v2: [0.15, 0.2, 0.1, 0.25, 0.1, 0.2, 0, 0],
    v3: [0.1, 0.1, 0.1, 0, 0, 0, 0.35, 0.35],
  },
  streams: {
    profile: 'A3C5F729',
    event: '5EED0E57',
    noise: '0B5E55ED',
    policy: '0D1CE501',
    imagination: '1A61AE01',
  },
  heuristic: {
    schedule: ['deep_work', 'learn', 'admin_work', 'sleep'],
    rules: [
      { meter: 'vitality', below: 0.3, action: 'sleep' },
      { meter: 'serenity', below: 0.3, action: 'meditate' },
      { meter: 'connection', below: 0.69, action: 'family_time' },
      { meter: 'cognition', below: 0.35, slots: [0, 1], action: 'meditate' },
    ],
  },
});

/** The published world, frozen: change a `structuredClone` of it. */
export const RHYTHM: WorldSpec = PUBLISHED;
