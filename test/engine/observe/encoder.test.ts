/** Compares encoded observations with rows computed by hand and with the naive encoder, in both layouts. */
import { describe, expect, it } from 'vitest';
import { largestMagnitudes } from '../../../src/engine/observe/bounds.js';
import { ObservationEncoder, type ObservationOptions } from '../../../src/engine/observe/encoding.js';
import { HistoryRows } from '../../../src/engine/observe/history.js';
import { OBSERVATION_SIZE, sizeOf } from '../../../src/world/fields.js';
import { createWorld, type World } from '../../../src/world/world.js';
import { ENGINES } from '../../support/engines.js';
import {
  encodedFields,
  encodeNaively,
  randomObservationOptions,
  readHistory,
} from '../../support/naive-encoder.js';
import { openBatch, WORLD } from '../../support/open-batch.js';
import { forAll, type Random } from '../../support/random.js';
import { changedWorld } from '../../support/worlds.js';

const f32 = Math.fround;
/** A number that no encoder writes. */
const UNWRITTEN = -77;

/** Step 9 (day 2, afternoon), event 3, action 6. */
const ROW = [9, 2, 1, 19, 0.5, 0.25, 1, 0, 0.75, 3, 6, 1.5, 0.5, -0.25, 0, 1, -1, 0.125, -0.0625, 0, 0, 0];
/** The raw row after a reset. */
const FIRST = [0, 0, 0, 28, 0.5, 0.5, 0.5, 0.5, 0.5, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
/** The raw row at the end. */
const LAST = [28, 7, 0, 0, 1, 1, 1, 1, 1, -1, 9, -2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];

/** Encodes raw rows without a history, row-major (stride 0). @returns the encoded rows. */
function encodeRows(options: ObservationOptions, rows: number[][], world: World = WORLD): number[][] {
  const encoder = new ObservationEncoder(world, options, rows.length);
  const out = new Float32Array(rows.length * encoder.size);
  encoder.encode(Float32Array.from(rows.flat()), 0, null, out, 0, null);
  return rows.map((_, i) => [...out.subarray(i * encoder.size, (i + 1) * encoder.size)]);
}

describe('an encoder gives the row computed by hand', () => {
  it('for scaled numbers', () => {
    const options = {
      fields: ['step', 'day', 'slot', 'remaining', 'meters', 'event', 'last_action', 'deltas'],
      scale: true,
    };
    expect(encodeRows(options, [ROW, FIRST, LAST])).toEqual(
      [
        [9 / 28, 2 / 7, 1 / 3, 19 / 28, 0.5, 0.25, 1, 0, 0.75, 0.8, 0.7, 0.75, 0.375, 0.5, 1, 0],
        [0, 0, 0, 1, 0.5, 0.5, 0.5, 0.5, 0.5, 0, 0, 0.5, 0.5, 0.5, 0.5, 0.5],
        [1, 1, 0, 0, 1, 1, 1, 1, 1, 0, 1, 0.5, 0.5, 0.5, 0.5, 0.5],
      ].map((row) => row.map(f32)),
    );
  });

  it('for a history of two steps, one-hot and scaled', () => {
    const history = new HistoryRows(1);
    history.push(Float32Array.from(ROW), null);
    history.push(Float32Array.from(LAST), null);
    const encoder = new ObservationEncoder(
      WORLD,
      { fields: ['step'], oneHot: true, scale: true, history: true },
      1,
    );
    const out = new Float32Array(encoder.size);
    encoder.encode(Float32Array.from(LAST), 0, history, out, 0, null);
    const noAction = [1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    const largest = largestMagnitudes(WORLD.params);
    const scaled = (value: number, bound: number) => f32((value + bound) * (1 / (2 * bound)));
    const half = new Array(25).fill(0.5);
    expect([...out]).toEqual([
      1,
      ...[noAction, noAction, noAction, noAction, noAction].flat(),
      ...[0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0],
      ...[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1],
      ...[0.5, 0.5, 0.5, 0.5, 0.5, scaled(1.5, largest.reward), scaled(-2, largest.reward)],
      ...[...half, 0.75, 0.375, 0.5, 1, 0, 0.5, 0.5, 0.5, 0.5, 0.5],
      ...[...half, scaled(0.125, largest.anomalies), scaled(-0.0625, largest.anomalies)],
      ...[0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5],
    ]);
  });
});

describe('scaling', () => {
  it('maps the bounds to exactly 0 and 1 and the middle to 0.5, and clamps rewards and anomalies beyond the bounds', () => {
    forAll(30, (random) => {
      const world = random.chance(0.5) ? WORLD : createWorld(changedWorld(random));
      const rows = [0, 1, 2, 3, 4].map((which) =>
        encodedFields(world, { scale: true }).flatMap(({ name, size, rawLow, rawHigh }) => {
          const beyond = /reward|anomalies/.test(name) ? rawHigh - rawLow : 0;
          const values = [rawLow, rawHigh, (rawLow + rawHigh) / 2, rawLow - beyond, rawHigh + beyond];
          return new Array(size).fill(values[which]);
        }),
      );
      const expected = [0, 1, 0.5, 0, 1].map((value) => new Array(OBSERVATION_SIZE).fill(value));
      expect(encodeRows({ scale: true }, rows, world)).toEqual(expected);
    });
  });
});

/** Plays episodes to different steps. @returns their raw observations and histories. */
function playRandomly(random: Random, n: number): { raw: Float32Array; history: HistoryRows } {
  const { batch, outputs } = openBatch(ENGINES[0], n);
  batch.reset(random.reset(n));
  const history = new HistoryRows(n);
  for (let step = random.integer(0, 12); step > 0; step--) {
    const request = random.step(outputs.terminated, false);
    batch.submit(request);
    history.push(outputs.observations, request.stepMask);
  }
  return { raw: outputs.observations, history };
}

it('an encoder with any options, layout and mask equals the naive encoder, and writes nothing else', () => {
  forAll(150, (random) => {
    const n = random.pick([1, 3, 63, 64, 65, 130]);
    const world = random.chance(0.7) ? WORLD : createWorld(changedWorld(random));
    const options = randomObservationOptions(random);
    const { raw, history } = playRandomly(random, n);
    const encoder = new ObservationEncoder(world, options, n);
    const stride = random.chance(0.5) ? 0 : n + random.integer(0, 9);
    const mask = random.chance(0.3) ? null : random.mask(n, random.pick([0, 0.1, 0.5]));
    const length = stride === 0 ? n * encoder.size : encoder.size * stride;
    const out = new Float32Array(length).fill(UNWRITTEN);
    const expected = out.slice();
    for (let i = 0; i < n; i++) {
      if (mask !== null && mask[i] === 0) continue;
      const row = raw.subarray(i * OBSERVATION_SIZE, (i + 1) * OBSERVATION_SIZE);
      encodeNaively(world, options, row, readHistory(history, i)).forEach((value, k) => {
        expected[stride === 0 ? i * encoder.size + k : k * stride + i] = value;
      });
    }
    const before = raw.slice();
    encoder.encode(raw, 0, options.history ? history : null, out, stride, mask);
    expect(out).toEqual(expected);
    expect(raw).toEqual(before);
  });
});

it("an encoder's size is the sum of its fields' sizes, and the fields are frozen", () => {
  forAll(20, (random) => {
    const options = randomObservationOptions(random);
    const encoder = new ObservationEncoder(WORLD, options, 2);
    expect(encoder.size).toBe(sizeOf(encoder.fields));
    expect(Object.isFrozen(encoder.fields)).toBe(true);
  });
});

it('a history keeps the last seven steps of each environment, and clear empties those of a mask', () => {
  const history = new HistoryRows(2);
  /** Number k of the observation is `first` + k. A record (past-step.ts) begins with number 10, the last action. */
  const observation = (first: number) => Array.from({ length: OBSERVATION_SIZE }, (_, k) => first + k);
  const actions = (i: number) => Array.from({ length: 7 }, (_, k) => readHistory(history, i)[k * 12]);
  for (let t = 0; t < 9; t++) {
    const rows = Float32Array.from([...observation(1000 + 100 * t), ...observation(5000 + 100 * t)]);
    history.push(rows, t < 2 ? null : Uint8Array.of(1, 0));
  }
  expect(actions(0)).toEqual([1210, 1310, 1410, 1510, 1610, 1710, 1810]);
  expect(actions(1)).toEqual([-1, -1, -1, -1, -1, 5010, 5110]);
  history.clear(Uint8Array.of(255, 0));
  expect([actions(0), actions(1).at(-1)]).toEqual([Array(7).fill(-1), 5110]);
});
