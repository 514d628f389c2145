/** The bytes of a snapshot: decoding restores the encoded snapshot, and refuses invalid bytes with the reason. */
import { crc32 } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { decodeSnapshot, encodeSnapshot } from '../../../src/engine/snapshot/codec.js';
import {
  FORMAT,
  HEADER,
  HEADER_FIELDS,
  HEADER_LENGTH,
  reorderBytes,
  type Snapshot,
  stateLayoutDigest,
} from '../../../src/engine/snapshot/format.js';
import { checkStates } from '../../../src/engine/snapshot/legal-states.js';
import { STATE_WORDS } from '../../../src/world/fields.js';
import { RHYTHM } from '../../../src/world/numbers.js';
import { ENGINES } from '../../support/engines.js';
import { detached } from '../../support/fuzz.js';
import { WORLD } from '../../support/open-batch.js';
import { forAll, Random } from '../../support/random.js';
import { expectRefusal } from '../../support/refusals.js';
import { advancedBatch, snapshotOf, withByte, withChecksum, withNumber } from '../../support/snapshots.js';

/** The layout digest of each format. If the fields of the state change, increment FORMAT and add a line. */
const LAYOUTS: Readonly<Record<number, string>> = {
  1: 'a8d472730b695bfe826bd5beb85e494b8a301545dab5386dd834a6143a8c3afb',
  2: 'dc207c2664c77ca79c0ee053b76218d8f11cf99356ab153f9c7d27537b6dd565',
  3: '8c004d5d5661abab4568dae7972d785333ff68d68a1cbfec5fcc8df4f3a3ee68',
};

const N = 5;
const random = new Random('format');
const snapshot = snapshotOf(random, advancedBatch(random, ENGINES[0], N).batch.save(), N);
const bytes = encodeSnapshot(snapshot);

it('a decoded snapshot equals the encoded snapshot', () => {
  forAll(60, (random) => {
    const n = random.pick([1, 15, 16, 17, 40]);
    const { batch } = advancedBatch(random, random.pick(ENGINES), n);
    const original = snapshotOf(random, batch.save(), n);
    const decoded = decodeSnapshot(encodeSnapshot(original));
    expect(decoded).toEqual(original);
    checkStates(decoded.words, n, WORLD);
    batch.close();
  });
});

describe('the format', () => {
  it('has the layout digest that is listed for its number', () => {
    expect(LAYOUTS[FORMAT]).toBe(stateLayoutDigest());
  });

  it('has a header without gaps, with whole cache lines and the checksum at the end', () => {
    expect(HEADER_LENGTH).toBe(192);
    expect(HEADER_LENGTH % 64).toBe(0);
    for (const [i, { offset, size }] of HEADER_FIELDS.entries()) {
      expect(offset + size).toBe(HEADER_FIELDS[i + 1]?.offset ?? HEADER_LENGTH);
    }
    expect(HEADER_FIELDS.at(-1)).toBe(HEADER.checksum);
  });

  it('has the bytes that this test writes without encodeSnapshot', () => {
    const { words, episodeNumbers, seedRange } = snapshot;
    const body = Buffer.alloc((words.length + N) * 4);
    for (const [k, word] of [...words, ...episodeNumbers].entries()) body.writeUInt32LE(word, 4 * k);
    const header = Buffer.alloc(192);
    header.write('RHYTHMVS');
    header.writeUInt32LE(FORMAT, 8);
    header.writeUInt32LE(192, 12);
    header.write(stateLayoutDigest(), 16, 'hex');
    header.write(WORLD.digest, 48, 'hex');
    for (const [k, number] of RHYTHM.version.split('.').entries())
      header.writeUInt32LE(Number(number), 80 + 4 * k);
    header.writeUInt32LE(N, 92);
    header.writeUInt32LE(STATE_WORDS, 96);
    header.writeUInt32LE(['disabled', 'same-step', 'next-step'].indexOf(snapshot.autoreset), 100);
    header.writeUInt32LE(Number(snapshot.imagination), 104);
    header.writeUInt32LE(seedRange[0], 108);
    header.writeBigUInt64LE(BigInt(seedRange[1]), 112);
    header.writeBigUInt64LE(BigInt(snapshot.steps), 120);
    header.writeBigUInt64LE(BigInt(snapshot.episodes), 128);
    header.writeBigUInt64LE(BigInt(body.length), 136);
    header.writeUInt32LE(crc32(Buffer.concat([header.subarray(0, 188), body])), 188);
    expect(Buffer.from(bytes)).toEqual(Buffer.concat([header, body]));
  });

  it('stores the largest numbers', () => {
    const steps = Number.MAX_SAFE_INTEGER;
    for (const seedRange of [
      [0, 2 ** 32],
      [2 ** 32 - 1, 1],
    ] as const) {
      const large: Snapshot = { ...snapshot, steps, episodes: 2 ** 52 + 1, seedRange };
      expect(decodeSnapshot(encodeSnapshot(large))).toEqual(large);
    }
  });

  it('swaps the bytes of words on a big-endian machine', () => {
    const words = Uint32Array.of(0x01020304, 0xfffefdfc, 7);
    const swapped = words.slice();
    reorderBytes(swapped, false);
    expect(Buffer.from(swapped.buffer)).toEqual(Buffer.from(words.slice().buffer).swap32());
    reorderBytes(swapped, false);
    expect(swapped).toEqual(words);
  });
});

