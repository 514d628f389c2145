/** Validation of a changed world: errors name missing, unknown, misplaced, renamed and out-of-domain fields. */
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

const refused = (spec: unknown, ...mentions: string[]): void =>
  expectRefusal(() => createWorld(spec as WorldSpec), 'bad_world', ...mentions);

/** Returns the paths of all parts of a value that `keep` accepts. */
function paths(value: unknown, keep: (value: unknown) => boolean, path: Path = []): Path[] {
  const below =
    typeof value === 'object' && value !== null
      ? Object.entries(value).flatMap(([key, entry]) =>
          paths(entry, keep, [...path, Array.isArray(value) ? Number(key) : key]),
        )
      : [];
  return keep(value) ? [path, ...below] : below;
}

const isObject = (value: unknown): boolean => typeof value === 'object' && !Array.isArray(value);
const OBJECTS = paths(RHYTHM, isObject);
const LISTS = paths(RHYTHM, Array.isArray);
const NAMES = paths(RHYTHM, (value) => typeof value === 'string').filter((path) => path[0] !== 'streams');
const FLAGS = paths(RHYTHM, (value) => typeof value === 'boolean');
const EVERYTHING = paths(RHYTHM, () => true).slice(1);
const STREAMS = Object.keys(RHYTHM.streams);

it('the published world and a copy of it pass', () => {
  expect(createWorld(RHYTHM).digest).toBe(createWorld(structuredClone(RHYTHM)).digest);
  expect(EVERYTHING.length).toBeGreaterThan(400);
});

describe('every field', () => {
  it('missing', () => {
    for (const path of EVERYTHING) {
      const world = structuredClone(RHYTHM);
      const parent = path.length > 1 ? getAt(world, path.slice(0, -1)) : world;
      delete (parent as Record<string | number, unknown>)[path[path.length - 1]];
      refused(world, `world.${pathName(path)},`, 'undefined');
    }
  });

  it.each([[null], [undefined], [true], ['x'], [{}], [[]], [() => 1], [Symbol('x')], [10n]])(
    'as %s',
    (value) => {
      for (const path of EVERYTHING.filter((each) => !same(getAt(RHYTHM, each), value))) {
        refused(worldWith(path, value), `world.${pathName(path)}`);
      }
    },
  );
});

/** Differences that are valid, such as an empty object in place of an empty list. */
const same = (model: unknown, value: unknown): boolean =>
  model === value || (Array.isArray(value) && Array.isArray(model) && model.length === 0);

describe('every number', () => {
  const {
    NaN: nan,
    POSITIVE_INFINITY: infinity,
    NEGATIVE_INFINITY: minus,
    MIN_VALUE: tiny,
    MAX_VALUE: huge,
  } = Number;
  it.each([nan, infinity, minus])('%d', (value) => {
    for (const path of WORLD_NUMBERS)
      refused(worldWith(path, value), `world.${pathName(path)}`, String(value));
  });

  it.each([2 ** 20 + 1, -(2 ** 21), 2 ** -41, -(2 ** -60), 1e-50, tiny, huge])(
    '%d is out of the domain',
    (value) => {
      for (const path of FREE_NUMBERS.filter(([, key]) => key !== 'eventThreshold')) {
        refused(worldWith(path, value), `world.${pathName(path)}`);
      }
    },
  );

  it('at the bound of the domain passes, if there is no other condition', () => {
    const path = ['events', 1, 'effect', 2];
    for (const value of [2 ** 20, -(2 ** 20), 2 ** -40, -(2 ** -40), 0, -0]) {
      expect(validateWorld(worldWith(path, value))).toBeDefined();
    }
  });

  it.each(WORLD_NUMBERS.filter(isFixed).map(pathName))('%s is fixed', (name) => {
    const path = WORLD_NUMBERS.find((each) => pathName(each) === name)!;
    refused(worldWith(path, (getAt(RHYTHM, path) as number) + 1), `world.${name}`, 'which the version fixes');
  });

  it('at the bound of its range passes', () => {
    for (const value of [0, 2 ** 32 - 1])
      expect(validateWorld(worldWith(['constants', 'eventThreshold'], value))).toBeDefined();
    for (const value of [0, 1]) expect(validateWorld(worldWith(['initialMeters', 3], value))).toBeDefined();
    const narrow = { ...RHYTHM.traits[0], low: 0, high: 2 ** -40 };
    expect(validateWorld(worldWith(['traits', 0], narrow))).toBeDefined();
  });

  it.each([-1, 2 ** 32, 0.5, nan])('an eventThreshold of %d', (value) => {
    refused(worldWith(['constants', 'eventThreshold'], value), 'world.constants.eventThreshold');
  });

  it.each([-0.01, 1.01])('an initial meter of %d', (value) => {
    refused(worldWith(['initialMeters', 3], value), 'world.initialMeters[3]', '[0, 1]');
  });
});

