/** Refusals of forks and assignments, which change neither the source nor the target. */
import { describe, expect, it } from 'vitest';
import type { ErrorCode } from '../../../src/shared/errors.js';
import { RHYTHM } from '../../../src/world/numbers.js';
import { currentOutputs } from '../../support/call-sequences.js';
import { NATIVE, nameAbsent, openOn, TWO_ENGINES } from '../../support/engines.js';
import { expectRefusal } from '../../support/refusals.js';
import { expectUnchanged } from '../../support/unchanged.js';

const N = 4;
// biome-ignore lint/suspicious/noExplicitAny: cases pass values of wrong types.
type Any = any;

/** Four indices, of which one is invalid. */
const INDICES: [name: string, indices: Any, code: ErrorCode, ...mentions: string[]][] = [
  ['one past the last', [0, 1, 4, 2], 'out_of_range', 'indices[2]', '0 to 3', 'got 4'],
  ['one past the last, u32', Uint32Array.of(0, 1, 2, 4), 'out_of_range', 'indices[3]', 'got 4'],
  ['one far past it', Uint32Array.of(2 ** 32 - 1, 0, 0, 0), 'out_of_range', 'indices[0]', '4294967295'],
  ['2^32, which would wrap', [0, 2 ** 32, 0, 0], 'out_of_range', 'indices[1]', '4294967296'],
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
  ['nothing', undefined, 'wrong_type', 'got undefined'],
  ['null for all', null, 'wrong_type', 'got null'],
  ['a number', 3, 'wrong_type', 'got 3'],
  ['text for all', '0123', 'wrong_type', '"0123"'],
  ['an object with a length', { length: N, 0: 0, 1: 1, 2: 2, 3: 3 }, 'wrong_type', 'an object'],
  ['a set', new Set([0, 1, 2, 3]), 'wrong_type', 'an object'],
  ['a DataView', new DataView(new ArrayBuffer(N)), 'wrong_type', 'a DataView'],
];

const CHANGES: [name: string, changes: Any, code: ErrorCode, ...mentions: string[]][] = [
  ['another size', { numEnvs: 3 }, 'unknown_option', '"numEnvs"'],
  ['another seed range', { seedRange: [0, 5] }, 'unknown_option', '"seedRange"'],
  ['a misspelt option', { autorest: 'disabled' }, 'unknown_option', 'Did you mean "autoreset"?'],
  ['a misspelt mode', { autoreset: 'same_step' }, 'unknown_name', 'Did you mean "same-step"?'],
  ['imagination as a number', { imagination: 1 }, 'wrong_type', 'imagination'],
  ['no threads', { threads: 0 }, 'out_of_range', 'threads'],
  ['null for a mode', { autoreset: null }, 'wrong_type', 'autoreset'],
  ['null', null, 'wrong_type', 'fork options', 'null'],
  ['a list', [], 'wrong_type', 'fork options'],
];

nameAbsent();

