/** Tests the places of the parts of a score on the page. */
import { expect, it } from 'vitest';
import { leftOf, placeOf, stackOf } from '../../web/src/parts/stack.js';

it('positive parts are stacked to the right of 0, and negative parts to the left', () => {
  const parts = [0.25, -0.125, 0, 0.5, -0.25];
  expect(stackOf(parts)).toEqual([
    { start: 0, end: 0.25 },
    { start: -0.125, end: 0 },
    { start: 0.25, end: 0.25 },
    { start: 0.25, end: 0.75 },
    { start: -0.375, end: -0.125 },
  ]);
  expect(leftOf(parts)).toBe(-0.375);
  expect(leftOf([0.5, 0])).toBe(0);
});

it('placeOf returns the place of a part in percent of the axis', () => {
  expect(placeOf({ start: -0.25, end: 0.5 }, { low: -0.25, high: 0.75 })).toEqual({
    left: '0%',
    width: '75%',
  });
});