describe('structure', () => {
  it('a foreign key anywhere', () => {
    for (const path of OBJECTS) {
      const world = structuredClone(RHYTHM);
      const node = (path.length === 0 ? world : getAt(world, path)) as Record<string, unknown>;
      node.extra = 1;
      refused(world, `world.${pathName([...path, 'extra'])}`, 'no such field');
    }
    refused(JSON.parse('{"__proto__": {}}'), '__proto__');
  });

  it('a list longer or shorter', () => {
    for (const path of LISTS) {
      const list = getAt(RHYTHM, path) as unknown[];
      refused(worldWith(path, [...list, 0]), `world.${pathName(path)}`, `${list.length} entries`);
      if (list.length > 0) refused(worldWith(path, list.slice(1)), `world.${pathName(path)}`);
    }
  });

  it('holes in a list', () => {
    refused(worldWith(['decay'], new Array(5)), 'world.decay[0]', 'undefined');
  });

  it('a name or a flag changed', () => {
    for (const path of NAMES) refused(worldWith(path, 'other'), `world.${pathName(path)}`, '"other"');
    for (const path of FLAGS) refused(worldWith(path, false), `world.${pathName(path)}`, 'false');
  });

  it('keys in another order are the same world', () => {
    const reversed = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(reversed);
      if (typeof value !== 'object' || value === null) return value;
      return Object.fromEntries(
        Object.entries(value)
          .reverse()
          .map(([key, entry]) => [key, reversed(entry)]),
      );
    };
    expect(createWorld(reversed(RHYTHM) as WorldSpec).digest).toBe(createWorld().digest);
  });

  it.each([undefined, null, 3, 'world', true, [], new Map(), new Date(0)])('%s for a world', (value) => {
    expectRefusal(() => validateWorld(value), 'bad_world', 'world');
  });
});

describe('related numbers', () => {
  const SUMS: Path[] = [
    ['graders', 'v1'],
    ['graders', 'v2'],
    ...Object.keys(RHYTHM.profiles).map((name) => ['profiles', name, 'weights']),
  ];
  it.each(SUMS.map((path) => [pathName(path), path] as const))('%s sums to 1', (name, path) => {
    const weights = (getAt(RHYTHM, path) as number[]).map((weight, k) => (k === 1 ? weight + 0.001 : weight));
    refused(worldWith(path, weights), `world.${name}`, 'sum to 1');
  });

  it('to a millionth', () => {
    const off = (error: number) => {
      const [first, ...others] = RHYTHM.graders.v2;
      return worldWith(['graders', 'v2'], [first + error, ...others]);
    };
    expect(validateWorld(off(0.9e-6))).toBeDefined();
    refused(off(1.1e-6), 'world.graders.v2', 'sum to 1');
    refused(off(-1.1e-6), 'world.graders.v2', 'sum to 1');
  });

  it.each([0, 1, 2])('the shares of belief %i sum to 1', (k) => {
    refused(worldWith(['belief', k, 'factors', 0, 'share'], 0.5), `world.belief[${k}]`, 'sum to 1');
  });

  it.each(RHYTHM.traits.map(({ name }, k) => [name, k] as const))('%s has a width', (_, k) => {
    const { low } = RHYTHM.traits[k];
    for (const high of [low, low - 0.5])
      refused(worldWith(['traits', k, 'high'], high), `world.traits[${k}].high`);
  });

  it.each(['', '123', '123456789', 'A3C5F72G', ' A3C5F72', '0x3C5F72', 7, ['A3C5F729'], null])(
    'a stream of %j',
    (hex) => {
      for (const name of STREAMS)
        refused(worldWith(['streams', name], hex), `world.streams.${name}`, 'hexadecimal');
    },
  );

  it('streams in either case are one world', () => {
    const lower = worldWith(['streams', 'event'], RHYTHM.streams.event.toLowerCase());
    expect(createWorld(lower).digest).toBe(createWorld().digest);
  });
});

describe('objects that change between reads', () => {
  it('a getter is read once, and its value validated and copied', () => {
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
    refused(new Proxy(structuredClone(RHYTHM), {}), 'world');
    const world = structuredClone(RHYTHM);
    setAt(world, ['decay'], new Proxy(world.decay, {}));
    refused(world, 'world');
  });
});
