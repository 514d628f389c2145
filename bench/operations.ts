/**
 * Counts the operations that the rules of a step demand: the operators of the formulas in docs/world.md, not the
 * instructions of a kernel. A test finds each formula in the page and counts the operations of the reference as it runs.
 *
 * Counted are sums, differences, products and conversions of floats (`arithmetic`), their minimums, maximums and comparisons
 * (`choices`), and operations on 32-bit words (`words`). Not counted are table lookups, selections by a condition, loads and
 * stores. So the count is a lower bound.
 */

import { below, threefry } from '../dist/engine/reference/threefry.js';
import { Episode } from '../dist/index.js';
import { NUM_ACTIONS, NUM_METERS, NUM_STEPS, TAGS, TRAIT_NAMES } from '../dist/world/fields.js';
import type { Operations } from './core/core.js';
import { seedsOf, WORLD } from './rig.js';

/** The condition of a formula: a tag of the action, stress, or an event. */
export type Condition = (typeof TAGS)[number] | 'stress' | 'event';

/** A formula of docs/world.md, and how often a step computes it. */
export interface Line {
  /** The number of the rule; 0 for the draws of random numbers. */
  readonly rule: number;
  /** The formula, as the page writes it. */
  readonly text: string;
  /** How often a step computes the formula, such as once for each meter. Default 1. */
  readonly times?: number;
  /** Absent if the formula always applies. */
  readonly when?: Condition;
  /** Operations in addition to the operators of the text, such as a comparison or a conversion. */
  readonly extra?: Partial<Operations>;
  /** Whether `extra` has all operations of the formula. The operators of the text are then not counted. */
  readonly onlyExtra?: boolean;
}

const social = 'social';
const productive = 'productive';

/** Rule 2, which rule 4 computes once more for the neutral profile. */
const RESPONSE: readonly Line[] = [
  { rule: 2, when: productive, text: 'vigour = vitalityFactorBase + (vitalityFactorSlope * m.V)' },
  { rule: 2, when: productive, text: 'd.P = (d.P * vigour) * focus' },
  { rule: 2, when: productive, text: 'd.C = d.C + (focusCognition * (focus - 1))' },
  { rule: 2, when: social, text: 'd.V = d.V * social_vitality_multiplier' },
  { rule: 2, when: productive, text: 'd.V = d.V + work_vitality_recovery' },
  { rule: 2, when: productive, text: 'd.S = d.S + progress_serenity_bonus' },
  { rule: 2, when: social, text: 'd.S = d.S + social_serenity_bonus' },
  { rule: 2, when: 'solo', text: 'd.S = d.S + solo_serenity_bonus' },
  { rule: 2, when: 'guilty', text: 'd.S = d.S - leisure_guilt' },
  { rule: 2, text: 'if m.S < stress_threshold', extra: { choices: 1 } },
  { rule: 2, when: 'stress', times: NUM_METERS, text: 'd = d + stress' },
];

/** One draw: the key, its addition to the counter, twenty rounds, and five more additions of the key. */
const DRAW: readonly Line[] = [
  { rule: 0, text: 'ks = [k0, k1, k0 ^ k1 ^ 0x1BD11BDA]', onlyExtra: true, extra: { words: 2 } },
  { rule: 0, text: 'x0 = c0 + ks[0], x1 = c1 + ks[1]', onlyExtra: true, extra: { words: 2 } },
  { rule: 0, times: 20, text: 'x0 = x0 + x1', onlyExtra: true, extra: { words: 1 } },
  { rule: 0, times: 20, text: 'x1 = rotate_left(x1, r) ^ x0', onlyExtra: true, extra: { words: 2 } },
  { rule: 0, times: 5, text: 'x0 = x0 + ks[g mod 3]', onlyExtra: true, extra: { words: 1 } },
  { rule: 0, times: 5, text: 'x1 = x1 + ks[(g + 1) mod 3] + g', onlyExtra: true, extra: { words: 2 } },
];
const BELOW: Line = { rule: 0, text: '((x >> 16) * n) >> 16', onlyExtra: true, extra: { words: 3 } };

