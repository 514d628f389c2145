/** Validation of a changed world: errors name the missing, unknown, malformed, renamed or out-of-domain field. */
import { describe, expect, it } from 'vitest';
import { RHYTHM, type WorldSpec } from '../../src/world/numbers.js';
import { validateWorld } from '../../src/world/validate-world.js';
import { createWorld } from '../../src/world/world.js';
import { expectRefusal } from '../support/refusals.js';
import {
  FREE_NUMBERS,
  getAt,
  isFixed,
  type Path,
  pathName,
  setAt,
  WORLD_NUMBERS,
  worldWith,
} from '../support/worlds.js';

const expectRefused = (spec: unknown, ...mentions: string[]): void =>
  expectRefusal(() => createWorld(spec as WorldSpec), 'bad_world', ...mentions);

/** Returns the paths of all parts of a value for which `matches` is true. */
function paths(value: unknown, matches: (value: unknown) => boolean, path: Path = []): Path[] {
  const below =
    typeof value === 'object' && value !== null
      ? Object.entries(value).flatMap(([key, entry]) =>
          paths(entry, matches, [...path, Array.isArray(value) ? Number(key) : key]),
        )
      : [];
  return matches(value) ? [path, ...below] : below;
}

const isObject = (value: unknown): boolean => typeof value === 'object' && !Array.isArray(value);
const OBJECTS = paths(RHYTHM, isObject);
const LISTS = paths(RHYTHM, Array.isArray);
const NAMES = paths(RHYTHM, (value) => typeof value === 'string').filter(
  ([first]) => first !== 'streams' && first !== 'name',
);
const FLAGS = paths(RHYTHM, (value) => typeof value === 'boolean');
const EVERYTHING = paths(RHYTHM, () => true).slice(1);

it('createWorld accepts the published world and a copy of it', () => {
  expect(createWorld(RHYTHM).digest).toBe(createWorld(structuredClone(RHYTHM)).digest);
  expect(EVERYTHING.length).toBeGreaterThan(400);
});

describe('every field', () => {
  it('is refused if it is missing', () => {
    for (const path of EVERYTHING) {
      const world = structuredClone(RHYTHM);
      const parent = path.length > 1 ? getAt(world, path.slice(0, -1)) : world;
      delete (parent as Record<string | number, unknown>)[path[path.length - 1]];
      expectRefused(world, `world.${pathName(path)},`, 'undefined');
    }
  });

  const others = [null, undefined, true, 'x', {}, [], () => 1, Symbol('x'), 10n];
  it.each(others.map((value, k) => [value, k] as const))('is refused if it is %s', (value, k) => {
    // Each value replaces every third field, so each field gets at most three of the values.
    for (const path of EVERYTHING.filter((each, at) => at % 3 === k % 3 && !isValid(each, value))) {
      expectRefused(worldWith(path, value), `world.${pathName(path)}`);
    }
  });
});

/**
 * Returns whether a value is valid in place of the published one: the same value, an empty list for an empty list, or another
 * name of the world.
 */
function isValid(path: Path, value: unknown): boolean {
  const published = getAt(RHYTHM, path);
  const isEmpty = Array.isArray(value) && Array.isArray(published) && published.length === 0;
  return published === value || isEmpty || (path[0] === 'name' && typeof value === 'string');
}

describe('every number', () => {
  it.each([Number.NaN, Infinity, -Infinity])('is refused if it is %d', (value) => {
    for (const path of WORLD_NUMBERS)
      expectRefused(worldWith(path, value), `world.${pathName(path)}`, String(value));
  });

  it.each([2 ** 20 + 1, -(2 ** 21), 2 ** -41, -(2 ** -60), Number.MIN_VALUE, Number.MAX_VALUE])(
    'is refused if it is %d, because that is out of the domain',
    (value) => {
      for (const path of FREE_NUMBERS.filter(([, key]) => key !== 'eventThreshold')) {
        expectRefused(worldWith(path, value), `world.${pathName(path)}`);
      }
    },
  );

  it('is refused if it differs from a published number that no world may change', () => {
    for (const path of WORLD_NUMBERS.filter(isFixed)) {
      const other = worldWith(path, (getAt(RHYTHM, path) as number) + 1);
      expectRefused(other, `world.${pathName(path)}`, "which the world's version fixes");
    }
  });

  /** Numbers with a range of their own: the path, the accepted numbers, and the refused ones. */
  it.each<[Path, accepted: number[], refused: number[]]>([
    [['events', 1, 'effect', 2], [2 ** 20, -(2 ** 20), 2 ** -40, -(2 ** -40), 0, -0], []],
    [
      ['constants', 'eventThreshold'],
      [0, 2 ** 32 - 1],
      [-1, 2 ** 32, 0.5],
    ],
    [
      ['initialMeters', 3],
      [0, 1],
      [-0.01, 1.01],
    ],
  ])('at %j is accepted at the bounds of its range, and refused beyond', (path, accepted, refused) => {
    for (const value of accepted) expect(validateWorld(worldWith(path, value))).toBeDefined();
    for (const value of refused) expectRefused(worldWith(path, value), `world.${pathName(path)}`);
  });
});

