/** Computes the tables of docs/world.md from the world's spec, and the page's worked example from its formulas. */
import { below, drawsOf, newDraws, streamsOf } from '../../src/engine/reference/threefry.js';
import { STATE_FIELDS } from '../../src/world/fields.js';
import { RHYTHM, type WorldSpec } from '../../src/world/numbers.js';
import { createWorld } from '../../src/world/world.js';

export type Rows = readonly (readonly (string | number)[])[];

const f32 = Math.fround;
const METERS = RHYTHM.meters;

/** Returns the tables of the section "Numbers" by heading, without header rows. */
export function numberTables(spec: WorldSpec = RHYTHM): Record<string, Rows> {
  const { constants, reward, noise } = spec;
  const factorRows = spec.belief.flatMap(({ name, factors }) =>
    factors.map(({ trait, weight, share, inverted }) => [
      name,
      trait ?? `weight of ${weight}`,
      share,
      inverted ? 'inverted' : 'as it is',
    ]),
  );
  return {
    Meters: METERS.map((name, k) => [
      name,
      spec.initialMeters[k],
      spec.decay[k],
      spec.stress[k],
      noise.meters[k],
      reward.bias[k],
    ]),
    Actions: spec.actions.map(({ name, category, tags, effect }, code) => [
      code,
      name,
      category,
      tags.join(' ') || '-',
      ...effect,
    ]),
    'Time of day': spec.slots.map((slot, code) => [code, slot, ...spec.timeOfDay[code]]),
    Events: spec.events.map(({ name, effect }, code) => [code, name, ...effect]),
    Traits: spec.traits.map(({ name, low, high, neutral }, k) => [k, name, low, high, neutral]),
    'Named profiles': [
      ...spec.traits.map(({ name }) => [name, ...Object.values(spec.profiles).map((p) => p.traits[name])]),
      ...METERS.map((name, k) => [
        `weight of ${name}`,
        ...Object.values(spec.profiles).map(({ weights }) => weights[k]),
      ]),
    ],
    'Belief factors': factorRows,
    Constants: Object.entries({
      ...constants,
      'reward.scale': reward.scale,
      'reward.crashPenalty': reward.crashPenalty,
      'reward.terminalScale': reward.terminalScale,
      'noise.reward': noise.reward,
      beliefGain: spec.beliefGain,
      beliefWeightScale: spec.beliefWeightScale,
    }),
    Streams: Object.entries(spec.streams),
    Graders: Object.entries(spec.graders).map(([name, weights]) => [name, ...weights]),
    Schedule: spec.slots.map((slot, k) => [slot, spec.heuristic.schedule[k]]),
    'Heuristic rules': spec.heuristic.rules.map(({ meter, below: limit, action, slots }) => [
      meter,
      limit,
      (slots ?? []).map((slot) => spec.slots[slot]).join(' ') || 'all',
      action,
    ]),
  };
}

/** Returns the fields of an episode's state: name, number of words, type. */
export const stateTable = (): Rows => STATE_FIELDS.map(({ name, size, word }) => [name, size, word]);

const float = new Float32Array(1);
const bits = new Uint32Array(float.buffer);
const hex = (word: number): string => (word >>> 0).toString(16).toUpperCase().padStart(8, '0');

/** Formats a float32 as its shortest decimal and its bits. */
export function decimalAndBits(x: number): string {
  float[0] = x;
  let digits = 1;
  while (f32(Number(x.toPrecision(digits))) !== float[0]) digits++;
  return `${Number(x.toPrecision(digits))} ${hex(bits[0])}`;
}

const cells = (values: readonly number[]): string[] => values.map(decimalAndBits);
/** Computes a float32 for each meter, by its index. */
const perMeter = (f: (k: number) => number): number[] => METERS.map((_, k) => f32(f(k)));

/**
 * Computes the first step of the page's example, rule by rule. Short names are those of the page's formulas. Computes only the
 * terms of a productive action in the morning, without stress.
 * @returns the rows of the example's two tables, and the outputs of the step.
 */
