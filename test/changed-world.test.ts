/** A changed world moves every engine alike: the numbers are data, and no engine keeps its own. */
import { describe, expect, it } from 'vitest';
import { allocateTrajectory } from '../src/backends/outputs.js';
import type { WorldSpec } from '../src/world/spec.js';
import { createWorld } from '../src/world/world.js';
import { type Columns, copies, differences, expectEqual } from './support/bits.js';
import { ENGINES, type Engine, NATIVE } from './support/engines.js';
import { forAll, Random } from './support/random.js';
import { openBatch, WORLD } from './support/seam.js';
import { changedWorld, FREE_NUMBERS, getAt, type Path, pathName, worldWith } from './support/worlds.js';

/** Episodes under a world; the same requests for every engine. */
function episodes(engine: Engine, spec: WorldSpec, seed: string, n: number): Columns {
  const random = new Random(seed);
  const world = createWorld(spec);
  const { batch, see } = openBatch(engine, n, { world, imagination: random.chance(0.3) });
  batch.reset(random.reset(n, world));
  for (let t = 0; t < 3; t++) expect(batch.submit(random.step(new Uint8Array(n)))).toBeNull();
  const stepped = see();
  const trajectory = allocateTrajectory(n);
  expect(batch.run({ ...random.run(n), trajectory })).toBeNull();
  const { state, finalScores, components } = see();
  return {
    ...stepped,
    ...copies(trajectory),
    'final state': state,
    'final scores': finalScores,
    'final components': components,
  };
}

describe.each(NATIVE)('$name', (engine) => {
  it('worlds with any numbers changed', () => {
    forAll(150, (random) => {
      const spec = changedWorld(random);
      const seed = `world ${random.integer(0, 1e9)}`;
      expectEqual(episodes(ENGINES[0], spec, seed, 20), episodes(engine, spec, seed, 20));
    });
  });
});

/** Numbers that sum to 1 with others cannot change alone; the worlds above change them. */
const alone = (path: Path): boolean => !/weights|graders|share/.test(pathName(path));

it('each number of the world alone', () => {
  for (const path of FREE_NUMBERS.filter(alone)) {
    const spec = withOneNumber(path);
    const seed = pathName(path);
    const expected = episodes(ENGINES[0], spec, seed, 17);
    for (const engine of NATIVE)
      expectEqual(expected, episodes(engine, spec, seed, 17), `${seed} ${engine.name}:`);
  }
});

/** A valid world with this number changed. */
function withOneNumber(path: Path): WorldSpec {
  const value = getAt(WORLD.spec, path) as number;
  return worldWith(path, path[1] === 'eventThreshold' ? 2 ** 31 : value * 1.25 + (value === 0 ? 0.01 : 0));
}

it('a changed world changes results', () => {
  const one = episodes(ENGINES[0], WORLD.spec, 'same', 20);
  const other = episodes(ENGINES[0], worldWith(['decay', 1], 0.02), 'same', 20);
  expect(differences(one, other).length).toBeGreaterThan(3);
});

it('the caller may change a spec afterwards', () => {
  const spec = worldWith(['decay', 1], 0.02);
  const world = createWorld(spec);
  spec.decay[1] = 0.5;
  expect(world.spec.decay[1]).toBe(0.02);
});
