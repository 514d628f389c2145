/** The pinned digest of the published world, and the digests of changed worlds. */
import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { BLOCK_LAYOUT } from '../../src/world/block.js';
import { RHYTHM } from '../../src/world/numbers.js';
import { createWorld } from '../../src/world/world.js';
import { Random } from '../support/random.js';
import { changedWorld, FREE_NUMBERS, getAt, isU32, pathName, worldWith } from '../support/worlds.js';

/** The digest of the published world. It changes with any number of the world and with the order of the block. */
const PUBLISHED = '155aa5c0249f5f7ea7ad51390ac6f1f2040ede617072eb069d12d237ac1d2e8d';

const published = createWorld();

it('the published world has the pinned digest, the SHA-256 of its little-endian words', () => {
  expect(published.digest).toBe(PUBLISHED);
  const bytes = Buffer.alloc(published.words.length * 4);
  for (const [k, word] of published.words.entries()) bytes.writeUInt32LE(word, k * 4);
  expect(createHash('sha256').update(bytes).digest('hex')).toBe(PUBLISHED);
});

it('a change of a created world does not change worlds that are created later', () => {
  createWorld().words.fill(0);
  const { words, params, digest } = createWorld();
  expect([words, params, digest]).toEqual([published.words, published.params, PUBLISHED]);
});

describe('the digest changes', () => {
  const isInSum = (name: string): boolean => /weights|graders|share/.test(name);
  const single = FREE_NUMBERS.filter((path) => !isInSum(pathName(path)));

  it('with any number that may change alone', () => {
    const digests = single.map((path) => {
      const value = getAt(RHYTHM, path) as number;
      return createWorld(worldWith(path, isU32(path) ? value + 1 : value + 2 ** -10)).digest;
    });
    // The bound is chosen by hand: it only detects a list that has lost many numbers.
    expect(single.length).toBeGreaterThan(150);
    expect(new Set([...digests, PUBLISHED]).size).toBe(single.length + 1);
  });

  it('with any two neighbouring weights whose sum stays the same, and with any stream', () => {
    const lists = [
      ...Object.keys(RHYTHM.graders).map((name) => ['graders', name]),
      ...Object.keys(RHYTHM.profiles).map((name) => ['profiles', name, 'weights']),
    ];
    const shifted = lists.flatMap((path) => {
      const weights = getAt(RHYTHM, path) as number[];
      return weights.map((_, k) => {
        const other = (k + 1) % weights.length;
        const shift = (weight: number, j: number) =>
          weight + (j === k ? 2 ** -8 : j === other ? -(2 ** -8) : 0);
        return worldWith(path, weights.map(shift));
      });
    });
    const streams = Object.keys(RHYTHM.streams).map((name) => worldWith(['streams', name], '00000001'));
    const digests = [...shifted, ...streams].map((world) => createWorld(world).digest);
    expect(new Set([...digests, PUBLISHED]).size).toBe(digests.length + 1);
  });
});

it('0 and -0 have the same digest', () => {
  expect(createWorld(worldWith(['noise', 'reward'], -0)).digest).toBe(
    createWorld(worldWith(['noise', 'reward'], 0)).digest,
  );
});

it('the block of any changed world has the same length, without NaN, infinities, subnormals and negative zeros', () => {
  const random = new Random('block');
  const { offset: numFloats } = BLOCK_LAYOUT.find((entry) => entry.word === 'u32')!;
  for (let i = 0; i < 50; i++) {
    const { words } = createWorld(i === 0 ? RHYTHM : changedWorld(random));
    expect(words.length).toBe(published.words.length);
    const invalid = new Float32Array(words.buffer, 0, numFloats).findIndex(
      (x) => !Number.isFinite(x) || (x !== 0 && Math.abs(x) < 2 ** -126) || Object.is(x, -0),
    );
    expect(invalid).toBe(-1);
  }
});
