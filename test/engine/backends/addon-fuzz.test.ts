/**
 * Calls the addon's entry points with arguments that this package never passes: any type, length and element type,
 * detached memory, objects that are not batches, closed batches. Each call must succeed, or throw a TypeError (or the
 * error of a getter) and change no state. With the sanitizers, this test also finds reads and writes out of bounds.
 */
import { describe, expect, it } from 'vitest';
import { loadAddon, type NativeBatch } from '../../../src/engine/backends/addon.js';
import { allocateOutputs, allocateTrajectory } from '../../../src/engine/backends/outputs.js';
import { createVecEnv } from '../../../src/index.js';
import { NUM_STEPS } from '../../../src/world/fields.js';
import { NATIVE, reportAbsentEngines } from '../../support/engines.js';
import {
  type Any,
  anyValue,
  call,
  detached,
  METHODS,
  N,
  NAMES,
  open,
  replaceOne,
  resetOf,
  stateOf,
  valueAfter,
} from '../../support/fuzz.js';
import { WORLD } from '../../support/open-batch.js';
import { forAll, type Random } from '../../support/random.js';

reportAbsentEngines();

/** The number of draws per test, which RHYTHM_DRAWS multiplies. Chosen by hand: more draws find more faults and take longer. */
const RUNS = 400;

/** Runs the heuristic, whose code is 1: each environment to its step of `stops`, by default to the end. */
const runHeuristic = (batch: NativeBatch, stops: Uint8Array | null = null) =>
  batch.run(1, null, null, null, stops, null, null, null);

/** Draws 32 bits; half of the draws are small numbers. */
const anyWord = (random: Random): number =>
  random.chance(0.5) ? random.integer(0, 40) : random.integer(0, 2 ** 32 - 1);

