/** Draws changed worlds, and replaces single numbers of the published world. */
import { NUM_COMPONENTS, NUM_STEPS } from '../../src/world/fields.js';
import { RHYTHM, type WorldSpec } from '../../src/world/numbers.js';
import type { Random } from './random.js';

/** The keys and indices that lead to a value. */
export type Path = readonly (string | number)[];

/** Returns the paths of all numbers in a value. */
function numberPaths(value: unknown, path: Path = []): Path[] {
  if (typeof value === 'number') return [path];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, entry]) =>
    numberPaths(entry, [...path, Array.isArray(value) ? Number(key) : key]),
  );
}

type Node = Record<string | number, unknown>;
const parent = (root: unknown, path: Path): Node =>
  path.slice(0, -1).reduce((node, key) => node[key] as Node, root as Node);

/** Returns the value at a path. */
export const getAt = (root: unknown, path: Path): unknown => parent(root, path)[path[path.length - 1]];

/** Replaces the value at a path. */
export function setAt(root: unknown, path: Path, value: unknown): void {
  parent(root, path)[path[path.length - 1]] = value;
}

/** Formats a path as errors do: `profiles.introvert_morning.weights[2]`. */
export const pathName = (path: Path): string =>
  path.reduce<string>(
    (text, key) => (typeof key === 'number' ? `${text}[${key}]` : text ? `${text}.${key}` : key),
    '',
  );

/** Returns whether the world's version fixes this number: a number of days, slots or steps, or a slot of a heuristic rule. */
export const isFixed = (path: Path): boolean =>
  ['days', 'slotsPerDay', 'maxEpisodeSteps'].includes(String(path[0])) || path[3] === 'slots';

/** Returns whether this number is a u32. */
export const isU32 = (path: Path): boolean => path[1] === 'eventThreshold' || path[1] === 'beliefSkillFrom';

/** The paths of all numbers of the published world. */
export const WORLD_NUMBERS: readonly Path[] = numberPaths(RHYTHM);
/** The paths of the numbers that other worlds may change. */
export const FREE_NUMBERS = WORLD_NUMBERS.filter((path) => !isFixed(path));

/** Returns a copy of the published world with one number replaced. */
export function worldWith(path: Path, value: unknown): WorldSpec {
  const world = structuredClone(RHYTHM);
  setAt(world, path, value);
  return world;
}

/**
 * Draws a valid world. Its numbers are near the published ones, or any valid numbers; `repair` draws some in ranges of its own.
 * The probabilities here and the ranges of `nearby` and `repair` are chosen by hand.
 */
export function changedWorld(random: Random): WorldSpec {
  const world = structuredClone(RHYTHM);
  const anywhere = random.chance(0.3);
  const changeProbability = random.pick([0.05, 0.5, 1]);
  for (const path of FREE_NUMBERS) {
    const value = getAt(world, path) as number;
    if (random.chance(changeProbability))
      setAt(world, path, anywhere ? random.wild() : nearby(random, value));
  }
  return repair(random, world);
}

const nearby = (random: Random, value: number): number =>
  value === 0 && random.chance(0.5) ? random.real(-0.05, 0.05) : value * random.real(0.6, 1.4);

/** Replaces initial meters, u32 numbers, weights, shares and streams by valid ones, and traits whose span is too small. */
function repair(random: Random, world: WorldSpec): WorldSpec {
  world.initialMeters = world.initialMeters.map(() => random.real());
  world.constants.eventThreshold = random.pick([0, 2 ** 32 - 1, random.integer(0, 2 ** 31)]);
  world.constants.beliefSkillFrom = random.integer(0, NUM_STEPS - 1);
  for (const trait of world.traits) {
    // The reciprocal of a span may be at most 2^20.
    if (!(Math.fround(trait.high) - Math.fround(trait.low) > 2 ** -20)) {
      trait.low = random.real(-1, 0);
      trait.high = random.real(0.5, 2);
    }
  }
  for (const profile of Object.values(world.profiles)) profile.weights = random.weights(5);
  for (const name of Object.keys(world.graders)) world.graders[name] = random.weights(NUM_COMPONENTS);
  for (const { factors } of world.belief) {
    const shares = random.weights(factors.length);
    factors.forEach((factor, k) => {
      factor.share = shares[k];
    });
  }
  for (const name of Object.keys(world.streams) as (keyof WorldSpec['streams'])[]) {
    world.streams[name] = random
      .integer(0, 2 ** 32 - 1)
      .toString(16)
      .padStart(8, '0');
  }
  return world;
}
