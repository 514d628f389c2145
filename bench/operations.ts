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
import { seedsOf, WORLD } from './episodes.js';

/** The condition of a formula: a tag of the action, stress, or an event. */
export type Condition = (typeof TAGS)[number] | 'stress' | 'event';

/** A formula of docs/world.md, and how often a step computes it. */
interface Line extends Partial<Operations> {
  /** The formula, as the page writes it. Its operators count as arithmetic, unless it has `words`. */
  readonly text: string;
  /** How often a step computes the formula, such as once for each meter. Default 1. */
  readonly times?: number;
  /** Absent if the formula always applies. */
  readonly when?: Condition;
}

const social = 'social';
const productive = 'productive';

/** Rule 2, which rule 4 computes once more for the neutral profile. */
const RESPONSE: readonly Line[] = [
  { when: productive, text: 'vigour = vitalityFactorBase + (vitalityFactorSlope * m.V)' },
  { when: productive, text: 'd.P = (d.P * vigour) * focus' },
  { when: productive, text: 'd.C = d.C + (focusCognition * (focus - 1))' },
  { when: social, text: 'd.V = d.V * social_vitality_multiplier' },
  { when: productive, text: 'd.V = d.V + work_vitality_recovery' },
  { when: productive, text: 'd.S = d.S + progress_serenity_bonus' },
  { when: social, text: 'd.S = d.S + social_serenity_bonus' },
  { when: 'solo', text: 'd.S = d.S + solo_serenity_bonus' },
  { when: 'guilty', text: 'd.S = d.S - leisure_guilt' },
  { text: 'if m.S < stress_threshold', choices: 1 },
  { when: 'stress', times: NUM_METERS, text: 'd = d + stress' },
];

/** One draw: the key, its addition to the counter, twenty rounds, and five more additions of the key. */
const DRAW: readonly Line[] = [
  { text: 'ks = [k0, k1, k0 ^ k1 ^ 0x1BD11BDA]', words: 2 },
  { text: 'x0 = c0 + ks[0], x1 = c1 + ks[1]', words: 2 },
  { times: 20, text: 'x0 = x0 + x1', words: 1 },
  { times: 20, text: 'x1 = rotate_left(x1, r) ^ x0', words: 2 },
  { times: 5, text: 'x0 = x0 + ks[g mod 3]', words: 1 },
  { times: 5, text: 'x1 = x1 + ks[(g + 1) mod 3] + g', words: 2 },
];
const BELOW: Line = { text: '((x >> 16) * n) >> 16', words: 3 };

/** The formulas of a step without a belief and without the grade: rules 1 to 8 and 10. */
export const STEP_LINES: readonly Line[] = [
  ...RESPONSE,
  ...DRAW,
  // Rule 3. Six masks (&) and four shifts: n[0] and n[3] need no shift. Each n is converted to a float.
  { text: 'n[j] = (y[j div 3] >> (10 * (j mod 3))) & 1023', words: 6 + 4 },
  { times: 6, text: 'z[j] = ((n[j] + 0.5) * 2^-9) - 1', arithmetic: 1 },
  { times: NUM_METERS, text: 'd[k] = d[k] + (noise[k] * z[k])' },
  // Rules 4 and 5.
  ...RESPONSE,
  { times: NUM_METERS, text: 'anomaly = d - d0' },
  { text: 'd.V = d.V - (decay.V * metabolic_rate)' },
  { times: NUM_METERS - 1, text: 'd = d - decay' },
  // Rule 6.
  ...DRAW,
  { text: 'if x0 < eventThreshold', words: 1 },
  { ...BELOW, when: 'event' },
  { when: 'event', times: NUM_METERS, text: 'd = d + (eventEffect[e] * event_impact)' },
  // Rule 7.
  { times: NUM_METERS, text: "m' = clamp01(m + d)", choices: 2 },
  { times: NUM_METERS, text: "delta = m' - m" },
  {
    text: "low = how many of the five m' are < crashThreshold",
    choices: NUM_METERS,
    words: NUM_METERS - 1,
  },
  { text: 'crashes = crashes + low', words: 1 },
  {
    text: "well = well + (((((weight.V * m'.V) + (weight.C * m'.C)) + (weight.P * m'.P)) + (weight.S * m'.S)) + (weight.N * m'.N))",
  },
  // Rule 8. `low` is converted to a float.
  { times: NUM_METERS, text: 'w = weight + bias' },
  {
    text: 'acc = ((((w.V * delta.V) + (w.C * delta.C)) + (w.P * delta.P)) + (w.S * delta.S)) + (w.N * delta.N)',
  },
  { text: 'r = (scale * acc) - (crashPenalty * low)', arithmetic: 1 },
  { text: 'early = early + r' },
  { text: 'reward = r + (noise.reward * z[5])' },
  // Rule 10.
  { text: 't = t + 1', words: 1 },
  { text: 'return = return + reward' },
];

/** The formulas of the random policy's choice of an action. */
export const RANDOM_LINES: readonly Line[] = [...DRAW, BELOW];

/** Returns the number of + - * of a formula, without those of indices. */
const operatorsOf = (text: string): number =>
  text.replaceAll(/\[[^\]]*\]/g, '').match(/ [-+*] /g)?.length ?? 0;

/** Returns the operations of some lines. @param share returns the share of steps in which a condition holds, 0 to 1. */
export function operationsOf(lines: readonly Line[], share: (when: Condition) => number): Operations {
  const sum = { arithmetic: 0, choices: 0, words: 0 };
  for (const { text, times = 1, when, arithmetic = 0, choices = 0, words } of lines) {
    const weight = times * (when === undefined ? 1 : share(when));
    sum.arithmetic += weight * (arithmetic + (words === undefined ? operatorsOf(text) : 0));
    sum.choices += weight * choices;
    sum.words += weight * (words ?? 0);
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

/** Returns the share of steps that begin under stress, in episodes of random actions. */
function stressShare(): number {
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
