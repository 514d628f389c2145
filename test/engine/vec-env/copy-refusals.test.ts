/** Refusals of forks and assignments, which change neither the source nor the target. */
import { describe, expect, it } from 'vitest';
import type { ErrorCode } from '../../../src/shared/errors.js';
import { RHYTHM } from '../../../src/world/numbers.js';
import { currentOutputs } from '../../support/call-sequences.js';
import { NATIVE, openOn, reportAbsentEngines, TWO_ENGINES } from '../../support/engines.js';
import { expectRefusal } from '../../support/refusals.js';
import { expectUnchanged } from '../../support/unchanged.js';

const N = 4;
// biome-ignore lint/suspicious/noExplicitAny: cases pass values of wrong types.
type Any = any;

/** Invalid lists of indices for four environments. */
const INDICES: [name: string, indices: Any, code: ErrorCode, ...mentions: string[]][] = [
  ['numEnvs', [0, 1, 4, 2], 'out_of_range', 'indices[2]', '0 to 3', 'got 4'],
  ['numEnvs, u32', Uint32Array.of(0, 1, 2, 4), 'out_of_range', 'indices[3]', 'got 4'],
  ['2^32 - 1', Uint32Array.of(2 ** 32 - 1, 0, 0, 0), 'out_of_range', 'indices[0]', '4294967295'],
  ['2^32, which is 0 as u32', [0, 2 ** 32, 0, 0], 'out_of_range', 'indices[1]', '4294967296'],
  ['-1', [0, 0, 0, -1], 'out_of_range', 'indices[3]', 'got -1'],
  ['-1, i32', Int32Array.of(-1, 0, 0, 0), 'out_of_range', 'got -1'],
  ['0.5', [0, 0.5, 0, 0], 'out_of_range', 'got 0.5'],
  ['NaN', [Number.NaN, 0, 0, 0], 'out_of_range', 'got NaN'],
  ['infinity', Float64Array.of(0, 0, 0, Number.POSITIVE_INFINITY), 'out_of_range', 'Infinity'],
  ['text', ['0', 0, 0, 0], 'out_of_range', 'got "0"'],
  ['null', [0, null, 0, 0], 'out_of_range', 'got null'],
  ['true', [0, true, 0, 0], 'out_of_range', 'got true'],
  ['BigInts', BigUint64Array.of(0n, 1n, 2n, 3n), 'out_of_range', 'indices[0]'],
  ['holes', new Array(N), 'out_of_range', 'got undefined'],
  ['undefined', undefined, 'wrong_type', 'got undefined'],
  ['null instead of an array', null, 'wrong_type', 'got null'],
  ['a number instead of an array', 3, 'wrong_type', 'got 3'],
  ['text instead of an array', '0123', 'wrong_type', '"0123"'],
  ['an object with a length', { length: N, 0: 0, 1: 1, 2: 2, 3: 3 }, 'wrong_type', 'an object'],
  ['a set', new Set([0, 1, 2, 3]), 'wrong_type', 'an object'],
  ['a DataView', new DataView(new ArrayBuffer(N)), 'wrong_type', 'a DataView'],
];

/** Invalid options of a fork. */
const OPTIONS: [name: string, options: Any, code: ErrorCode, ...mentions: string[]][] = [
  ['another size', { numEnvs: 3 }, 'unknown_option', '"numEnvs"'],
  ['another seed range', { seedRange: [0, 5] }, 'unknown_option', '"seedRange"'],
  ['a misspelt option', { autorest: 'disabled' }, 'unknown_option', 'Did you mean "autoreset"?'],
  ['a misspelt mode', { autoreset: 'same_step' }, 'unknown_name', 'Did you mean "same-step"?'],
  ['imagination as a number', { imagination: 1 }, 'wrong_type', 'imagination'],
  ['threads: 0', { threads: 0 }, 'out_of_range', 'threads'],
  ['null for autoreset', { autoreset: null }, 'wrong_type', 'autoreset'],
  ['null', null, 'wrong_type', 'fork options', 'null'],
  ['a list', [], 'wrong_type', 'fork options'],
];

reportAbsentEngines();