/** The formulas of a step without a belief and without the grade. */
export const STEP_LINES: readonly Line[] = [
  ...RESPONSE,
  ...DRAW,
  // Six masks (&) and four shifts: n[0] and n[3] need no shift.
  {
    rule: 3,
    text: 'n[j] = (y[j div 3] >> (10 * (j mod 3))) & 1023',
    onlyExtra: true,
    extra: { words: 6 + 4 },
  },
  { rule: 3, times: 6, text: 'z[j] = ((n[j] + 0.5) * 2^-9) - 1', extra: { arithmetic: 1 } },
  { rule: 3, times: NUM_METERS, text: 'd[k] = d[k] + (noise[k] * z[k])' },
  ...RESPONSE.map((line) => ({ ...line, rule: 4 })),
  { rule: 4, times: NUM_METERS, text: 'anomaly = d - d0' },
  { rule: 5, text: 'd.V = d.V - (decay.V * metabolic_rate)' },
  { rule: 5, times: NUM_METERS - 1, text: 'd = d - decay' },
  ...DRAW,
  { rule: 6, text: 'if x0 < eventThreshold', extra: { words: 1 } },
  { ...BELOW, when: 'event' },
  { rule: 6, when: 'event', times: NUM_METERS, text: 'd = d + (eventEffect[e] * event_impact)' },
  { rule: 7, times: NUM_METERS, text: "m' = clamp01(m + d)", extra: { choices: 2 } },
  { rule: 7, times: NUM_METERS, text: "delta = m' - m" },
  {
    rule: 7,
    text: "low = how many of the five m' are < crashThreshold",
    onlyExtra: true,
    extra: { choices: NUM_METERS, words: NUM_METERS - 1 },
  },
  { rule: 7, text: 'crashes = crashes + low', onlyExtra: true, extra: { words: 1 } },
  {
    rule: 7,
    text: "well = well + (((((weight.V * m'.V) + (weight.C * m'.C)) + (weight.P * m'.P)) + (weight.S * m'.S)) + (weight.N * m'.N))",
  },
  { rule: 8, times: NUM_METERS, text: 'w = weight + bias' },
  {
    rule: 8,
    text: 'acc = ((((w.V * delta.V) + (w.C * delta.C)) + (w.P * delta.P)) + (w.S * delta.S)) + (w.N * delta.N)',
  },
  { rule: 8, text: 'r = (scale * acc) - (crashPenalty * low)', extra: { arithmetic: 1 } },
  { rule: 8, text: 'early = early + r' },
  { rule: 8, text: 'reward = r + (noise.reward * z[5])' },
  { rule: 10, text: 't = t + 1', onlyExtra: true, extra: { words: 1 } },
  { rule: 10, text: 'return = return + reward' },
];

/** The formulas of the random policy's choice of an action. */
export const RANDOM_LINES: readonly Line[] = [...DRAW, BELOW];

/** Returns the number of + - * of a formula, without those of indices. */
const operatorsOf = (text: string): number =>
  text.replaceAll(/\[[^\]]*\]/g, '').match(/ [-+*] /g)?.length ?? 0;

/** Returns the operations of one line. */
export function operationsOfLine({ text, times = 1, extra = {}, onlyExtra = false }: Line): Operations {
  const { arithmetic = 0, choices = 0, words = 0 } = extra;
  const operators = onlyExtra ? 0 : operatorsOf(text);
  return { arithmetic: times * (operators + arithmetic), choices: times * choices, words: times * words };
}

/** Returns the operations of some lines. @param share returns the share of steps in which a condition holds, 0 to 1. */
export function operationsOf(lines: readonly Line[], share: (when: Condition) => number): Operations {
  const sum = { arithmetic: 0, choices: 0, words: 0 };
  for (const line of lines) {
    const weight = line.when === undefined ? 1 : share(line.when);
    const operations = operationsOfLine(line);
    for (const kind of ['arithmetic', 'choices', 'words'] as const) sum[kind] += weight * operations[kind];
  }
  return sum;
}

/** What chooses the actions of a case. */
export type Choice = 'given' | 'random';

/**
 * Returns the operations of a step of one episode. A register that holds several episodes computes every line, because nearly
 * always one of the episodes needs it. A single episode computes a conditional line as often as its condition holds under
 * uniformly random actions.
 * @param lanes the number of episodes in a register.
 */
export function demandOf(choice: Choice, lanes: number): Operations {
  const lines = choice === 'random' ? [...STEP_LINES, ...RANDOM_LINES] : STEP_LINES;
  return operationsOf(lines, lanes > 1 ? () => 1 : shareOf);
}

/** Returns the share of steps in which a condition holds, under uniformly random actions. */
function shareOf(when: Condition): number {
  if (when === 'stress') return stressShare();
  if (when === 'event') return WORLD.params.eventThreshold / 2 ** 32;
  // A bit for each action with the tag.
  const tagged = WORLD.params.tagged[TAGS.indexOf(when)];
  return tagged.toString(2).replaceAll('0', '').length / NUM_ACTIONS;
}

let cachedShare: number | undefined;

/** Returns the share of steps that begin under stress, in episodes of random actions. */
function stressShare(): number {
  cachedShare ??= measureStressShare();
  return cachedShare;
}

function measureStressShare(): number {
  const episode = new Episode({ world: WORLD });
  const draw = { x0: 0, x1: 0 };
  const [serenity, threshold] = [3, TRAIT_NAMES.indexOf('stress_threshold')];
  // Chosen by hand: more episodes take longer.
  const seeds = seedsOf(64);
  let count = 0;
  for (const seed of seeds) {
    episode.reset(seed);
    for (let t = 0; t < NUM_STEPS; t++) {
      if (episode.meters[serenity] < episode.profile[threshold]) count++;
      episode.step(below(threefry(seed, WORLD.params.streamPolicy, t, 0, draw).x0, NUM_ACTIONS));
    }
  }
  return count / (seeds.length * NUM_STEPS);
}
