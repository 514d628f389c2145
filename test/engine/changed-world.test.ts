/** All engines agree in changed worlds, so no engine has its own copy of a number. */
import { describe, expect, it } from 'vitest';
import { allocateTrajectory } from '../../src/engine/backends/outputs.js';
import { drawsOf, newDraws, streamsOf } from '../../src/engine/reference/threefry.js';
import { OBSERVATION, OBSERVATION_SIZE } from '../../src/world/fields.js';
import type { WorldSpec } from '../../src/world/numbers.js';
import { createWorld, type World } from '../../src/world/world.js';
import {
  type AsyncEngine,
  OTHERS,
  REFERENCE,
  reportAbsentEngines,
  runsOn,
} from '../support/async-engines.js';
import { type Columns, copyColumns, differences, expectEqual } from '../support/bits.js';
import { ENGINES, openOn } from '../support/engines.js';
import { forAllAsync, openAsyncBatch } from '../support/open-async-batch.js';
import { WORLD } from '../support/open-batch.js';
import { Random } from '../support/random.js';
import {
  changedWorld,
  FREE_NUMBERS,
  getAt,
  type Path,
  pathName,
  setAt,
  worldWith,
} from '../support/worlds.js';

reportAbsentEngines();

/** Plays n episodes in a world, with the same requests on every engine. @returns their columns. */
async function playEpisodes(engine: AsyncEngine, world: World, seed: string, n: number): Promise<Columns> {
  const random = new Random(seed);
  const { batch, columns } = await openAsyncBatch(engine, n, { world, imagination: random.chance(0.3) });
  batch.reset(random.reset(n, world));
  for (let t = 0; t < 3; t++) expect(batch.submit(random.step(new Uint8Array(n)))).toBeNull();
  const stepped = await columns();
  const trajectory = allocateTrajectory(n);
  expect(await batch.run({ ...random.run(n), trajectory })).toBeNull();
  const { state, finalScores, components } = await columns();
  batch.close();
  return {
    ...stepped,
    ...copyColumns(trajectory),
    'final state': state,
    'final scores': finalScores,
    'final components': components,
  };
}

describe.each(OTHERS)('$name', (engine) => {
  it('equals the reference in worlds with random changes', () =>
    forAllAsync(runsOn(engine, 150), async (random) => {
      const world = createWorld(changedWorld(random));
      const seed = `world ${random.integer(0, 1e9)}`;
      expectEqual(
        await playEpisodes(REFERENCE, world, seed, 20),
        await playEpisodes(engine, world, seed, 20),
      );
    }));
});

/** Returns whether a number can change alone. Numbers that must sum to 1 with others change in the test above. */
const canChangeAlone = (path: Path): boolean => !/weights|graders|share/.test(pathName(path));

/** How many numbers change in a world: few, so that no change hides another. */
const TOGETHER = 3;
const ALONE = FREE_NUMBERS.filter(canChangeAlone);
const NUM_WORLDS = Math.ceil(ALONE.length / TOGETHER);
/** The numbers that change in each world: far apart in the spec. */
const GROUPS = Array.from({ length: NUM_WORLDS }, (_, world) =>
  ALONE.filter((_, k) => k % NUM_WORLDS === world),
);

it(`all engines agree after a change of each number that can change alone, ${TOGETHER} numbers per world`, async () => {
  expect(new Set(GROUPS.flat())).toEqual(new Set(ALONE));
  for (const paths of GROUPS) {
    const world = createWorld(withChanged(paths));
    const seed = paths.map(pathName).join(' ');
    const expected = await playEpisodes(REFERENCE, world, seed, 17);
    for (const engine of OTHERS)
      expectEqual(expected, await playEpisodes(engine, world, seed, 17), `${seed} ${engine.name}:`);
  }
});

/** Returns a valid world with these numbers changed. */
function withChanged(paths: readonly Path[]): WorldSpec {
  const spec = structuredClone(WORLD.spec) as WorldSpec;
  for (const path of paths) {
    const value = getAt(spec, path) as number;
    // With the eventThreshold 2^31, half of the steps have an event. The other changes are chosen by hand.
    setAt(spec, path, path[1] === 'eventThreshold' ? 2 ** 31 : value * 1.25 + (value === 0 ? 0.01 : 0));
  }
  return spec;
}

it('a changed world changes results', async () => {
  const one = await playEpisodes(REFERENCE, WORLD, 'same', 20);
  const other = await playEpisodes(REFERENCE, createWorld(worldWith(['decay', 1], 0.02)), 'same', 20);
  expect(differences(one, other).length).toBeGreaterThan(3);
});

it('a change of the spec after createWorld has no effect', () => {
  const spec = worldWith(['decay', 1], 0.02);
  const world = createWorld(spec);
  spec.decay[1] = 0.5;
  expect(world.spec.decay[1]).toBe(0.02);
});

describe('an event draw at the threshold', () => {
  const SEED = 4242;
  const { x0 } = drawsOf(streamsOf(WORLD.params, false), SEED, 0, newDraws()).event;

  it.each(ENGINES)('causes no event, but causes one if the threshold is 1 higher: $name', (engine) => {
    const eventAt = (threshold: number): number => {
      using env = openOn(engine, {
        numEnvs: 3,
        world: worldWith(['constants', 'eventThreshold'], threshold),
      });
      env.reset({ seed: [1, SEED, 2] });
      const { observations } = env.step([0, 0, 0]);
      return observations[OBSERVATION_SIZE + OBSERVATION.event];
    };
    expect(eventAt(x0)).toBe(-1);
    expect(eventAt(x0 + 1)).toBeGreaterThanOrEqual(0);
  });
});
