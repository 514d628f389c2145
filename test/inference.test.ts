/** What is believed of people, as a whole: how near it comes, how sure it is, and on what it depends. */
import { beforeAll, describe, expect, it } from 'vitest';
import { InputError } from '../src/errors.js';
import { Inference } from '../src/policies/inference/inference.js';
import { NUM_ACTIONS, NUM_STEPS, NUM_TRAITS, PROFILE_SIZE } from '../src/world/fields.js';
import { checkProfile } from '../src/world/resolve.js';
import { createWorld } from '../src/world/world.js';
import { meanError, playWeeks, show, slotOf, type Weeks } from './support/watching.js';

const world = createWorld();
const N = 300;
let weeks: Weeks;
beforeAll(() => {
  weeks = playWeeks(world, { numEnvs: N, seed: 20_000 });
});

/** What the constant belief reaches in this world. */
const CONSTANT = 0.205;

describe('beliefs', () => {
  it('come nearer than a linear-Gaussian estimator watching the same, after two days and after the week', () => {
    const inference = show(new Inference(world, N), weeks.seen, 0, 1);
    expect(meanError(inference.beliefs(), weeks.targets)).toBeCloseTo(CONSTANT, 1);
    show(inference, weeks.seen, 1, 9);
    expect(meanError(inference.beliefs(), weeks.targets)).toBeLessThan(0.1);
    show(inference, weeks.seen, 9);
    expect(meanError(inference.beliefs(), weeks.targets)).toBeLessThan(0.078);
    // 0.06 is below what any watcher of the heuristic could reach: it would have been told more than it may see.
    expect(meanError(inference.beliefs(), weeks.targets)).toBeGreaterThan(0.06);
  });

  it('are as far off as they expect, and intervals hold as often as they say', () => {
    const inference = new Inference(world, N);
    for (const [first, end] of [
      [0, 5],
      [5, 15],
      [15, 29],
    ]) {
      show(inference, weeks.seen, first, end);
      const expected = inference.expectedErrors().reduce((sum, error) => sum + error) / weeks.targets.length;
      expect(Math.abs(meanError(inference.beliefs(), weeks.targets) / expected - 1)).toBeLessThan(0.1);
      const inside = Array.from({ length: N }, (_, i) => inference.explain(i).targets).flatMap((targets, i) =>
        targets.map(
          ({ low, high }, k) => low <= weeks.targets[3 * i + k] && weeks.targets[3 * i + k] <= high,
        ),
      );
      // 10 % to 90 %; what is at an end of [0, 1] is inside more often.
      const share = inside.filter(Boolean).length / inside.length;
      expect(share).toBeGreaterThan(0.77);
      expect(share).toBeLessThan(0.87);
    }
  });

  it('are of people of the named profiles too, whom few weights of the prior are like', () => {
    const { seen, targets } = playWeeks(world, { numEnvs: 60, seed: 5, profiles: 'discrete' });
    const inference = show(new Inference(world, 60), seen);
    expect(meanError(inference.beliefs(), targets)).toBeLessThan(0.06);
    expect(Array.from({ length: 60 }, (_, i) => inference.explain(i).contradicted)).toEqual(
      Array(60).fill(0),
    );
  });

  it('hardly depend on the samples', () => {
    const few = show(new Inference(world, N, { samples: 128 }), weeks.seen).beliefs();
    const many = show(new Inference(world, N, { samples: 1024, seed: 9 }), weeks.seen).beliefs();
    expect(few).not.toEqual(many);
    expect(Math.abs(meanError(few, weeks.targets) - meanError(many, weeks.targets))).toBeLessThan(0.003);
  });
});

describe('what is believed depends', () => {
  const few = 12;
  const rowsOf = (rows: Float32Array, count: number) => rows.slice(0, (rows.length / N) * count);
  const all = (inference: Inference) => [
    inference.beliefs(),
    inference.expectedErrors(),
    inference.people(5),
    inference.probeValues(),
  ];

  it('on the stream alone, whatever the batch and the slot', () => {
    const together = show(new Inference(world, N), weeks.seen, 0, 20);
    for (const i of [0, 7, N - 1]) {
      const alone = show(new Inference(world, 1), slotOf(weeks.seen, i), 0, 20);
      const [mine, own] = [all(together), all(alone)];
      own.forEach((values, k) => {
        expect(mine[k].slice(i * values.length, (i + 1) * values.length)).toEqual(values);
      });
      expect(together.explain(i)).toEqual(alone.explain(0));
    }
  });

  it('on no question that was asked before', () => {
    const seen = weeks.seen.map((rows) => rowsOf(rows, few));
    const silent = show(new Inference(world, few), seen);
    const asked = new Inference(world, few);
    for (const rows of seen) {
      asked.observe(rows);
      all(asked);
      asked.observe(rows);
    }
    expect(all(asked)).toEqual(all(silent));
  });

  it('not on slots that do not play, nor on an earlier episode', () => {
    const seen = weeks.seen.map((rows) => rowsOf(rows, 2));
    const other = weeks.seen.map((rows) => rows.slice(-seen[0].length));
    const inference = show(new Inference(world, 2), other, 0, 15);
    const before = inference.beliefs();
    const playing = Uint8Array.of(0, 1);
    for (const rows of seen) inference.observe(rows, playing);
    const fresh = show(new Inference(world, 2), seen).beliefs();
    expect(inference.beliefs()).toEqual(Float32Array.of(...before.slice(0, 3), ...fresh.slice(3)));
  });

  it('on the seed of the inference', () => {
    const beliefs = [0, 1].map((seed) => show(new Inference(world, N, { seed }), weeks.seen).beliefs());
    expect(beliefs[0]).not.toEqual(beliefs[1]);
  });

  it('on what is seen of a stream that begins late, and then on little', () => {
    const late = show(new Inference(world, N), weeks.seen, 12, 16);
    const error = meanError(late.beliefs(), weeks.targets);
    expect(error).toBeLessThan(0.15);
    expect(error).toBeGreaterThan(
      meanError(show(new Inference(world, N), weeks.seen, 0, 16).beliefs(), weeks.targets),
    );
    expect(late.explain(0)).toMatchObject({ step: 15, evidence: 4, contradicted: 0 });
  });
});

