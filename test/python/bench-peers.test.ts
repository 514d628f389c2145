/**
 * The players (programs that step episodes) that `bench --peers` compares give the golden values. The bench verifies this
 * before it times a player.
 */
import { afterAll, expect, test } from 'vitest';
import { goldenOutputs } from '../../bench/peers/inputs.js';
import { compareOutputs, verifyPlayer } from '../../bench/peers/measure.js';
import { PLAYERS, type Player } from '../../bench/peers/players.js';
import { Mismatch } from '../../bench/verify.js';
import { isRequired } from '../support/required.js';

const opened: Player[] = [];
afterAll(() => Promise.all(opened.map((player) => player.close())));

for (const kind of PLAYERS) {
  test(`${kind.name} gives the golden values`, async (context) => {
    const player = kind.open();
    opened.push(player);
    const missing = await verifyPlayer({ ...kind, player });
    if (missing === null) return;
    if (isRequired('peers')) throw new Error(missing);
    context.skip(`${kind.name} is missing: ${missing}`);
  });
}

test('compareOutputs refuses values that differ by more than the tolerance, and another number of values', () => {
  const wanted = goldenOutputs();
  const got = wanted.slice();
  got[got.length - 1] += 1e-6;
  compareOutputs('a player that fuses multiplications and additions', got, wanted, 2e-6);
  expect(() => compareOutputs('an exact player', got, wanted, 0)).toThrow(Mismatch);
  expect(() =>
    compareOutputs('a player that fuses multiplications and additions', got, wanted, 1e-7),
  ).toThrow(Mismatch);
  expect(() => compareOutputs('a short player', got.subarray(1), wanted, 0)).toThrow(`${wanted.length}`);
});
