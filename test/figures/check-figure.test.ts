/** Tests that figures refuse invalid data before they are drawn, with an error that names the row and the value. */
import { describe, expect, it } from 'vitest';
import { drawActionSequences } from '../../src/figures/action-sequences.js';
import { type Calibration, drawCalibration } from '../../src/figures/calibration.js';
import { drawComponents } from '../../src/figures/components.js';
import { drawGains } from '../../src/figures/gains.js';
import { drawBands } from '../../src/figures/meter-bands.js';
import { drawRewards } from '../../src/figures/rewards.js';
import { drawTrainingCurves } from '../../src/figures/training-curves.js';
import { InputError } from '../../src/shared/errors.js';
import { BELIEF_NAMES, NUM_STEPS } from '../../src/world/fields.js';

const sequence = (...actions: unknown[]) => Object.assign(new Array(NUM_STEPS).fill(3), actions) as number[];
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

describe.each<[name: string, call: () => unknown, code: string, ...mentions: string[]]>([
  ['no rows', () => sequences(), 'wrong_length', 'rows', 'an array of 0'],
  [
    'rows that are not an array',
    () => drawActionSequences({ rows: 'x' as never }),
    'wrong_type',
    'rows',
    '"x"',
  ],
  [
    'a curve without points',
    () => drawTrainingCurves({ curves: [{ name: 'x' } as never] }),
    'wrong_type',
    'the points of "x"',
    'undefined',
  ],
  ['a row that is null', () => sequences(null), 'wrong_type', 'rows[0]', 'undefined'],
  ['a nameless row', () => sequences({ name: '', actions: sequence() }), 'wrong_type', 'rows[0]', '""'],
  [
    'a name used twice',
    () => sequences({ name: 'x', actions: sequence() }, { name: 'x', actions: sequence() }),
    'out_of_range',
    'rows[1]',
    '"x"',
  ],
  [
    'a short action sequence',
    () => sequences({ name: 'x', actions: [1, 2] }),
    'wrong_length',
    '28 numbers in the actions of "x"',
    'got 2',
  ],
  ['a row without actions', () => sequences({ name: 'x' }), 'wrong_type', 'actions of "x"', 'undefined'],
  [
    'action code 10',
    () => sequences({ name: 'x', actions: sequence(0, 10) }),
    'illegal_action',
    '"x" at step 1',
    'got 10',
  ],
  [
    'action code -1',
    () => sequences({ name: 'x', actions: sequence(-1) }),
    'illegal_action',
    'step 0',
    'got -1',
  ],
  ['action code 1.5', () => sequences({ name: 'x', actions: sequence(1.5) }), 'illegal_action', 'got 1.5'],
  [
    'five parts instead of eight',
    () => parts(0, 0, 0, 0, 0),
    'wrong_length',
    '8 numbers in the parts of "x"',
    'got 5',
  ],
  ['a NaN part', () => parts(0, 0, nan, 0, 0, 0, 0, 0), 'out_of_range', 'parts of "x"[2]', 'NaN'],
  [
    'a part that is a string',
    () => parts(0, '0', 0, 0, 0, 0, 0, 0),
    'out_of_range',
    'parts of "x"[1]',
    '"0"',
  ],
  ['an infinite gain', () => gain(Infinity, 0, 1), 'out_of_range', 'gain of "x"', 'Infinity'],
  ['a NaN interval bound', () => gain(0, nan, 1), 'out_of_range', 'low end', '"x"', 'NaN'],
  [
    'the rewards of 27 steps',
    () => rewards(new Array(27).fill(0)),
    'wrong_length',
    '28 numbers',
    '"x"',
    'got 27',
  ],
  [
    'a NaN mean',
    () => rewards(new Array(28).fill(0), 0, nan),
    'out_of_range',
    'second half mean of "x"',
    'NaN',
  ],
  [
    'bands with too few numbers',
    () => bands(new Float64Array(5)),
    'wrong_length',
    '700 numbers',
    'bands of "x"',
    'got 5',
  ],
  [
    'a range whose mean belief is NaN',
    () => calibration(nan),
    'out_of_range',
    'a social range of "x"',
    'NaN',
  ],
  ['a NaN belief error', () => calibration(0.125, nan), 'out_of_range', 'the social error of "x"', 'NaN'],
  ['NaN bands', () => bands(new Float64Array(700).fill(nan)), 'out_of_range', '"x"[0]', 'NaN'],
])('%s', (_, call, code, ...mentions) => {
  it('is refused', () => {
    let refusal: unknown;
    try {
      call();
    } catch (error) {
      refusal = error;
    }
    expect(refusal).toBeInstanceOf(InputError);
    expect(refusal).toMatchObject({ code });
    for (const part of ['Expected', ...mentions]) expect((refusal as Error).message).toContain(part);
  });
});
