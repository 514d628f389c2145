/** The fields of encoded observations, the observation and action spaces, and the bounds of rewards and anomalies. */
import { describe, expect, it } from 'vitest';
import { largestMagnitudes } from '../../../src/engine/observe/bounds.js';
import { HISTORY_SIZE, historyOffset, RECORD_FIELDS } from '../../../src/engine/observe/history.js';
import { Episode } from '../../../src/engine/reference/episode.js';
import { ACTION_SPACE, observationSpace } from '../../../src/engine/vec-env/properties.js';
import {
  ACTION_NAMES,
  EVENT_NAMES,
  NUM_ACTIONS,
  NUM_METERS,
  NUM_STEPS,
  NUM_TRAITS,
  OBSERVATION,
  OBSERVATION_FIELDS,
  OBSERVATION_SIZE,
  PROFILE_SIZE,
  sizeOf,
} from '../../../src/world/fields.js';
import { RHYTHM } from '../../../src/world/numbers.js';
import { createWorld } from '../../../src/world/world.js';
import { encodedFields, randomObservationOptions } from '../../support/naive-encoder.js';
import { WORLD } from '../../support/open-batch.js';
import { forAll, Random } from '../../support/random.js';
import { changedWorld } from '../../support/worlds.js';

/** Returns name, offset, size and bounds of each field. */
const layoutOf = (options: Parameters<typeof encodedFields>[1]) =>
  encodedFields(WORLD, options).map(({ name, offset, size, low, high }) => [name, offset, size, low, high]);

it('without options the fields are those of raw observations', () => {
  expect(encodedFields(WORLD).map(({ rawLow, rawHigh, ...field }) => field)).toEqual(OBSERVATION_FIELDS);
  for (const field of encodedFields(WORLD)) {
    expect([field.rawLow, field.rawHigh]).toEqual([field.low, field.high]);
  }
});

it('a subset of the fields has the requested order, without gaps', () => {
  expect(layoutOf({ fields: ['deltas', 'step', 'meters'] })).toEqual([
    ['deltas', 0, 5, -1, 1],
    ['step', 5, 1, 0, 28],
    ['meters', 6, 5, 0, 1],
  ]);
});

it('oneHot encodes codes as blocks, and does not change other fields', () => {
  // The bounds 2^64 and 2^82 hold in every world: MAX_SUM and ANOMALY of src/world/fields.ts.
  expect(layoutOf({ oneHot: true })).toEqual([
    ['step', 0, 1, 0, 28],
    ['day', 1, 8, 0, 1],
    ['slot', 9, 4, 0, 1],
    ['remaining', 13, 1, 0, 28],
    ['meters', 14, 5, 0, 1],
    ['event', 19, 6, 0, 1],
    ['last_action', 25, 11, 0, 1],
    ['reward', 36, 1, -(2 ** 64), 2 ** 64],
    ['deltas', 37, 5, -1, 1],
    ['anomalies', 42, 5, -(2 ** 82), 2 ** 82],
  ]);
});

it('the meaning of a one-hot block names its codes, and the block has one entry for each', () => {
  const fields = encodedFields(WORLD, { oneHot: true, history: true });
  const orders = {
    day: ['0', '1', '2', '3', '4', '5', '6', '7'],
    slot: RHYTHM.slots,
    event: ['none', ...EVENT_NAMES],
    last_action: ['none', ...ACTION_NAMES],
  };
  for (const [name, order] of Object.entries(orders)) {
    const { size, meaning, rawLow, rawHigh } = fields.find((field) => field.name === name)!;
    expect(meaning).toContain(`one-hot: ${order.join(', ')}`);
    expect([size, rawHigh - rawLow + 1]).toEqual([order.length, order.length]);
  }
});

it('history adds four fields at the end', () => {
  const largest = largestMagnitudes(WORLD.params);
  expect(layoutOf({ fields: ['step'], history: true })).toEqual([
    ['step', 0, 1, 0, 28],
    ['history_action', 1, 7, -1, 9],
    ['history_reward', 8, 7, -(2 ** 64), 2 ** 64],
    ['history_deltas', 15, 35, -1, 1],
    ['history_anomalies', 50, 35, -(2 ** 82), 2 ** 82],
  ]);
  const both = encodedFields(WORLD, { fields: ['reward'], history: true, oneHot: true, scale: true });
  expect(both.map(({ name, size, rawLow, rawHigh }) => [name, size, rawLow, rawHigh])).toEqual([
    ['reward', 1, -largest.reward, largest.reward],
    ['history_action', 77, -1, 9],
    ['history_reward', 7, -largest.reward, largest.reward],
    ['history_deltas', 35, -1, 1],
    ['history_anomalies', 35, -largest.anomalies, largest.anomalies],
  ]);
  expect(both.filter(({ meaning }) => meaning.startsWith('the last 7 steps, '))).toEqual(both.slice(1));
});

