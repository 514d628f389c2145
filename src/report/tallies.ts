/** Accumulate a report's data on one player, in constant memory: actions by group of profiles, belief errors, calibration and cost. */
import { beliefMae } from '../engine/reference/grade.js';
import { beliefTarget, discreteProfileIndex, sampleProfile } from '../engine/reference/profile.js';
import type { ActionUse } from '../figures/action-shares.js';
import type { BeliefErrors } from '../figures/belief-error.js';
import type { Calibration } from '../figures/calibration.js';
import {
  type HiddenProfile,
  hiddenProfileOf,
  type StoredBelief,
  type TrajectoryEpisode,
  type Usage,
} from '../rollouts/trajectories/trajectory-episode.js';
import { CompensatedSum, Moments } from '../shared/statistics.js';
import {
  ACTION_NAMES,
  BELIEF_NAMES,
  NUM_ACTIONS,
  NUM_BELIEFS,
  NUM_STEPS,
  PROFILE_NAMES,
  PROFILE_SIZE,
} from '../world/fields.js';
import { createWorld } from '../world/world.js';

const world = createWorld();

/** Returns an episode's hidden profile and its belief target, f32 [16] and [3]. @throws InputError `unknown_name`. */
export const hiddenProfile = (mode: string, seed: number): HiddenProfile =>
  hiddenProfileOf(world, mode, seed);

/**
 * The number of sampled profiles from which the bounds of the thirds are computed: a multiple of 3. Chosen by hand: more give
 * more accurate bounds, and take longer.
 */
const NUM_SAMPLES = 3000;
/** The seed of the first of these profiles. No default condition of an evaluation uses their seeds. */
const FIRST_SEED = 100;
const THIRDS = ['low', 'middle', 'high'] as const;

/** The group of all sampled profiles. */
export const SAMPLED_GROUP = 'sampled profiles';

/** All groups, in the order of the rows of a heat map (sections/episodes.ts). */
export const PROFILE_GROUPS: readonly string[] = [
  ...PROFILE_NAMES,
  SAMPLED_GROUP,
  ...BELIEF_NAMES.flatMap((name) => THIRDS.map((third) => groupOf(name, third))),
];

function groupOf(belief: string, third: string): string {
  return `${belief}: ${third} third`;
}

/** [3][2]: the bounds between the thirds, by BELIEF_NAMES. Computed at the first use. */
let bounds: readonly (readonly [number, number])[] | undefined;

/** Computes the bounds from sampled profiles. */
function computeBounds(): readonly (readonly [number, number])[] {
  const profile = new Float32Array(PROFILE_SIZE);
  const target = new Float32Array(NUM_BELIEFS);
  const columns = BELIEF_NAMES.map(() => new Float32Array(NUM_SAMPLES));
  for (let i = 0; i < NUM_SAMPLES; i++) {
    sampleProfile(world.params, FIRST_SEED + i, profile);
    beliefTarget(world.params, profile, target);
    for (const [k, column] of columns.entries()) column[i] = target[k];
  }
  return columns.map((column) => {
    column.sort();
    return [column[NUM_SAMPLES / 3], column[(2 * NUM_SAMPLES) / 3]] as const;
  });
}

/**
 * Returns the groups of an episode: its named profile, or all sampled profiles and a third for each belief.
 */
export function groupsOf(mode: string, seed: number, target: ArrayLike<number>): string[] {
  if (mode === 'discrete') return [PROFILE_NAMES[discreteProfileIndex(world.params, seed)]];
  if (PROFILE_NAMES.includes(mode)) return [mode];
  bounds ??= computeBounds();
  const thirds = bounds.map(([low, high], k) => {
    const third = target[k] < low ? THIRDS[0] : target[k] < high ? THIRDS[1] : THIRDS[2];
    return groupOf(BELIEF_NAMES[k], third);
  });
  return [SAMPLED_GROUP, ...thirds];
}

/** The action shares of one group. `name` includes the number of episodes. */
export interface CountedUse extends ActionUse {
  readonly group: string;
  readonly episodes: number;
}

/** The action counts of one player, by group of profiles. */
export class ActionTally {
  readonly #counts = new Map<string, Float64Array>();

  /** Counts an episode. @param actions names, [28]. @param groups the groups of the episode's profile. */
  add(actions: readonly string[], groups: readonly string[]): void {
    for (const group of groups) {
      const counts = this.#counts.get(group) ?? new Float64Array(NUM_ACTIONS);
      this.#counts.set(group, counts);
      for (const action of actions) counts[ACTION_NAMES.indexOf(action)]++;
    }
  }

  /** Returns the groups with episodes, in the order of PROFILE_GROUPS. */
  summary(): CountedUse[] {
    return PROFILE_GROUPS.flatMap((group) => {
      const counts = this.#counts.get(group);
      if (counts === undefined) return [];
      const steps = counts.reduce((sum, count) => sum + count, 0);
      const episodes = steps / NUM_STEPS;
      return [
        { group, episodes, name: `${group} (${episodes})`, shares: counts.map((count) => count / steps) },
      ];
    });
  }
}

const { params } = createWorld();
const CONSTANT_BELIEF = Float32Array.of(0.5, 0.5, 0.5);

/** The belief errors of one player. */
export class BeliefErrorTally {
  readonly #steps = Array.from({ length: NUM_STEPS }, () => new Moments());
  readonly #constant = new Moments();
  #numStated = 0;

