/** Compares encoded observations with rows computed by hand and with the naive encoder, in both layouts. */
import { describe, expect, it } from 'vitest';
import { largestMagnitudes } from '../../../src/engine/observe/bounds.js';
import { ObservationEncoder } from '../../../src/engine/observe/encoder.js';
import { HistoryRows } from '../../../src/engine/observe/history.js';
import type { ObservationOptions } from '../../../src/engine/observe/observation-options.js';
import { NUM_ACTIONS, OBSERVATION_SIZE, sizeOf } from '../../../src/world/fields.js';
import { createWorld, type World } from '../../../src/world/world.js';
import { openOn, TWO_ENGINES } from '../../support/engines.js';
import {
  encodedFields,
  encodeNaively,
  randomObservationOptions,
  readHistory,
} from '../../support/naive-encoder.js';
import { openBatch, WORLD } from '../../support/open-batch.js';
import { forAll, Random } from '../../support/random.js';
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
  it('for a subset of the fields, in the requested order', () => {
    const fields = ['reward', 'step', 'deltas'];
    expect(encodeRows({ fields }, [ROW, LAST])).toEqual([
      [1.5, 9, 0.5, -0.25, 0, 1, -1],
      [-2, 28, 0, 0, 0, 0, 0],
    ]);
  });

  it('for one-hot codes', () => {
    const options = { fields: ['day', 'slot', 'event', 'last_action', 'step'], oneHot: true };
    expect(encodeRows(options, [ROW, FIRST, LAST])).toEqual([
      [
        0,
        0,
        1,
        0,
        0,
        0,
        0,
        0,
        ...[0, 1, 0, 0],
        ...[0, 0, 0, 0, 1, 0],
        ...[0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0],
        9,
      ],
      [
        1,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        ...[1, 0, 0, 0],
        ...[1, 0, 0, 0, 0, 0],
        ...[1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        0,
      ],
      [
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        1,
        ...[1, 0, 0, 0],
        ...[1, 0, 0, 0, 0, 0],
        ...[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1],
        28,
      ],
    ]);
  });

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

/**
 * The size of a row with a history of seven steps, without and with one-hot codes. One-hot, the action of a past step takes 11
 * numbers instead of 1, and the four codes of an observation take 29 instead of 4.
 */
const [PLAIN_SIZE, ONE_HOT_SIZE] = [22 + 7 * 12, 47 + 7 * 22];

/** The number of environments of `play`. */
const N = 150;

/** Plays random episodes. @param onStep called with the raw observations after the reset and each step. */
function play(engine: (typeof TWO_ENGINES)[number], onStep: (raw: Float32Array, t: number) => void): void {
  const random = new Random('episodes');
  using env = openOn(engine, { numEnvs: N });
  onStep(env.reset({ seed: 77 }).observations, 0);
  for (let t = 1; t <= 28; t++) {
    onStep(env.step(random.bytes(N, 0, NUM_ACTIONS - 1)).observations, t);
  }
}

describe.each(TWO_ENGINES)('in episodes on $name', (engine) => {
  it('every number is within the bounds of its field, and one-hot blocks sum to 1', () => {
    const history = new HistoryRows(N);
    const encoders = [{}, { oneHot: true }, { scale: true }, { oneHot: true, scale: true }].map(
      (options) => new ObservationEncoder(WORLD, { ...options, history: true }, N),
    );
    let numbers = 0;
    play(engine, (raw, t) => {
      if (t > 0) history.push(raw, null);
      for (const encoder of encoders) {
        const out = new Float32Array(N * encoder.size);
        encoder.encode(raw, 0, history, out, 0, null);
        numbers += out.length;
        expect(outsideBounds(encoder, out)).toEqual([]);
        if (encoder.size === ONE_HOT_SIZE) expect(notOneHot(encoder, out)).toEqual([]);
      }
    });
    expect(numbers).toBe(29 * N * 2 * (PLAIN_SIZE + ONE_HOT_SIZE));
  });
});

/** Returns the fields that have numbers outside their bounds, for each environment. */
function outsideBounds({ fields, size }: ObservationEncoder, out: Float32Array): string[] {
  return fields.flatMap(({ name, offset, size: length, low, high }) =>
    Array.from({ length: N }, (_, i) => out.subarray(i * size + offset, i * size + offset + length))
      .filter((values) => !values.every((value) => value >= low && value <= high))
      .map((values) => `${name}: ${values}`),
  );
}

/** Returns the one-hot blocks that do not have exactly one 1. */
function notOneHot({ fields, size }: ObservationEncoder, out: Float32Array): string[] {
  const lengths: Record<string, number> = { day: 8, slot: 4, event: 6, last_action: 11, history_action: 11 };
  const codes = fields.filter(({ name }) => name in lengths);
  return codes.flatMap((field) => {
    const length = lengths[field.name];
    // One block for each environment; seven for the actions of a history.
    return Array.from({ length: (N * field.size) / length }, (_, block) => {
      const blocksPerEnv = field.size / length;
      const at = Math.floor(block / blocksPerEnv) * size + field.offset + (block % blocksPerEnv) * length;
      return [...out.subarray(at, at + length)];
    })
      .filter((entry) => !entry.every((value) => value === 0 || value === 1) || sumOf(entry) !== 1)
      .map((entry) => `${field.name}: ${entry}`);
  });
}

const sumOf = (values: number[]): number => values.reduce((sum, value) => sum + value, 0);

/** Plays episodes to different steps. @returns their raw observations and histories. */
function playRandomly(random: Random, n: number): { raw: Float32Array; history: HistoryRows } {
  const { batch, outputs } = openBatch(TWO_ENGINES[0], n);
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

it('an encoder writes the same numbers in both layouts', () => {
  forAll(30, (random) => {
    const [n, stride] = [70, 80];
    const { raw, history } = playRandomly(random, n);
    const encoder = new ObservationEncoder(WORLD, { ...randomObservationOptions(random), history: true }, n);
    const rows = new Float32Array(n * encoder.size);
    const columns = new Float32Array(encoder.size * stride);
    encoder.encode(raw, 0, history, rows, 0, null);
    encoder.encode(raw, 0, history, columns, stride, null);
    for (let k = 0; k < encoder.size; k++) {
      const column = Float32Array.from({ length: n }, (_, i) => rows[i * encoder.size + k]);
      expect(columns.subarray(k * stride, k * stride + n)).toEqual(column);
    }
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