describe('validation of the structure', () => {
  it('refuses an unknown key in any object', () => {
    for (const path of OBJECTS) {
      const world = structuredClone(RHYTHM);
      const node = (path.length === 0 ? world : getAt(world, path)) as Record<string, unknown>;
      node.extra = 1;
      expectRefused(world, `world.${pathName([...path, 'extra'])}`, 'no such field');
    }
    expectRefused(JSON.parse('{"__proto__": {}}'), '__proto__');
  });

  it('refuses a list with one entry too many or too few', () => {
    for (const path of LISTS) {
      const list = getAt(RHYTHM, path) as unknown[];
      expectRefused(worldWith(path, [...list, 0]), `world.${pathName(path)}`, `${list.length} entries`);
      if (list.length > 0) expectRefused(worldWith(path, list.slice(1)), `world.${pathName(path)}`);
    }
  });

  it('refuses a list with holes', () => {
    expectRefused(worldWith(['decay'], new Array(5)), 'world.decay[0]', 'undefined');
  });

  it('refuses a changed name or flag', () => {
    for (const path of NAMES) expectRefused(worldWith(path, 'other'), `world.${pathName(path)}`, '"other"');
    for (const path of FLAGS) expectRefused(worldWith(path, false), `world.${pathName(path)}`, 'false');
  });

  it('accepts another name of the world, which is no part of the digest', () => {
    const world = createWorld(worldWith(['name'], 'sleepless'));
    expect([world.spec.name, world.digest]).toEqual(['sleepless', createWorld().digest]);
    for (const name of ['', ' ', 'a\nb', 'x'.repeat(61), 5n, null]) {
      expectRefused(worldWith(['name'], name), 'world.name', '1 to 60 printable characters');
    }
  });

  it('accepts keys in another order, and streams in lower case, as the same world', () => {
    const { name, days, ...others } = RHYTHM;
    const lower = worldWith(['streams', 'event'], RHYTHM.streams.event.toLowerCase());
    for (const world of [{ ...others, days, name }, lower])
      expect(createWorld(world as WorldSpec).digest).toBe(createWorld().digest);
  });

  it.each([undefined, null, 3, 'world', true, [], new Map(), new Date(0)])(
    'refuses %s as a world',
    (value) => {
      expectRefusal(() => validateWorld(value), 'bad_world', 'world');
    },
  );
});

describe('validation of related numbers', () => {
  it('refuses weights that do not sum to 1, by a millionth or more', () => {
    for (const path of [
      ['graders', 'v1'],
      ['graders', 'v2'],
      ...Object.keys(RHYTHM.profiles).map((name) => ['profiles', name, 'weights']),
    ]) {
      const [first, ...others] = getAt(RHYTHM, path) as number[];
      const withError = (error: number) => worldWith(path, [first + error, ...others]);
      expect(validateWorld(withError(0.9e-6))).toBeDefined();
      for (const error of [1.1e-6, -1.1e-6, 0.001])
        expectRefused(withError(error), `world.${pathName(path)}`, 'sum to 1');
    }
    for (const k of [0, 1, 2])
      expectRefused(worldWith(['belief', k, 'factors', 0, 'share'], 0.5), `world.belief[${k}]`, 'sum to 1');
  });

  it('refuses an empty range of a trait, and accepts one of 2^-40', () => {
    for (const [k, { low }] of RHYTHM.traits.entries())
      for (const high of [low, low - 0.5])
        expectRefused(worldWith(['traits', k, 'high'], high), `world.traits[${k}].high`);
    const narrow = { ...RHYTHM.traits[0], low: 0, high: 2 ** -40 };
    expect(validateWorld(worldWith(['traits', 0], narrow))).toBeDefined();
  });

  it.each(['', '123', '123456789', 'A3C5F72G', ' A3C5F72', '0x3C5F72', 7, ['A3C5F729'], null])(
    'refuses %j as a stream',
    (hex) => {
      for (const name of Object.keys(RHYTHM.streams))
        expectRefused(worldWith(['streams', name], hex), `world.streams.${name}`, 'hexadecimal');
    },
  );
});

describe('objects that are not plain data', () => {
  it('a getter that returns NaN at every second read gives a valid copy or an error', () => {
    let reads = 0;
    const world = structuredClone(RHYTHM);
    Object.defineProperty(world, 'beliefGain', {
      enumerable: true,
      get: () => (reads++ % 2 ? Number.NaN : 1.5),
    });
    try {
      expect(createWorld(world).spec.beliefGain).toBe(1.5);
    } catch (error) {
      expect(error).toMatchObject({ code: 'bad_world' });
    }
    expect(reads).toBeGreaterThan(0);
  });

  it('values that cannot be copied are refused', () => {
    expectRefused(new Proxy(structuredClone(RHYTHM), {}), 'world');
    const world = structuredClone(RHYTHM);
    setAt(world, ['decay'], new Proxy(world.decay, {}));
    expectRefused(world, 'world');
  });
});