  /**
   * Adds an episode. A belief holds until another is stated. Before the first, the belief is 0.5 in each dimension.
   * @param beliefs [28], null for steps without a belief. @param target f32 [3].
   */
  add(beliefs: readonly (StoredBelief | null)[], target: Float32Array): void {
    let current: Float32Array = CONSTANT_BELIEF;
    for (const [step, belief] of beliefs.entries()) {
      if (belief !== null) {
        this.#numStated++;
        current = Float32Array.from(belief);
      }
      this.#steps[step].add(beliefMae(params, current, target));
    }
    this.#constant.add(beliefMae(params, CONSTANT_BELIEF, target));
  }

  /** Returns the means with intervals; null if no belief was stated. */
  summary(): BeliefErrors | null {
    if (this.#numStated === 0) return null;
    const intervals = this.#steps.map((step) => step.interval());
    return {
      mean: intervals.map(({ mean }) => mean),
      low: intervals.map(({ mean, low }) => low ?? mean),
      high: intervals.map(({ mean, high }) => high ?? mean),
      constant: this.#constant.interval().mean,
    };
  }
}

/** The number of ranges of beliefs, of equal width in [0, 1]. Chosen by hand: with more, each has fewer beliefs. */
export const RANGES = 10;

/** Accumulates the pairs of belief and target in one dimension, in constant memory. */
export class CalibrationTally {
  readonly #counts = new Float64Array(RANGES);
  readonly #belief = new Float64Array(RANGES);
  readonly #target = new Float64Array(RANGES);
  /**
   * Sums of x = belief - 0.5, y = target - 0.5, their products, and the absolute errors. The middle 0.5 is subtracted, because
   * variances of small numbers lose less precision.
   */
  readonly #sums = { x: sum(), y: sum(), xx: sum(), yy: sum(), xy: sum(), error: sum() };
  #count = 0;

  /** Adds a belief and its target, both in [0, 1]. */
  add(belief: number, target: number): void {
    const range = Math.min(RANGES - 1, Math.floor(belief * RANGES));
    this.#counts[range]++;
    this.#belief[range] += belief;
    this.#target[range] += target;
    this.#count++;
    const [x, y] = [belief - 0.5, target - 0.5];
    const terms = { x, y, xx: x * x, yy: y * y, xy: x * y, error: Math.abs(belief - target) };
    for (const [name, value] of Object.entries(terms)) {
      // `addColumn` adds a column of numbers: here, one.
      this.#sums[name as keyof typeof terms].addColumn(Float64Array.of(value), 0, 1);
    }
  }

  /** Returns the calibration; null without pairs. */
  summary(): Calibration | null {
    const n = this.#count;
    if (n === 0) return null;
    const bins = Array.from(this.#counts, (count, k) => ({
      belief: this.#belief[k] / count,
      target: this.#target[k] / count,
      range: k,
      count,
    })).filter(({ count }) => count > 0);
    return { bins, count: n, correlation: this.#correlation(), mae: this.#sums.error.value / n };
  }

  #correlation(): number | null {
    const n = this.#count;
    const { x, y, xx, yy, xy } = this.#sums;
    // The means and the variances of x and y.
    const [mx, my] = [x.value / n, y.value / n];
    const [vx, vy] = [xx.value / n - mx * mx, yy.value / n - my * my];
    if (vx <= ROUNDING || vy <= ROUNDING) return null;
    return (xy.value / n - mx * my) / Math.sqrt(vx * vy);
  }
}

const sum = () => new CompensatedSum();
/** A variance up to this counts as a rounding error. Chosen by hand. */
const ROUNDING = 1e-12;

/** Returns an empty tally for each dimension, [3] by BELIEF_NAMES. */
export const calibrationTallies = (): readonly CalibrationTally[] =>
  Array.from({ length: NUM_BELIEFS }, () => new CalibrationTally());

/** The keys of a stored `usage` that are summed: requests, tokens and dollars. */
export const USAGE_KEYS = ['requests', 'prompt_tokens', 'completion_tokens', 'cost_usd'] as const;
type Key = (typeof USAGE_KEYS)[number];

/** The cost of a player's episodes. */
export interface Spending {
  readonly steps: number;
  /** The number of steps without a valid action in the answer. */
  readonly unparsed: number;
  /** The number of episodes with usage. */
  readonly metered: number;
  /** Means over the episodes that have the number; null if no episode has it. */
  readonly perEpisode: Readonly<Record<Key, number | null>>;
  /** Sums over the same episodes. */
  readonly total: Readonly<Record<Key, number | null>>;
}

/** The sums of one player. */
export class SpendingTally {
  #steps = 0;
  #unparsed = 0;
  #metered = 0;
  readonly #sums = new Map<Key, { sum: number; count: number }>();

  add({ steps, usage }: Pick<TrajectoryEpisode, 'steps' | 'usage'>): void {
    this.#steps += steps.length;
    this.#unparsed += steps.filter(({ parsed }) => !parsed).length;
    if (usage !== undefined && this.#addUsage(usage)) this.#metered++;
  }

  /** Adds usage. Returns whether the usage has any number. */
  #addUsage(usage: Usage): boolean {
    const presentKeys = USAGE_KEYS.filter((key) => usage[key] !== undefined);
    for (const key of presentKeys) {
      const { sum, count } = this.#sums.get(key) ?? { sum: 0, count: 0 };
      this.#sums.set(key, { sum: sum + usage[key]!, count: count + 1 });
    }
    return presentKeys.length > 0;
  }

  summary(): Spending {
    const summarize = (value: (sums: { sum: number; count: number }) => number) =>
      Object.fromEntries(
        USAGE_KEYS.map((key) => {
          const sums = this.#sums.get(key);
          return [key, sums === undefined ? null : value(sums)];
        }),
      ) as Record<Key, number | null>;
    return {
      steps: this.#steps,
      unparsed: this.#unparsed,
      metered: this.#metered,
      perEpisode: summarize(({ sum, count }) => sum / count),
      total: summarize(({ sum }) => sum),
    };
  }
}
