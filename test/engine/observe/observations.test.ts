/**
 * Makes the same random calls on an environment with observation options (fields, one-hot, scale, history) and on a plain one.
 * The observations of the first must equal those of the plain one, encoded by naive-encoder.ts. So the histories that are
 * recorded, those that `history` replays from the states, and a plain list of steps are equal.
 */
import { describe, expect, it } from 'vitest';
import type { VecEnv } from '../../../src/engine/node.js';
import type { ObservationOptions } from '../../../src/engine/observe/encoding.js';
import { AUTORESET_MODES, type AutoresetMode } from '../../../src/engine/vec-env/autoreset.js';
import { LAYOUTS, type ResetOptions, type StepResult } from '../../../src/engine/vec-env/vec-env-options.js';
import {
  NUM_STEPS,
  OBSERVATION,
  OBSERVATION_FIELDS,
  OBSERVATION_SIZE,
  sizeOf,
} from '../../../src/world/fields.js';
import { type Columns, copyOutputs, expectEqual } from '../../support/bits.js';
import {
  advanceRandomly,
  envIndices,
  finishedEnvs,
  randomIndices,
  randomOptions,
  randomReset,
  randomStep,
} from '../../support/call-sequences.js';
import { type Engine, openOn, TWO_ENGINES } from '../../support/engines.js';
import { encodeNaively, randomObservationOptions } from '../../support/naive-encoder.js';
import { forAll, type Random } from '../../support/random.js';
import { changedWorld } from '../../support/worlds.js';

/** Fewer than a tile of 16 environments, one more than a tile, and more than the encoder's block of 64. */
const SIZES = [1, 17, 70];
/** A history has a record of each step: the fields of its observation from this offset on, which begin with the last action. */
const RECORD_START = OBSERVATION.lastAction;
/** The record in place of a step before the episode. */
const MISSING = [-1, ...new Array(OBSERVATION_SIZE - RECORD_START - 1).fill(0)];

/** An environment with observation options, a plain environment, and a list of the steps of each episode, oldest first. */
class Pair {
  readonly options: ObservationOptions;
  readonly env: VecEnv;
  readonly plain: VecEnv;
  readonly isChangedWorld: boolean;
  steps: number[][][] = [];
  result: StepResult;
  plainResult: StepResult;

  constructor(
    random: Random,
    engine: Engine,
    autoreset: AutoresetMode,
    options = randomObservationOptions(random),
  ) {
    const numEnvs = random.pick(SIZES);
    const world = random.chance(0.3) ? changedWorld(random) : undefined;
    this.isChangedWorld = world !== undefined;
    const shape = { numEnvs, autoreset, world, imagination: random.chance(0.2) };
    this.options = options;
    this.env = openOn(engine, { ...shape, observation: options, ...randomOptions(random) });
    this.plain = openOn(engine, shape);
    const reset = this.randomReset(random, numEnvs);
    [this.plainResult, this.result] = this.each((env) => env.reset(reset));
    this.steps = [...envIndices(numEnvs)].map(() => []);
  }

  /** Draws a reset. In a changed world it has no start states, because their bounds depend on the world. */
  randomReset(random: Random, numEnvs: number): ResetOptions {
    const { start, ...reset } = randomReset(random, numEnvs);
    return this.isChangedWorld ? reset : { ...reset, start };
  }

  /** Makes the same call on the plain environment and then on the other. */
  each(call: (env: VecEnv) => StepResult): [StepResult, StepResult] {
    return [call(this.plain), call(this.env)];
  }

  /** Makes the same call on both environments. Reads the steps from the history of the plain environment. */
  call(call: (env: VecEnv) => StepResult): void {
    [this.plainResult, this.result] = this.each(call);
    this.steps = [...envIndices(this.plain.numEnvs)].map((i) => replayedSteps(this.plain, i));
    this.expectEqualResults(new Map());
  }