export function workedStep(seed: number, profileName: string, actionName: string) {
  const { params } = createWorld();
  const action = RHYTHM.actions.find(({ name }) => name === actionName)!;
  const { traits, weights } = RHYTHM.profiles[profileName];
  const trait = (name: string): number => f32(traits[name]);
  const [V, C, P, S] = [0, 1, 2, 3];
  const m = perMeter((k) => RHYTHM.initialMeters[k]);
  const factor = f32(RHYTHM.timeOfDay[0][RHYTHM.categories.indexOf(action.category)]);
  const effect = perMeter((k) => f32(action.effect[k]) * factor);
  const vigour = f32(
    f32(RHYTHM.constants.vitalityFactorBase) + f32(f32(RHYTHM.constants.vitalityFactorSlope) * m[V]),
  );
  const respond = (focus: number, recovery: number, bonus: number): number[] => {
    const d = [...effect];
    d[P] = f32(f32(d[P] * vigour) * focus);
    d[C] = f32(d[C] + f32(f32(RHYTHM.constants.focusCognition) * f32(focus - 1)));
    d[V] = f32(d[V] + recovery);
    d[S] = f32(d[S] + bonus);
    return d;
  };
  const focus = trait('morning_focus');
  const response = respond(focus, trait('work_vitality_recovery'), trait('progress_serenity_bonus'));
  const draws = drawsOf(streamsOf(params, false), seed, 0, newDraws());
  const n = [0, 1, 2, 3, 4, 5].map((j) => {
    const word = j < 3 ? draws.noise.x0 : draws.noise.x1;
    return (word >>> (10 * (j % 3))) & 1023;
  });
  const z = n.map((field) => (field + 0.5) * 2 ** -9 - 1);
  const noisy = perMeter((k) => response[k] + f32(f32(RHYTHM.noise.meters[k]) * z[k]));
  const neutral = respond(1, 0, 0);
  const anomaly = perMeter((k) => noisy[k] - neutral[k]);
  const decayed = perMeter(
    (k) => noisy[k] - f32(f32(RHYTHM.decay[k]) * (k === V ? trait('metabolic_rate') : 1)),
  );
  const fires = draws.event.x0 < RHYTHM.constants.eventThreshold;
  const event = fires ? below(draws.event.x1, RHYTHM.events.length) : -1;
  const impact = perMeter((k) => (fires ? f32(RHYTHM.events[event].effect[k]) * trait('event_impact') : 0));
  const d = perMeter((k) => decayed[k] + impact[k]);
  const moved = perMeter((k) => Math.min(Math.max(f32(m[k] + d[k]), 0), 1));
  const delta = perMeter((k) => moved[k] - m[k]);
  const low = moved.filter((x) => x < f32(RHYTHM.constants.crashThreshold)).length;
  const well = perMeter((k) => f32(weights[k]) * moved[k]).reduce((sum, term) => f32(sum + term));
  const w = perMeter((k) => f32(weights[k]) + f32(RHYTHM.reward.bias[k]));
  const acc = perMeter((k) => w[k] * delta[k]).reduce((sum, term) => f32(sum + term));
  const r = f32(f32(RHYTHM.reward.scale * acc) - f32(f32(RHYTHM.reward.crashPenalty) * low));
  const reward = f32(r + f32(RHYTHM.noise.reward * z[5]));
  const vectors: Rows = [
    ['before', 'm', ...cells(m)],
    ['1 effect', 'd', ...cells(effect)],
    ['2 response', 'd', ...cells(response)],
    ['3 noise', 'z', ...cells(z.slice(0, 5))],
    ['3 noise', 'd', ...cells(noisy)],
    ['4 anomaly', 'd0', ...cells(neutral)],
    ['4 anomaly', 'anomaly', ...cells(anomaly)],
    ['5 decay', 'd', ...cells(decayed)],
    ['6 event', 'd', ...cells(d)],
    ['7 meters', "m'", ...cells(moved)],
    ['7 meters', 'delta', ...cells(delta)],
    ['8 reward', 'w', ...cells(w)],
  ];
  const numbers: Rows = [
    ['2 response', 'vigour', decimalAndBits(vigour)],
    ['2 response', 'focus', decimalAndBits(focus)],
    ['3 noise', 'y0 y1', `${hex(draws.noise.x0)} ${hex(draws.noise.x1)}`],
    ['3 noise', 'n[0] to n[5]', n.join(' ')],
    ['6 event', 'x0 x1', `${hex(draws.event.x0)} ${hex(draws.event.x1)}`],
    ['6 event', 'e', event < 0 ? 'none' : `${event} ${RHYTHM.events[event].name}`],
    ['7 meters', 'low', low],
    ['7 meters', 'well', decimalAndBits(well)],
    ['8 reward', 'acc', decimalAndBits(acc)],
    ['8 reward', 'r', decimalAndBits(r)],
    ['8 reward', 'z[5]', decimalAndBits(z[5])],
    ['8 reward', 'reward', decimalAndBits(reward)],
  ];
  return {
    vectors,
    numbers,
    result: { event, meters: moved, deltas: delta, anomalies: anomaly, reward, early: r, well },
  };
}
