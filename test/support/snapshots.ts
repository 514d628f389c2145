/** Draws states and snapshots, and damages the bytes of snapshots. */
import {
  checksumOf,
  HEADER,
  HEADER_LENGTH,
  type HeaderName,
  putHeaderNumber,
  type Snapshot,
} from '../../src/engine/snapshot/format.js';
import { AUTORESET_MODES } from '../../src/engine/vec-env/autoreset.js';
import { NUM_STEPS } from '../../src/world/fields.js';
import { inDomain } from '../../src/world/validate-world.js';
import type { World } from '../../src/world/world.js';
import type { Engine } from './engines.js';
import { type OpenedBatch, openBatch, WORLD } from './open-batch.js';
import type { Random } from './random.js';

/**
 * Draws a reset with valid profiles. In a changed world, `random` may draw floats that are neither 0 nor of a magnitude from
 * 2^-40 to 2^20. They become 1; -0 becomes 0.
 */
export function validReset(random: Random, n: number, world: World) {
  const request = random.resetAtAnyStep(n, world);
  return { ...request, profiles: request.profiles!.map((x) => (inDomain(x) ? x + 0 : 1)) };
}

/** Opens a batch and runs each environment to a random step, with any policy and beliefs. */
export function advancedBatch(random: Random, engine: Engine, n: number, world: World = WORLD): OpenedBatch {
  const opened = openBatch(engine, n, { world });
  opened.batch.reset(validReset(random, n, world));
  opened.batch.run({ ...random.run(n), stops: random.stops(n) });
  return opened;
}

/** Returns a snapshot of these states with random modes, counters, seed range and episode numbers. */
export function snapshotOf(
  random: Random,
  words: Uint32Array,
  numEnvs: number,
  world: World = WORLD,
): Snapshot {
  const low = random.integer(0, 2 ** 32 - 1);
  return {
    worldDigest: world.digest,
    numEnvs,
    autoreset: random.pick(AUTORESET_MODES),
    imagination: random.chance(0.5),
    steps: random.integer(0, Number.MAX_SAFE_INTEGER),
    episodes: random.integer(0, 2 ** 33),
    seedRange: [low, random.integer(1, 2 ** 32 - low)],
    words,
    episodeNumbers: random.seeds(numEnvs),
  };
}

/** Returns a copy with the correct checksum. */
export function withChecksum(bytes: Uint8Array): Uint8Array {
  const copy = Uint8Array.from(bytes);
  const sum = checksumOf(copy.subarray(0, HEADER_LENGTH), copy.subarray(HEADER_LENGTH));
  putHeaderNumber(new DataView(copy.buffer), 'checksum', sum);
  return copy;
}

/** Returns a copy with another number in its header and a correct checksum. */
export function withNumber(bytes: Uint8Array, name: HeaderName, value: number): Uint8Array {
  const copy = Uint8Array.from(bytes);
  putHeaderNumber(new DataView(copy.buffer), name, value);
  return withChecksum(copy);
}

/** Returns a copy with one byte replaced. */
export function withByte(bytes: Uint8Array, at: number, value: number): Uint8Array {
  const copy = Uint8Array.from(bytes);
  copy[at] = value;
  return copy;
}

/** Returns the name of the header field at byte `at`. */
export const fieldAt = (at: number): HeaderName =>
  Object.values(HEADER).find(({ offset, size }) => at >= offset && at < offset + size)!.name;

/** Damages the body in one to three places: a bit, a byte, a special word, a random word or a copied word. */
export function damage(random: Random, bytes: Uint8Array): Uint8Array {
  const copy = Uint8Array.from(bytes);
  const view = new DataView(copy.buffer);
  const at = () => random.integer(HEADER_LENGTH, copy.length - 1);
  const word = () => HEADER_LENGTH + 4 * random.integer(0, (copy.length - HEADER_LENGTH) / 4 - 1);
  for (let times = random.pick([1, 1, 1, 2, 3]); times > 0; times--) {
    const kind = random.pick(['bit', 'byte', 'special word', 'any word', 'copy']);
    if (kind === 'bit') copy[at()] ^= 1 << random.integer(0, 7);
    if (kind === 'byte') copy[at()] = random.integer(0, 255);
    if (kind === 'special word') view.setUint32(word(), random.pick(SPECIAL_WORDS), true);
    if (kind === 'any word') view.setUint32(word(), random.integer(0, 2 ** 32 - 1), true);
    if (kind === 'copy') view.setUint32(word(), view.getUint32(word()));
  }
  return copy;
}

/**
 * Codes, steps and crash counts in and above their ranges, and floats: -0, 1, 0.5, one below 2^-40, a subnormal, the largest,
 * infinities, NaNs.
 */
const SPECIAL_WORDS = [
  ...[0, 1, 2, 3, 9, NUM_STEPS, NUM_STEPS + 1, 140, 141, 0xffffffff],
  ...[0x80000000, 0x3f800000, 0x3f000000, 0x2b7fffff, 0x00000001, 0x7f7fffff],
  ...[0x7f800000, 0xff800000, 0x7fc00000, 0xffc00001, 0x7f800001],
];
