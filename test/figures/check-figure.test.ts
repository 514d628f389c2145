/** Tests that figures refuse invalid data before they are drawn, with an error that names the row and the value. */
import { expect, it } from 'vitest';
import { drawActionSequences } from '../../src/figures/action-sequences.js';
import { type Calibration, drawCalibration } from '../../src/figures/calibration.js';
import { drawComponents } from '../../src/figures/components.js';
import { drawGains } from '../../src/figures/gains.js';
import { drawHistogram } from '../../src/figures/histogram.js';
import { drawBands } from '../../src/figures/meter-bands.js';
import { drawRewards } from '../../src/figures/rewards.js';
import { drawTimeline } from '../../src/figures/timeline.js';
import type { TimelineEpisode } from '../../src/figures/timeline-episode.js';
import { drawTrainingCurves } from '../../src/figures/training-curves.js';
import { type ErrorCode, InputError } from '../../src/shared/errors.js';
import { BELIEF_NAMES, NUM_STEPS } from '../../src/world/fields.js';
import { playedTimeline } from '../support/pictures.js';
import { refusalOf } from '../support/refusals.js';

const sequence = (...actions: unknown[]) => Object.assign(new Array(NUM_STEPS).fill(3), actions) as number[];
const valid = { name: 'x', actions: sequence() };
const sequences = (...rows: unknown[]) => drawActionSequences({ rows: rows as [] });
const parts = (...values: unknown[]) => drawComponents({ rows: [{ name: 'x', parts: values as number[] }] });
const gain = (mean: number, low: number | null, high: number | null) =>
  drawGains({ baseline: 'y', rows: [{ name: 'x', gain: { mean, low, high } }] });
const rewards = (steps: number[], firstHalf = 0, secondHalf = 0) =>
  drawRewards({ rows: [{ name: 'x', rewards: { steps, firstHalf, secondHalf } }] });
const bands = (values: Float64Array) => drawBands({ rows: [{ name: 'x', bands: { episodes: 1, values } }] });
const nan = Number.NaN;
const calibration = (belief: number, mae = 0.125) => {
  const dimension: Calibration = {
    bins: [{ range: 1, belief, target: 0.25, count: 1 }],
    count: 1,
    correlation: null,
    mae,
  };
  return drawCalibration({ rows: [{ name: 'x', dimensions: BELIEF_NAMES.map(() => dimension) }] });
};
const histogram = (...counts: number[][]) =>
  drawHistogram({ rows: counts.map((each, k) => ({ name: `row ${k}`, counts: each, mean: 0.5 })) });
const timeline = (changes: Partial<Record<keyof TimelineEpisode, unknown>>) =>
  drawTimeline({ episode: { ...playedTimeline(NUM_STEPS), ...changes } as TimelineEpisode });
const filled = (length: number, value: number) => new Array<number>(length).fill(value);