describe('people drawn', () => {
  it('are valid, within their ranges, and as different as they are many', () => {
    const inference = show(
      new Inference(world, 20, { samples: 64 }),
      weeks.seen.map((rows) => rows.slice(0, 20 * 22)),
    );
    const people = inference.people(64);
    expect(people.length).toBe(20 * 64 * PROFILE_SIZE);
    const { traitLow, traitSpan } = world.params;
    for (let at = 0; at < people.length; at += PROFILE_SIZE) {
      const who = checkProfile(people.subarray(at, at + PROFILE_SIZE));
      for (let k = 0; k < NUM_TRAITS; k++) {
        expect(who[k]).toBeGreaterThanOrEqual(traitLow[k]);
        expect(who[k]).toBeLessThanOrEqual(Math.fround(traitLow[k] + traitSpan[k]));
      }
      const weights = who.slice(NUM_TRAITS);
      expect(Math.min(...weights)).toBeGreaterThanOrEqual(0);
      expect(weights.reduce((sum, weight) => sum + weight)).toBeCloseTo(1, 6);
    }
    const first = new Set(Array.from({ length: 64 }, (_, p) => people[p * PROFILE_SIZE]));
    expect(first.size).toBe(64);
    expect(inference.people(128).slice(64 * PROFILE_SIZE, 65 * PROFILE_SIZE)).toEqual(
      people.slice(0, PROFILE_SIZE),
    );
  });
});

describe('probes', () => {
  it('are worth what they then tell, and nothing when no belief can learn of them', () => {
    const inference = show(new Inference(world, N), weeks.seen, 0, 1);
    for (let step = 0; step < 3; step++) {
      const worth = inference.probeValues();
      const taken = weeks.seen[step + 1].filter((_, at) => at % 22 === 10);
      const promised = taken.reduce((sum, action, i) => sum + worth[i * NUM_ACTIONS + action], 0) / N;
      const before = inference.expectedErrors().reduce((sum, error) => sum + error) / (3 * N);
      inference.observe(weeks.seen[step + 1]);
      const gained = before - inference.expectedErrors().reduce((sum, error) => sum + error) / (3 * N);
      expect(Math.abs(promised - gained)).toBeLessThan(0.004);
    }
    show(inference, weeks.seen, 4, NUM_STEPS);
    expect(Math.max(...inference.probeValues())).toBe(0);
  });

  it('are worth most where most is unknown', () => {
    const [, , , sleep] = [...show(new Inference(world, 1), slotOf(weeks.seen, 0), 0, 1).probeValues()];
    const [work] = show(new Inference(world, 1), slotOf(weeks.seen, 0), 0, 1).probeValues();
    expect(work).toBeGreaterThan(20 * sleep);
  });
});

describe('what is no observation', () => {
  const seen = () => weeks.seen[3].slice(0, 2 * 22);
  const refusal = (call: () => void): string => {
    try {
      call();
    } catch (error) {
      expect(error).toBeInstanceOf(InputError);
      return (error as InputError).code;
    }
    return 'accepted';
  };

  it.each([
    ['a list', [...Array(44).keys()], null, 'wrong_type'],
    ['too short', new Float32Array(22), null, 'wrong_length'],
    ['a playing of another length', null, new Uint8Array(3), 'wrong_length'],
    ['a playing of another type', null, [1, 1], 'wrong_type'],
  ])('%s is refused', (_, rows, playing, code) => {
    const inference = new Inference(world, 2);
    expect(
      refusal(() => inference.observe((rows ?? seen()) as Float32Array, playing as Uint8Array | null)),
    ).toBe(code);
  });

  it.each([
    [0, 29],
    [0, 1.5],
    [4, Number.NaN],
    [4, 1.01],
    [9, 5],
    [10, 10],
    [10, -1],
    [11, Number.POSITIVE_INFINITY],
    [17, Number.NEGATIVE_INFINITY],
  ])('number %d being %d is refused, and nothing is taken in', (at, value) => {
    const inference = new Inference(world, 2);
    const before = inference.beliefs();
    const rows = seen();
    rows[22 + at] = value;
    expect(refusal(() => inference.observe(rows))).toBe('out_of_range');
    expect(inference.beliefs()).toEqual(before);
    expect(inference.explain(0).step).toBe(-1);
  });

  it('options are checked by name', () => {
    expect(refusal(() => new Inference(world, 1, { sampels: 3 } as object))).toBe('unknown_option');
    expect(refusal(() => new Inference(world, 1, { samples: 3 }))).toBe('out_of_range');
    expect(refusal(() => new Inference(world, 0))).toBe('out_of_range');
    expect(refusal(() => new Inference(world, 1).explain(1))).toBe('out_of_range');
    expect(refusal(() => new Inference(world, 1).people(0))).toBe('out_of_range');
  });
});