describe.each(TWO_ENGINES)('$name', (engine) => {
  /** Two environments of the same size, with episodes at different steps. */
  const opened = () => {
    const pair = [0, 1].map(() => openOn(engine, { numEnvs: N, autoreset: 'same-step' }));
    pair.forEach((env, i) => {
      env.reset({ seed: i * 10 });
      env.run('random', { stops: [3, 27, 9, 28] });
    });
    return pair;
  };
  const [source, target] = opened();
  // Both are compared after every refusal, so all cases share them.
  const [fromSource, fromTarget] = [currentOutputs(source), currentOutputs(target)];

  function expectNothing(call: () => unknown, code: ErrorCode, mentions: string[]): void {
    expectUnchanged(source, fromSource, () =>
      expectUnchanged(target, fromTarget, () => expectRefusal(call, code, ...mentions)),
    );
  }

  it.each(INDICES)('indices with %s', (_, indices, code, ...mentions) => {
    expectNothing(() => target.assign(source, indices), code, mentions);
    expectNothing(() => source.fork(indices), code, mentions);
  });

  it('too few, too many or no indices', () => {
    expectNothing(() => target.assign(source, [0, 1, 2]), 'wrong_length', [`${N} indices`, 'got 3']);
    expectNothing(() => target.assign(source, new Uint32Array(N + 1)), 'wrong_length', ['got 5']);
    expectNothing(() => source.fork([]), 'wrong_length', ['at least one', 'none']);
    expectNothing(() => source.fork(new Uint32Array(0)), 'wrong_length', ['none']);
  });

  it.each(CHANGES)('%s for a fork', (_, changes, code, ...mentions) => {
    expectNothing(() => source.fork([0], changes), code, mentions);
  });

  it.each([null, undefined, {}, 'env', source.world])('a source that is no environment: %o', (value) => {
    expectNothing(() => target.assign(value as Any, [0, 1, 2, 3]), 'wrong_type', ['source', 'VecEnv']);
  });

  it('a source of another world', () => {
    const world = structuredClone(RHYTHM);
    world.initialMeters[0] = 0.5;
    const other = openOn(engine, { numEnvs: N, world });
    other.reset({ seed: 1 });
    expectNothing(() => target.assign(other, [0, 1, 2, 3]), 'not_alike', ['world', target.world.digest]);
  });

  it('a source with an equal copy of the world is accepted', () => {
    const other = openOn(engine, { numEnvs: N, world: structuredClone(RHYTHM) });
    other.reset({ seed: 1 });
    const own = openOn(engine, { numEnvs: N });
    expect([...own.assign(other, [0, 1, 2, 3]).terminated]).toEqual([0, 0, 0, 0]);
  });

  it('a source that has not been reset, or is closed', () => {
    const other = openOn(engine, { numEnvs: N });
    expectNothing(() => target.assign(other, [0, 1, 2, 3]), 'not_reset', ['Call reset']);
    expectNothing(() => other.fork([0]), 'not_reset', []);
    other.close();
    expectNothing(() => target.assign(other, [0, 1, 2, 3]), 'closed', []);
    expectNothing(() => other.fork([0]), 'closed', []);
  });

  it('a closed target; a target whose first assignment was refused is still not reset', () => {
    const other = openOn(engine, { numEnvs: N });
    expectNothing(() => other.assign(source, [0, 1, 2, 9]), 'out_of_range', []);
    expectRefusal(() => other.step(new Uint8Array(N)), 'not_reset');
    expectRefusal(() => other.assign(other, [0, 1, 2, 3]), 'not_reset');
    other.close();
    expectNothing(() => other.assign(source, [0, 1, 2, 3]), 'closed', []);
  });

  it('unreplayable episodes for a target with history, if the source has none', () => {
    const imagined = source.fork([0, 1, 2, 3], { imagination: true });
    const showing = openOn(engine, { numEnvs: N, observation: { history: true } });
    showing.reset({ seed: 3 });
    const shown = showing.step([1, 2, 3, 4]);
    expectUnchanged(showing, shown, () =>
      expectNothing(() => showing.assign(imagined, [0, 1, 2, 3]), 'foreign_past', ['environment 0']),
    );
    imagined.reset({ seed: 3, mask: [false, true, true, true] });
    showing.assign(imagined, [1, 2, 3, 1]);
    expectRefusal(() => showing.assign(imagined, [1, 2, 0, 3]), 'foreign_past', 'environment 0');
  });
});

describe.skipIf(NATIVE.length === 0)('between backends', () => {
  it.each([0, 1])('a copy through a snapshot works instead, %i', (which) => {
    const engines = [TWO_ENGINES[0], NATIVE[0]];
    const [source, target] = [engines[which], engines[1 - which]].map((engine) => {
      const env = openOn(engine, { numEnvs: N });
      env.reset({ seed: 1 });
      return env;
    });
    const shown = target.step([1, 2, 3, 4]);
    expectUnchanged(target, shown, () =>
      expectRefusal(() => target.assign(source, [0, 1, 2, 3]), 'not_alike', 'backend', 'snapshot()'),
    );
  });
});
