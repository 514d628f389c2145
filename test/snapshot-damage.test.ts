/**
 * Damaged snapshots. With a wrong checksum all are refused. With a right one they are refused or hold legal states, and
 * those load on every engine, which then agree on every bit up to the end of the episodes.
 */
import { describe, expect, it } from 'vitest';
import type { RunRequest } from '../src/backends/backend.js';
import { InputError } from '../src/errors.js';
import { decodeSnapshot } from '../src/snapshot/decode.js';
import { encodeSnapshot } from '../src/snapshot/encode.js';
import { HEADER_LENGTH, type Snapshot } from '../src/snapshot/format.js';
import { checkStates } from '../src/snapshot/legal.js';
import { expectEqual } from './support/bits.js';
import { ENGINES } from './support/engines.js';
import { Random } from './support/random.js';
import { expectRefusal, refusalOf } from './support/refusals.js';
import { openBatch, WORLD } from './support/seam.js';
import { damage as damaged, fieldAt, sealed, snapshotOf, wandered, withByte } from './support/snapshots.js';

const N = 5;
const take = (random: Random): Uint8Array =>
  encodeSnapshot(snapshotOf(random, wandered(random, random.pick(ENGINES), N).batch.save(), N));
const bytes = take(new Random('damage'));

/** Expects a refusal, or a snapshot whose states are legal and of which nothing was left unread. */
function expectRefusedOrLegal(damaged: Uint8Array): 'refused' | 'legal' {
  let decoded: Snapshot;
  try {
    decoded = decodeSnapshot(damaged);
  } catch {
    expectRefusal(() => decodeSnapshot(damaged), 'bad_snapshot');
    return 'refused';
  }
  checkStates(decoded.words, decoded.numEnvs, WORLD);
  expect(encodeSnapshot(decoded)).toEqual(damaged);
  return 'legal';
}

describe('damage', () => {
  /** Each of the eight bits of a byte flipped, and a few other values. */
  const others = (byte: number): number[] => {
    const values = [0, 1, 2, 3, 4, 5, 6, 7].map((bit) => byte ^ (1 << bit));
    return [...new Set([...values, 0, 0xff, (byte + 1) & 0xff, (byte + 0x80) & 0xff])].filter(
      (x) => x !== byte,
    );
  };

  it('to any byte of the header is seen', () => {
    for (let at = 0; at < HEADER_LENGTH; at++) {
      for (const value of others(bytes[at])) {
        expectRefusal(() => decodeSnapshot(withByte(bytes, at, value)), 'bad_snapshot');
      }
    }
  });

  it('to any byte of the body is seen by the checksum', () => {
    for (let at = HEADER_LENGTH; at < bytes.length; at++) {
      for (const value of others(bytes[at])) {
        const { message } = refusalOf(() => decodeSnapshot(withByte(bytes, at, value)));
        expect(message).toContain('CRC-32 of header and body');
      }
    }
  });

  it('to the header under a right checksum is refused, or another header that is as good', () => {
    const free = new Set<string>();
    for (let at = 0; at < HEADER_LENGTH; at++) {
      for (const value of others(bytes[at])) {
        if (expectRefusedOrLegal(sealed(withByte(bytes, at, value))) === 'legal') free.add(fieldAt(at));
      }
    }
    // The checksum is made right again, whatever it was.
    const expected = [
      'worldDigest',
      'autoreset',
      'imagination',
      'seedLow',
      'seedSize',
      'steps',
      'episodes',
      'checksum',
    ];
    expect([...free].sort()).toEqual(expected.sort());
  });

  it('by cutting is seen at any length', () => {
    const random = new Random('cuts');
    const cuts = Array.from({ length: 300 }, () => random.integer(HEADER_LENGTH, bytes.length - 1));
    for (const length of [...Array(HEADER_LENGTH + 9).keys(), ...cuts]) {
      expectRefusal(
        () => decodeSnapshot(bytes.subarray(0, length)),
        'bad_snapshot',
        `got ${length}. Pass all`,
      );
    }
  });
});

describe('damage to the body under a right checksum', () => {
  const batches = ENGINES.map((engine) => ({ ...openBatch(engine, N), name: engine.name }));
  const [first, ...others] = batches;

  /** Loads on every engine and plays to the end; all must show and hold the same, and nothing that is no number. */
  function playOut(words: Uint32Array, run: RunRequest): void {
    const each = (act: (batch: typeof first.batch) => void) => {
      for (const { batch } of batches) act(batch);
      for (const other of others) expectEqual(first.see(), other.see(), other.name);
    };
    each((batch) => batch.load(words));
    expect(first.batch.save()).toEqual(words);
    each((batch) => expect(batch.run(run)).toBeNull());
    const { observations, rewards, finalScores, components, beliefMae, terminated } = first.outputs;
    expect([...terminated].every((flag) => flag === 1)).toBe(true);
    for (const numbers of [observations, rewards, finalScores, components, beliefMae]) {
      expect(numbers.every(Number.isFinite)).toBe(true);
    }
    checkStates(first.batch.save(), N, WORLD);
  }

  it.each([1, 2, 3, 4, 5, 6])('is refused or plays on, %i of 6', (round) => {
    const random = new Random(`body ${round}`);
    const sources = Array.from({ length: 20 }, () => take(random));
    const outcomes = { refused: 0, legal: 0 };
    for (let i = 0; i < 2500; i++) {
      const { words } = decodeSnapshot(sealed(damaged(random, random.pick(sources))));
      try {
        checkStates(words, N, WORLD);
      } catch (error) {
        expect(error).toBeInstanceOf(InputError);
        expect(error).toMatchObject({ code: 'bad_snapshot', message: expect.stringMatching(/ slot [0-4] /) });
        outcomes.refused++;
        continue;
      }
      outcomes.legal++;
      playOut(words, { ...random.run(N), stops: null });
    }
    expect(Math.min(outcomes.refused, outcomes.legal)).toBeGreaterThan(500);
  });
});