it('a record of the history has the last four fields of an observation', () => {
  expect(RECORD_FIELDS).toEqual(OBSERVATION_FIELDS.slice(-4));
  expect(RECORD_FIELDS.map((field) => field.name)).toEqual(['last_action', 'reward', 'deltas', 'anomalies']);
  expect([HISTORY_SIZE, RECORD_FIELDS.map(historyOffset)]).toEqual([84, [0, 7, 14, 49]]);
});

it('the fields for any options are frozen, have unique names, bounds in order, and no gaps', () => {
  forAll(100, (random) => {
    const options = randomObservationOptions(random);
    const fields = encodedFields(WORLD, options);
    expect([fields, ...fields].every(Object.isFrozen)).toBe(true);
    expect(new Set(fields.map((field) => field.name)).size).toBe(fields.length);
    fields.reduce((offset, field) => {
      expect(field.offset).toBe(offset);
      expect(field.rawLow).toBeLessThan(field.rawHigh);
      if (options.scale) expect([field.low, field.high]).toEqual([0, 1]);
      return offset + field.size;
    }, 0);
  });
});

it('an observation space has the bounds of every number', () => {
  const fields = encodedFields(WORLD, {
    fields: ['event', 'meters', 'last_action'],
    oneHot: true,
    history: true,
  });
  const space = observationSpace(fields);
  expect(Object.isFrozen(space) && Object.isFrozen(space.shape)).toBe(true);
  expect([space.type, space.dtype, space.shape]).toEqual(['box', 'float32', [sizeOf(fields)]]);
  for (const { offset, size, low, high } of fields) {
    expect([...space.low.subarray(offset, offset + size)]).toEqual(new Array(size).fill(low));
    expect([...space.high.subarray(offset, offset + size)]).toEqual(new Array(size).fill(high));
  }
  expect(observationSpace(OBSERVATION_FIELDS).shape).toEqual([22]);
  expect(observationSpace(fields).low).not.toBe(space.low);
});

it('the action space has the ten action names', () => {
  expect(ACTION_SPACE).toMatchObject({ type: 'discrete', n: 10, names: ACTION_NAMES });
  expect(Object.isFrozen(ACTION_SPACE) && Object.isFrozen(ACTION_SPACE.names)).toBe(true);
});

/** The largest magnitude of a number of a world or a profile. */
const MAX = 2 ** 20;

/** Plays an episode. @returns the largest magnitude of each number of the observations. */
function maxMagnitudes(episode: Episode, actions: () => number): Float64Array {
  const maxima = new Float64Array(OBSERVATION_SIZE);
  const row = new Float32Array(OBSERVATION_SIZE);
  while (!episode.terminated) {
    episode.step(actions());
    episode.observe(row);
    row.forEach((value, k) => {
      maxima[k] = Math.max(maxima[k], Math.abs(value));
    });
  }
  return maxima;
}

describe('the bounds of raw observations', () => {
  const highs = OBSERVATION_FIELDS.flatMap(({ size, high }) => new Array<number>(size).fill(high));
  const expectWithin = (maxima: Float64Array) => {
    for (const [k, high] of highs.entries()) expect(maxima[k]).toBeLessThanOrEqual(high);
  };

  it('hold in extreme worlds for any profile', () => {
    forAll(60, (random) => {
      const world = createWorld(changedWorld(random));
      const profile = Float32Array.from({ length: PROFILE_SIZE }, () => random.wild());
      const episode = new Episode({ world }).reset(random.integer(0, 1e9), { profile });
      expectWithin(maxMagnitudes(episode, () => random.integer(0, NUM_ACTIONS - 1)));
    });
  });

  it('are reached by the anomalies of the most extreme profile in the most extreme world', () => {
    const spec = structuredClone(RHYTHM);
    spec.initialMeters.fill(1);
    spec.actions[0].effect.fill(MAX);
    for (const factors of spec.timeOfDay) factors.fill(MAX);
    spec.constants.vitalityFactorBase = spec.constants.vitalityFactorSlope = MAX;
    for (const trait of spec.traits) trait.neutral = -MAX;
    const profile = new Float32Array(PROFILE_SIZE).fill(MAX);
    const episode = new Episode({ world: createWorld(spec) }).reset(1, { profile });
    const maxima = maxMagnitudes(episode, () => 0);
    expectWithin(maxima);
    expect(Math.max(...maxima.subarray(OBSERVATION.anomalies))).toBe(2 ** 82);
  });
});