describe.each(NATIVE)('$name', ({ kernel }) => {
  const addon = loadAddon();

  it.each(NAMES.filter((name) => name !== 'close'))(
    '%s accepts or refuses any replacement of one argument',
    (name) => {
      forAll(RUNS, (random) => {
        const batch = open(addon, kernel!);
        const args = METHODS[name](batch);
        replaceOne(random, args);
        call(batch, name, args);
        batch.close();
      });
    },
  );

  it.each(NAMES.filter((name) => name !== 'close'))('%s accepts or refuses any arguments', (name) => {
    const batch = open(addon, kernel!);
    forAll(RUNS, (random) => {
      call(
        batch,
        name,
        Array.from({ length: random.integer(0, 13) }, () => anyValue(random)),
      );
    });
  });

  it('every method accepts or refuses the arguments of every other method', () => {
    const batch = open(addon, kernel!);
    for (const name of NAMES.filter((each) => each !== 'close')) {
      for (const other of NAMES) call(batch, name, METHODS[other](batch));
    }
  });

  it('the constructor accepts or refuses any replacement of one argument', () => {
    const [imagination, threads] = [false, 2];
    const validArguments = (): unknown[] => [
      kernel,
      WORLD.words,
      imagination,
      N,
      threads,
      allocateOutputs(N),
    ];
    const badNumbers = [0, -1, 1.5, Number.NaN, 2 ** 31, 2 ** 32, 1e300, '4', 4n, Number.POSITIVE_INFINITY];
    forAll(RUNS, (random) => {
      const args = validArguments();
      args[random.integer(0, args.length - 1)] = random.chance(0.3)
        ? random.pick(badNumbers)
        : anyValue(random);
      try {
        new (addon.Batch as Any)(...args).close();
      } catch (error) {
        expect(error).toBeInstanceOf(TypeError);
      }
    });
    expect(() => (addon.Batch as Any)(...validArguments())).toThrow(TypeError);
    expect(() => new (addon.Batch as Any)()).toThrow(TypeError);
  });

  it("the constructor accepts or refuses any replacement of one of the world's numbers", () => {
    forAll(3 * RUNS, (random) => {
      const words = WORLD.words.slice();
      words[random.integer(0, words.length - 1)] = anyWord(random);
      try {
        const batch = new addon.Batch(kernel!, words, false, N, 1, allocateOutputs(N));
        batch.reset(resetOf({ modes: new Uint8Array(N).fill(1) }));
        runHeuristic(batch);
        batch.targets(new Float32Array(N * 3));
      } catch (error) {
        expect(error).toBeInstanceOf(TypeError);
      }
    });
  });

  it('load refuses a replaced word, or the batch runs the loaded states to the end', () => {
    const batch = open(addon, kernel!);
    runHeuristic(batch, new Uint8Array(N).fill(9));
    const saved = stateOf(batch);
    forAll(3 * RUNS, (random) => {
      const words = saved.slice();
      words[random.integer(0, words.length - 1)] = anyWord(random);
      call(batch, 'load', [words]);
      runHeuristic(batch);
      batch.load(saved);
    });
  });

  it('replay accepts or refuses rows with any number replaced', () => {
    const batch = open(addon, kernel!);
    forAll(3 * RUNS, (random) => {
      const [request] = METHODS.replay(batch) as [Record<string, Uint8Array | null>];
      for (const name of ['profiles', 'beliefs', 'given']) if (random.chance(0.2)) request[name] = null;
      const names = ['order', 'seeds', 'modes', 'stops', 'histories', 'actions', 'given'];
      const column = random.pick(names.flatMap((name) => request[name] ?? []));
      column[random.integer(0, column.length - 1)] = anyWord(random);
      call(batch, 'replay', [request]);
    });
  });

  it('reset refuses starts at invalid steps, except in environments outside the mask', () => {
    const batch = open(addon, kernel!);
    const start = (steps: Uint8Array, mask: Uint8Array | null = null) =>
      batch.reset(
        resetOf({
          mask,
          start: {
            ...{ steps, meters: new Float32Array(N * 5) },
            ...{ early: null, late: null, returns: null, crashes: null },
            ...{ well: null, skill: null, beliefs: null, given: null },
          },
        }),
      );
    const before = stateOf(batch);
    for (const step of [NUM_STEPS, 255]) {
      const steps = new Uint8Array(N).fill(step, N - 1);
      expect(() => start(steps)).toThrow(TypeError);
      expect(stateOf(batch)).toEqual(before);
      start(steps, new Uint8Array(N).fill(1, 0, N - 1));
      batch.load(before);
    }
  });

  it('the constructor accepts or refuses any replaced output, and methods refuse detached outputs', () => {
    const names = Object.keys(allocateOutputs(1));
    forAll(RUNS, (random) => {
      try {
        open(addon, kernel!, { ...allocateOutputs(N), [random.pick(names)]: anyValue(random) } as Any);
      } catch (error) {
        expect(error).toBeInstanceOf(TypeError);
      }
    });
    const outputs = allocateOutputs(N);
    const batch = open(addon, kernel!, outputs);
    detached(outputs.observations);
    for (const name of ['reset', 'step', 'stepAll', 'stepEach', 'run', 'gather', 'load']) {
      expect(() => (batch as Any)[name](...METHODS[name](batch))).toThrow(TypeError);
    }
  });

  it('after close, every method except close is refused', () => {
    const [batch, source] = [open(addon, kernel!), open(addon, kernel!)];
    source.close();
    expect(() => batch.gather(source, new Uint32Array(N))).toThrow(TypeError);
    batch.close();
    for (const name of NAMES.filter((each) => each !== 'close')) {
      expect(() => (batch as Any)[name](...METHODS[name](batch))).toThrow(TypeError);
    }
    expect(() => batch.close()).not.toThrow();
  });

  it('methods refuse an object that is not a batch', () => {
    const batch = open(addon, kernel!);
    const otherObjects = [
      undefined,
      null,
      1,
      {},
      [],
      new Proxy(batch, {}),
      Object.create(batch),
      Object.create(addon.Batch.prototype),
    ];
    // `stepAll` is a function of its batch.
    for (const name of NAMES.filter((each) => each !== 'stepAll')) {
      for (const object of otherObjects) {
        expect(() => (addon.Batch.prototype as Any)[name].call(object, ...METHODS[name](batch))).toThrow(
          TypeError,
        );
      }
    }
    for (const object of otherObjects) {
      expect(() => batch.gather(object as NativeBatch, new Uint32Array(N))).toThrow(TypeError);
    }
  });

  it('actions that were detached since the last step are refused, and so are outputs', () => {
    for (const detach of ['actions', 'outputs'] as const) {
      const env = createVecEnv({ numEnvs: N, backend: 'native', kernel });
      const outputs = env.reset({ seed: 1 });
      const actions = new Uint8Array(N).fill(3);
      env.step(actions);
      env.step(actions);
      const before = env.stateHash();
      detached(detach === 'actions' ? actions : outputs.rewards);
      // Properties that hide what happened.
      Object.defineProperty(actions, 'length', { value: N });
      Object.defineProperty(outputs.rewards, 'length', { value: N });
      expect(() => env.step(actions)).toThrow();
      if (detach === 'actions') expect(env.stateHash()).toEqual(before);
      env.close();
    }
  });

  it('a call throws if a getter of an argument throws, closes the batch or detaches memory', () => {
    const batch = open(addon, kernel!);
    const outputs = allocateOutputs(N);
    const thrown = new RangeError('thrown by a getter');
    const throwing = {
      get() {
        throw thrown;
      },
    };
    expect(() => open(addon, kernel!, Object.defineProperty({ ...outputs }, 'components', throwing))).toThrow(
      thrown,
    );
    const run = (trajectory: object) => (batch as Any).run(0, null, null, null, null, trajectory);
    expect(() => run(Object.defineProperty({ ...allocateTrajectory(N) }, 'meters', throwing))).toThrow(
      thrown,
    );
    const columns = allocateTrajectory(N);
    const detaching = { get: () => valueAfter(columns.anomalies, detached(columns.actions)) };
    expect(() => run(Object.defineProperty({ ...columns }, 'anomalies', detaching))).toThrow(TypeError);
    const closing = { get: () => valueAfter(columns.events, batch.close()) };
    expect(() => run(Object.defineProperty({ ...allocateTrajectory(N) }, 'events', closing))).toThrow(
      TypeError,
    );
    const words = WORLD.words.slice();
    const detachingWords = { get: () => valueAfter(outputs.rewards, detached(words)) };
    const detachingOutputs = Object.defineProperty({ ...outputs }, 'rewards', detachingWords);
    expect(() => new addon.Batch(kernel!, words, false, N, 1, detachingOutputs)).toThrow(TypeError);
  });

  it('gather refuses an object that only Symbol.hasInstance accepts as a batch', () => {
    const batch = open(addon, kernel!);
    const original = Object.getOwnPropertyDescriptor(addon.Batch, Symbol.hasInstance);
    Object.defineProperty(addon.Batch, Symbol.hasInstance, { value: () => true, configurable: true });
    try {
      expect(() => batch.gather({} as NativeBatch, new Uint32Array(N))).toThrow(TypeError);
      expect(() => batch.gather(new Map() as Any, new Uint32Array(N))).toThrow(TypeError);
    } finally {
      if (original === undefined) delete (addon.Batch as Any)[Symbol.hasInstance];
    }
  });
});