describe.each(TWO_ENGINES)('$name', (engine) => {
  /** Opens two VecEnvs of the same size, with episodes at different steps. */
  const openPair = () => {
    const pair = [0, 1].map(() => openOn(engine, { numEnvs: N, autoreset: 'same-step' }));
    pair.forEach((env, i) => {
      env.reset({ seed: i * 10 });
      env.run('random', { stops: [3, 27, 9, 28] });
    });
    return pair;
  };
  const [source, target] = openPair();
  // Both are compared after every refusal, so all cases share them.
  const [sourceOutputs, targetOutputs] = [currentOutputs(source), currentOutputs(target)];

  function expectRefusedUnchanged(call: () => unknown, code: ErrorCode, mentions: string[]): void {
    expectUnchanged(source, sourceOutputs, () =>
      expectUnchanged(target, targetOutputs, () => expectRefusal(call, code, ...mentions)),
    );
  }

  it.each(INDICES)('assign and fork refuse indices: %s', (_, indices, code, ...mentions) => {
    expectRefusedUnchanged(() => target.assign(source, indices), code, mentions);
    expectRefusedUnchanged(() => source.fork(indices), code, mentions);
  });

  it('assign refuses too few or too many indices, and fork refuses an empty list', () => {
    expectRefusedUnchanged(() => target.assign(source, [0, 1, 2]), 'wrong_length', [`${N} indices`, 'got 3']);
    expectRefusedUnchanged(() => target.assign(source, new Uint32Array(N + 1)), 'wrong_length', ['got 5']);
    expectRefusedUnchanged(() => source.fork([]), 'wrong_length', ['at least one', 'none']);
    expectRefusedUnchanged(() => source.fork(new Uint32Array(0)), 'wrong_length', ['none']);
  });

  it.each(OPTIONS)('fork refuses options: %s', (_, options, code, ...mentions) => {
    expectRefusedUnchanged(() => source.fork([0], options), code, mentions);
  });

  it.each([null, undefined, {}, 'env', source.world])(
    'assign refuses a source that is not a VecEnv: %o',
    (value) => {
      expectRefusedUnchanged(() => target.assign(value as Any, [0, 1, 2, 3]), 'wrong_type', [
        'source',
        'VecEnv',
      ]);
    },
  );

  it('assign refuses a source of another world', () => {
    const world = { ...structuredClone(RHYTHM), name: 'tired' };
    world.initialMeters[0] = 0.5;
    const other = openOn(engine, { numEnvs: N, world });
    other.reset({ seed: 1 });
    expectRefusedUnchanged(() => target.assign(other, [0, 1, 2, 3]), 'not_alike', [
      `world rhythm (${target.world.digest})`,
      `got tired (${other.world.digest})`,
    ]);
  });

  it('assign accepts a source with an equal copy of the world', () => {
    const other = openOn(engine, { numEnvs: N, world: { ...structuredClone(RHYTHM), name: 'the same' } });
    other.reset({ seed: 1 });
    const equalWorld = openOn(engine, { numEnvs: N });
    expect([...equalWorld.assign(other, [0, 1, 2, 3]).terminated]).toEqual([0, 0, 0, 0]);
  });

  it('assign and fork refuse a source that has not been reset or is closed', () => {
    const other = openOn(engine, { numEnvs: N });
    expectRefusedUnchanged(() => target.assign(other, [0, 1, 2, 3]), 'not_reset', ['Call reset']);
    expectRefusedUnchanged(() => other.fork([0]), 'not_reset', []);
    other.close();
    expectRefusedUnchanged(() => target.assign(other, [0, 1, 2, 3]), 'closed', []);
    expectRefusedUnchanged(() => other.fork([0]), 'closed', []);
  });

  it('assign refuses a closed target, and a target that was never reset still needs a reset after a refusal', () => {
    const other = openOn(engine, { numEnvs: N });
    expectRefusedUnchanged(() => other.assign(source, [0, 1, 2, 9]), 'out_of_range', []);
    expectRefusal(() => other.step(new Uint8Array(N)), 'not_reset');
    expectRefusal(() => other.assign(other, [0, 1, 2, 3]), 'not_reset');
    other.close();
    expectRefusedUnchanged(() => other.assign(source, [0, 1, 2, 3]), 'closed', []);
  });

  it('a target with history refuses unreplayable episodes of a source without history', () => {
    const imagined = source.fork([0, 1, 2, 3], { imagination: true });
    const withHistory = openOn(engine, { numEnvs: N, observation: { history: true } });
    withHistory.reset({ seed: 3 });
    const result = withHistory.step([1, 2, 3, 4]);
    expectUnchanged(withHistory, result, () =>
      expectRefusedUnchanged(() => withHistory.assign(imagined, [0, 1, 2, 3]), 'foreign_past', [
        'environment 0',
      ]),
    );
    imagined.reset({ seed: 3, mask: [false, true, true, true] });
    withHistory.assign(imagined, [1, 2, 3, 1]);
    expectRefusal(() => withHistory.assign(imagined, [1, 2, 0, 3]), 'foreign_past', 'environment 0');
  });
});

describe.skipIf(NATIVE.length === 0)('between backends', () => {
  it.each([
    ['reference', 0],
    ['native', 1],
  ] as const)('assign refuses a source of the %s backend and names snapshot()', (_, which) => {
    const engines = [TWO_ENGINES[0], NATIVE[0]];
    const [source, target] = [engines[which], engines[1 - which]].map((engine) => {
      const env = openOn(engine, { numEnvs: N });
      env.reset({ seed: 1 });
      return env;
    });
    const result = target.step([1, 2, 3, 4]);
    expectUnchanged(target, result, () =>
      expectRefusal(() => target.assign(source, [0, 1, 2, 3]), 'not_alike', 'backend', 'snapshot()'),
    );
  });
});