/** Draws a profile at the bounds of the traits with all weight on one meter. Such profiles have the largest rewards. */
function extremeProfile(random: Random): Float32Array {
  const weighted = NUM_TRAITS + random.integer(0, NUM_METERS - 1);
  return Float32Array.from({ length: NUM_TRAITS + NUM_METERS }, (_, k) => {
    if (k >= NUM_TRAITS) return Number(k === weighted);
    return WORLD.params.traitLow[k] + (random.chance(0.5) ? WORLD.params.traitSpan[k] : 0);
  });
}

it('with traits in range, the largest reward and anomaly are below the bounds of largestMagnitudes, above half of them', () => {
  const largest = largestMagnitudes(WORLD.params);
  const random = new Random('reach');
  const episode = new Episode();
  let [reward, anomaly] = [0, 0];
  for (let seed = 0; seed < 3000; seed++) {
    episode.reset(seed, { profile: random.chance(0.2) ? 'sampled' : extremeProfile(random) });
    const repeated = random.integer(0, NUM_ACTIONS - 1);
    for (let t = 0; t < NUM_STEPS; t++) {
      episode.step(random.chance(0.5) ? repeated : random.integer(0, NUM_ACTIONS - 1));
      reward = Math.max(reward, Math.abs(episode.reward));
      anomaly = Math.max(anomaly, ...episode.anomalies.map(Math.abs));
    }
  }
  expect(reward).toBeLessThan(largest.reward);
  expect(anomaly).toBeLessThan(largest.anomalies);
  expect(reward).toBeGreaterThan(largest.reward / 2);
  expect(anomaly).toBeGreaterThan(largest.anomalies * 0.9);
});

it('the bounds of largestMagnitudes are finite and above 0 in any world, and depend on the numbers of the world', () => {
  forAll(40, (random) => {
    const { reward, anomalies } = largestMagnitudes(createWorld(changedWorld(random)).params);
    for (const magnitude of [reward, anomalies])
      expect(magnitude > 0 && Number.isFinite(magnitude)).toBe(true);
  });
  const noisier = structuredClone(RHYTHM);
  noisier.noise = { meters: noisier.noise.meters.map(() => 0.5), reward: 100 };
  const largest = largestMagnitudes(createWorld(noisier).params);
  expect(largest.anomalies).toBeGreaterThan(0.5);
  expect(largest.reward).toBeGreaterThan(100);
  const eventful = structuredClone(RHYTHM);
  for (const event of eventful.events) event.effect.fill(1);
  const ofEvents = largestMagnitudes(createWorld(eventful).params);
  expect(ofEvents.reward).toBeGreaterThan(largestMagnitudes(WORLD.params).reward);
  expect(ofEvents.anomalies).toBe(largestMagnitudes(WORLD.params).anomalies);
});

it('the bound of anomalies is 1 if rounding hides all differences of traits and there is no noise', () => {
  const spec = structuredClone(RHYTHM);
  spec.noise = { meters: [0, 0, 0, 0, 0], reward: 0 };
  spec.stress = [0, 0, 0, 0, 0];
  // The bonus, recovery and guilt traits are at most 2^-40, which float32 rounding hides next to effects of 1.
  for (const { tags, effect } of spec.actions)
    effect.splice(0, 5, Number(tags[0] === 'productive'), 0, 0, 1, 0);
  spec.constants.focusCognition = 0;
  for (const trait of spec.traits.filter(({ name }) => /bonus|recovery|guilt/.test(name))) {
    trait.neutral = 0;
    trait.low = 0;
    trait.high = 2 ** -40;
  }
  expect(largestMagnitudes(createWorld(spec).params).anomalies).toBe(1);
});