it.each<[name: string, call: () => unknown, code: ErrorCode, ...mentions: string[]]>([
  ['no rows', () => sequences(), 'wrong_length', 'rows', 'an array of 0'],
  ['rows in a text', () => drawActionSequences({ rows: 'x' as never }), 'wrong_type', 'rows', '"x"'],
  [
    'a curve without points',
    () => drawTrainingCurves({ curves: [{ name: 'x' } as never] }),
    'wrong_type',
    '"x"',
  ],
  ['a row that is null', () => sequences(null), 'wrong_type', 'rows[0]', 'undefined'],
  ['a nameless row', () => sequences({ name: '', actions: sequence() }), 'wrong_type', 'rows[0]', '""'],
  ['a name used twice', () => sequences(valid, valid), 'out_of_range', 'rows[1]', '"x"'],
  [
    'a short sequence',
    () => sequences({ name: 'x', actions: [1, 2] }),
    'wrong_length',
    '28 numbers',
    'got 2',
  ],
  ['a row without actions', () => sequences({ name: 'x' }), 'wrong_type', 'actions of "x"', 'undefined'],
  [
    'action code 10',
    () => sequences({ ...valid, actions: sequence(0, 10) }),
    'illegal_action',
    'step 1',
    '10',
  ],
  ['action code -1', () => sequences({ ...valid, actions: sequence(-1) }), 'illegal_action', 'step 0', '-1'],
  ['action code 1.5', () => sequences({ ...valid, actions: sequence(1.5) }), 'illegal_action', 'got 1.5'],
  ['five parts instead of eight', () => parts(0, 0, 0, 0, 0), 'wrong_length', '8 numbers', 'got 5'],
  ['a NaN part', () => parts(0, 0, nan, 0, 0, 0, 0, 0), 'out_of_range', 'parts of "x"[2]', 'NaN'],
  ['a part in a text', () => parts(0, '0', 0, 0, 0, 0, 0, 0), 'out_of_range', 'parts of "x"[1]', '"0"'],
  ['an infinite gain', () => gain(Infinity, 0, 1), 'out_of_range', 'gain of "x"', 'Infinity'],
  ['a NaN interval bound', () => gain(0, nan, 1), 'out_of_range', 'low end', '"x"', 'NaN'],
  ['the rewards of 27 steps', () => rewards(filled(27, 0)), 'wrong_length', '28 numbers', 'got 27'],
  ['a NaN mean', () => rewards(filled(28, 0), 0, nan), 'out_of_range', 'second half mean of "x"', 'NaN'],
  ['short bands', () => bands(new Float64Array(5)), 'wrong_length', '700 numbers', 'got 5'],
  ['NaN bands', () => bands(new Float64Array(700).fill(nan)), 'out_of_range', '"x"[0]', 'NaN'],
  ['a NaN belief', () => calibration(nan), 'out_of_range', 'a social range of "x"', 'NaN'],
  ['a NaN belief error', () => calibration(0.125, nan), 'out_of_range', 'the social error of "x"', 'NaN'],
  ['no histogram', () => histogram(), 'wrong_length', 'an array of 0'],
  ['three histograms', () => histogram([1], [1], [1]), 'wrong_length', 'at most 2 rows, got 3'],
  ['histograms of other bins', () => histogram([1, 2], [1]), 'wrong_length', '2 numbers', '"row 1"'],
  ['a histogram without episodes', () => histogram([0, 0]), 'out_of_range', 'counts of "row 0"'],
  [
    'a timeline with action code 10',
    () => timeline({ actions: filled(28, 10) }),
    'illegal_action',
    'actions[0]',
  ],
  [
    'a timeline of 29 steps',
    () => timeline({ actions: filled(29, 1) }),
    'wrong_length',
    '28 numbers in actions',
  ],
  ['a timeline without actions', () => timeline({ actions: undefined }), 'wrong_type', 'actions'],
  ['no final meters', () => timeline({ meters: filled(140, 0) }), 'wrong_length', '145 numbers in meters'],
  ['an unknown event', () => timeline({ events: filled(28, 5) }), 'out_of_range', 'events[0]'],
  ['a NaN reward', () => timeline({ rewards: filled(28, nan) }), 'out_of_range', 'rewards[0]'],
  [
    'one NaN in a belief',
    () => timeline({ beliefs: [nan, ...filled(83, 0)] }),
    'out_of_range',
    'beliefs[0][0]',
  ],
  ['too few beliefs', () => timeline({ beliefs: [0, 0, 0] }), 'wrong_length', '84 numbers in beliefs'],
  ['a target of two numbers', () => timeline({ target: [0, 1] }), 'wrong_length', '3 numbers in target'],
])('%s: refused with code and row', (_, call, code, ...mentions) => {
  const refusal = refusalOf(call);
  expect(refusal).toBeInstanceOf(InputError);
  expect(refusal.code).toBe(code);
  for (const part of ['Expected', ...mentions]) expect(refusal.message).toContain(part);
});