  /** Takes the same random step in both environments, and updates the lists of steps. */
  step(random: Random): void {
    const finished = finishedEnvs(this.plainResult);
    const { actions, options } = randomStep(random, this.plain, finished);
    [this.plainResult, this.result] = this.each((env) => env.step(actions, options));
    const { finalMask } = this.plainResult;
    const rows = rowsOf(this.plainResult, 'observations');
    const finalRows = rowsOf(this.plainResult, 'finalObservations');
    /** The final observations of environments that were reset. */
    const final = new Map<number, number[]>();
    rows.forEach((row, i) => {
      const takesPart = options.mask === undefined || (options.mask as Uint8Array)[i] !== 0;
      if (takesPart && finished[i]) this.steps[i] = [];
      else if (takesPart && finalRows.length > 0 && finalMask[i]) {
        const last = finalRows[i];
        final.set(i, encodeNaively(this.env.world, this.options, last, this.#past(i, last)));
        this.steps[i] = [];
      } else if (takesPart) this.steps[i].push(row.slice(RECORD_START));
    });
    this.expectEqualResults(final);
  }

  /** Expects that the last step of `history` has the values of the raw observation after it. */
  expectLastStep(i: number): void {
    const [last] = this.plain.history(i, 1);
    if (last === undefined) return;
    const row = rowsOf(this.plainResult, 'observations')[i];
    const { step, event, meters } = last;
    const { step: at, event: eventAt, meters: metersAt } = OBSERVATION;
    expect([step + 1, event, ...meters]).toEqual([
      row[at],
      row[eventAt],
      ...row.slice(metersAt, metersAt + 5),
    ]);
  }

  /** Returns the history of environment i as records. @param last the raw observation of a further step. */
  #past(i: number, last?: number[]): number[] {
    const steps = last === undefined ? this.steps[i] : [...this.steps[i], last.slice(RECORD_START)];
    return [...new Array(7).fill(MISSING), ...steps].slice(-7).flat();
  }

  /** Expects equal results. @param final the final observations of environments that this call reset. */
  expectEqualResults(final: ReadonlyMap<number, number[]>): void {
    const { env, options } = this;
    const width = env.observationSpace.shape[0];
    const zeros = new Array(width).fill(0);
    const expected = rowsOf(this.plainResult, 'observations').map((row, i) =>
      encodeNaively(env.world, options, row, this.#past(i)),
    );
    const finalRows = expected.map((_, i) => final.get(i) ?? zeros);
    const hasFinal = env.metadata.autoresetMode === 'same-step';
    expectEqual(
      {
        ...(copyOutputs(this.plainResult) as Columns),
        observations: Float32Array.from(expected.flat()),
        ...(hasFinal ? { finalObservations: Float32Array.from(finalRows.flat()) } : {}),
      },
      copyOutputs(this.result),
    );
    expectWithinSpace(env, this.result);
  }
}

/** Returns the rows of 22 numbers, or none if the result has no such array. */
function rowsOf(result: StepResult, name: 'observations' | 'finalObservations'): number[][] {
  const all = copyOutputs(result)[name] as Float32Array | undefined;
  if (all === undefined) return [];
  return Array.from(result.rewards, (_, i) => [
    ...all.subarray(i * OBSERVATION_SIZE, (i + 1) * OBSERVATION_SIZE),
  ]);
}

/** Returns the records of the last steps that `history` returns. */
function replayedSteps(env: VecEnv, i: number, last = NUM_STEPS): number[][] {
  return env
    .history(i, last)
    .map(({ action, reward, deltas, anomalies }) => [action, reward, ...deltas, ...anomalies]);
}

/** Expects observations within the bounds of the space. */
function expectWithinSpace({ observationSpace }: VecEnv, result: StepResult): void {
  const { low, high, shape } = observationSpace;
  const numbers = copyOutputs(result).observations as Float32Array;
  expect(numbers.length).toBe(result.rewards.length * shape[0]);
  const outside = numbers.findIndex((x, at) => !(x >= low[at % shape[0]] && x <= high[at % shape[0]]));
  expect(outside).toBe(-1);
}

describe.each(TWO_ENGINES)('$name', (engine) => {
  it.each(AUTORESET_MODES)(
    '%s: steps of all or some environments give the naive encoding, also after the ends of episodes',
    (autoreset) => {
      forAll(8, (random) => {
        const pair = new Pair(random, engine, autoreset);
        for (let t = 0; t < 2 * NUM_STEPS + 5; t++) pair.step(random);
      });
    },
  );

  it('history() returns the steps of the episode', () => {
    forAll(12, (random) => {
      const options = { ...randomObservationOptions(random), history: true };
      const pair = new Pair(random, engine, random.pick(AUTORESET_MODES), options);
      for (let t = 0; t < NUM_STEPS + 12; t++) {
        pair.step(random);
        const i = random.integer(0, pair.steps.length - 1);
        for (const env of [pair.env, pair.plain]) expect(replayedSteps(env, i)).toEqual(pair.steps[i]);
        const last = random.integer(0, 9);
        expect(replayedSteps(pair.plain, i, last)).toEqual(last === 0 ? [] : pair.steps[i].slice(-last));
        pair.expectLastStep(i);
      }
    });
  });

  it('reset, run, assign and restore give the naive encoding', () => {
    forAll(20, (random) => {
      const options = { ...randomObservationOptions(random), history: random.chance(0.8) };
      const pair = new Pair(random, engine, random.pick(AUTORESET_MODES), options);
      const n = pair.env.numEnvs;
      const snapshots = [pair.plain.snapshot()];
      const source = pair.plain.fork(randomIndices(random, n, random.pick(SIZES)), {
        autoreset: random.pick(AUTORESET_MODES),
      });
      const CALLS: (() => void)[] = [
        () => {
          const [reset, mask] = [pair.randomReset(random, n), random.mask(n, 0.4)];
          pair.call((env) => env.reset({ ...reset, mask }));
        },
        () => {
          const stops = random
            .stops(n)
            .map((stop) => Math.min(stop, random.pick([9, NUM_STEPS - 1, NUM_STEPS])));
          const choice = random.pick(['random', 'heuristic'] as const);
          const trajectory = random.pick([false, true, ['events'] as const]);
          const layout = random.pick(LAYOUTS);
          pair.call((env) => env.run(choice, { stops, trajectory, layout }));
        },
        () => {
          const order = randomIndices(random, n, n);
          pair.call((env) => env.assign(env, order));
        },
        () => {
          advanceRandomly(random, source, pair.randomReset(random, source.numEnvs));
          const order = randomIndices(random, source.numEnvs, n);
          pair.call((env) => env.assign(source, order));
        },
        () => {
          snapshots.push(pair.env.snapshot());
          expect(pair.plain.snapshot()).toEqual(snapshots.at(-1));
        },
        () => {
          const bytes = random.pick(snapshots);
          pair.call((env) => env.restore(bytes));
        },
      ];
      for (let round = 0; round < 12; round++) {
        random.pick(CALLS)();
        for (let t = random.integer(0, 4); t > 0; t--) pair.step(random);
      }
    });
  });
});

describe('spaces', () => {
  it('of a plain environment have the fields of OBSERVATION_FIELDS', () => {
    const env = openOn(TWO_ENGINES[0], { numEnvs: 2 });
    const fields = env.observationFields.map(({ rawLow, rawHigh, ...field }) => {
      expect([rawLow, rawHigh]).toEqual([field.low, field.high]);
      return field;
    });
    expect(fields).toEqual(OBSERVATION_FIELDS);
    expect([env.observationFields, ...env.observationFields].every(Object.isFrozen)).toBe(true);
    expect(env.observationSpace.shape).toEqual([OBSERVATION_SIZE]);
    expect(env.actionSpace).toMatchObject({ type: 'discrete', n: 10 });
  });

  it('have the shape of the observations, in either layout', () => {
    forAll(40, (random) => {
      const observation = randomObservationOptions(random);
      const env = openOn(TWO_ENGINES[0], {
        numEnvs: 5,
        observation,
        autoreset: 'same-step',
        ...randomOptions(random),
      });
      const { shape, low, high } = env.observationSpace;
      const size = sizeOf(env.observationFields);
      expect([shape[0], low.length, high.length]).toEqual([size, size, size]);
      const { observations, finalObservations, columnStride } = env.reset();
      expect(observations.length).toBe(size * (columnStride || 5));
      expect(finalObservations?.length).toBe(observations.length);
    });
  });
});