describe('decoded bytes', () => {
  it('may be a Buffer at any offset, or shared', () => {
    for (const offset of [0, 1, 2, 3, 5, 64]) {
      const memory = Buffer.alloc(bytes.length + offset + 9, 0xaa);
      memory.set(bytes, offset);
      expect(decodeSnapshot(memory.subarray(offset, offset + bytes.length))).toEqual(snapshot);
    }
    const shared = new Uint8Array(new SharedArrayBuffer(bytes.length));
    shared.set(bytes);
    expect(decodeSnapshot(shared)).toEqual(snapshot);
  });

  it('are copied', () => {
    const memory = bytes.slice();
    const decoded = decodeSnapshot(memory);
    memory.fill(0xff);
    expect(decoded).toEqual(snapshot);
    const encoded = encodeSnapshot(decoded);
    decoded.words.fill(0);
    decoded.episodeNumbers.fill(0);
    expect(encoded).toEqual(bytes);
  });
});

describe('decodeSnapshot refuses', () => {
  const transferred = detached(bytes.slice());
  const reserved = withByte(bytes, HEADER.reserved.offset + 43, 1);
  const longBody = withNumber(
    withNumber(bytes, 'numEnvs', 2 ** 24),
    'bodyLength',
    2 ** 26 * (STATE_WORDS + 1),
  );
  const cases: [string, unknown, string][] = [
    ['undefined', undefined, 'got undefined'],
    ['text', 'RHYTHMVS', 'got "RHYTHMVS"'],
    ['an ArrayBuffer', bytes.slice().buffer, 'Uint8Array'],
    ['words', new Uint32Array(bytes.slice().buffer), 'a Uint32Array'],
    ['a DataView', new DataView(bytes.slice().buffer), 'a DataView'],
    ['an array', Array.from(bytes), `an array of ${bytes.length}`],
    ['an object with the prototype of Uint8Array', Object.create(Uint8Array.prototype), 'an object'],
    ['no bytes', new Uint8Array(0), 'at least 192 bytes'],
    ['bytes that were transferred', transferred, 'at least 192 bytes'],
    ['bytes of another kind of file', new Uint8Array(1000), 'begin with "RHYTHMVS"'],
    [
      'a newer format',
      withNumber(bytes, 'format', FORMAT + 1),
      `format ${FORMAT}, got format ${FORMAT + 1}. Make it again`,
    ],
    [
      'an older format',
      withNumber(bytes, 'format', FORMAT - 1),
      `format ${FORMAT}, got format ${FORMAT - 1}. Make it again`,
    ],
    ['a longer header', withNumber(bytes, 'headerLength', 256), '(headerLength), got 256'],
    ['another layout', withChecksum(withByte(bytes, HEADER.stateLayoutDigest.offset, 0x5a)), 'got 5a'],
    ['another world version', withNumber(bytes, 'worldMajor', 99), `${RHYTHM.version}, got version 99.`],
    ['no environments', withNumber(bytes, 'numEnvs', 0), '(numEnvs), got 0'],
    ['too many environments', withNumber(bytes, 'numEnvs', 2 ** 32 - 1), '(numEnvs), got 4294967295'],
    ['states of another size', withNumber(bytes, 'stateWords', 40), '(stateWords), got 40'],
    ['an environment more than the body has', withNumber(bytes, 'numEnvs', N + 1), '(bodyLength)'],
    [
      'a body of more than 2^53 bytes',
      withByte(bytes, HEADER.bodyLength.offset + 7, 0xff),
      '(bodyLength), got 18',
    ],
    // 2^24 environments, each with a state and an episode number, in words of 4 bytes.
    ['a missing body', longBody, `got ${bytes.length}. Pass all the bytes`],
    ['an additional byte', new Uint8Array([...bytes, 0]), `got ${bytes.length + 1}`],
    ['another checksum', withByte(bytes, 188, bytes[188] ^ 1), 'CRC-32'],
    ['a byte other than 0 in the last of the 44 reserved bytes', withChecksum(reserved), 'reserved'],
    ['an invalid autoreset mode', withNumber(bytes, 'autoreset', 3), 'autoreset from 0 to 2, got 3'],
    ['an invalid imagination flag', withNumber(bytes, 'imagination', 2), 'imagination from 0 to 1, got 2'],
    ['too many steps', withNumber(bytes, 'steps', 2 ** 53), 'steps from 0 to 9007199254740991'],
    ['too many episodes', withNumber(bytes, 'episodes', 2 ** 60), 'episodes from 0 to'],
    ['no seeds', withNumber(bytes, 'seedSize', 0), 'seedSize from 1 to'],
    [
      'seeds beyond u32',
      withNumber(withNumber(bytes, 'seedLow', 5), 'seedSize', 2 ** 32 - 4),
      'seedSize from 1 to 4294967291',
    ],
  ];
  it.each(cases)('%s', (_, value, mention) => {
    expectRefusal(() => decodeSnapshot(value as Uint8Array), 'bad_snapshot', mention);
  });
});
