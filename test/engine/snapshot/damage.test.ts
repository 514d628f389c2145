/**
 * Damaged snapshots. A snapshot with a wrong checksum is refused. A damaged snapshot with a correct checksum is refused or
 * has legal states, which all engines load and play to the end with equal results.
 */
import { describe, expect, it } from 'vitest';
import type { RunRequest } from '../../../src/engine/backends/backend.js';
import type { VecEnv } from '../../../src/engine/node.js';
import { decodeSnapshot, encodeSnapshot } from '../../../src/engine/snapshot/codec.js';
import { HEADER_LENGTH, type Snapshot } from '../../../src/engine/snapshot/format.js';
import { checkStates } from '../../../src/engine/snapshot/legal-states.js';
import { AUTORESET_MODES } from '../../../src/engine/vec-env/autoreset.js';
import type { StepResult } from '../../../src/engine/vec-env/vec-env-options.js';
import { InputError } from '../../../src/shared/errors.js';
import { COMPONENT_FIELDS, NUM_STEPS } from '../../../src/world/fields.js';
import { copyOutputs, expectEqual } from '../../support/bits.js';
import {
  advanceRandomly,
  currentOutputs,
  finishedEnvs,
  randomStep,
  stateWords,
} from '../../support/call-sequences.js';
import { ENGINES, openOn, TWO_ENGINES } from '../../support/engines.js';
import { openBatch, WORLD } from '../../support/open-batch.js';
import { drawsOf, Random } from '../../support/random.js';
import { expectRefusal, refusalOf } from '../../support/refusals.js';
import {
  advancedBatch,
  damage,
  fieldAt,
  snapshotOf,
  withByte,
  withChecksum,
} from '../../support/snapshots.js';
import { envColumns } from '../../support/unchanged.js';

const N = 5;
/** The number of damaged bodies of each test. */
const BODIES = drawsOf(5000);
const randomSnapshot = (random: Random): Uint8Array =>
  encodeSnapshot(snapshotOf(random, advancedBatch(random, random.pick(ENGINES), N).batch.save(), N));
const bytes = randomSnapshot(new Random('damage'));

/** Expects a refusal, or a snapshot with legal states that encodes to the same bytes. */
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
  /** Returns other values for a byte: the eight with one bit flipped, and a few more. */
  const otherBytes = (byte: number): number[] => {
    const values = [0, 1, 2, 3, 4, 5, 6, 7].map((bit) => byte ^ (1 << bit));
    return [...new Set([...values, 0, 0xff, (byte + 1) & 0xff, (byte + 0x80) & 0xff])].filter(
      (x) => x !== byte,
    );
  };

  it('to any byte of the header is detected', () => {
    for (let at = 0; at < HEADER_LENGTH; at++) {
      for (const value of otherBytes(bytes[at])) {
        expectRefusal(() => decodeSnapshot(withByte(bytes, at, value)), 'bad_snapshot');
      }
    }
  });

  it('to any byte of the body is detected by the checksum', () => {
    for (let at = HEADER_LENGTH; at < bytes.length; at++) {
      // A CRC-32 detects any change of one byte.
      for (const value of [bytes[at] ^ (1 << (at & 7)), (bytes[at] + 0x80) & 0xff, bytes[at] ^ 0xff]) {
        const { message } = refusalOf(() => decodeSnapshot(withByte(bytes, at, value)));
        expect(message).toContain('CRC-32 of header and body');
      }
    }
  });

  it('to the header with a correct checksum is refused, or gives another legal header', () => {
    const legalFields = new Set<string>();
    for (let at = 0; at < HEADER_LENGTH; at++) {
      for (const value of otherBytes(bytes[at])) {
        if (expectRefusedOrLegal(withChecksum(withByte(bytes, at, value))) === 'legal')
          legalFields.add(fieldAt(at));
      }
    }
    // `withChecksum` repairs damage to the checksum itself.
    const expected = 'autoreset checksum episodes imagination seedLow seedSize steps worldDigest';
    expect([...legalFields].sort().join(' ')).toBe(expected);
  });

  it('by truncation is detected', () => {
    const random = new Random('cuts');
    const cuts = Array.from({ length: 300 }, () => random.integer(HEADER_LENGTH, bytes.length - 1));
    for (const length of [...Array(HEADER_LENGTH + 9).keys(), ...cuts]) {
      const cut = bytes.subarray(0, length);
      expectRefusal(() => decodeSnapshot(cut), 'bad_snapshot', `got ${length}. Pass all`);
    }
  });
});

describe('damage to the body with a correct checksum', () => {
  const batches = ENGINES.map((engine) => ({ ...openBatch(engine, N), name: engine.name }));
  const [first, ...others] = batches;

  /** Loads states on every engine and plays to the end. Outputs and states must be equal, outputs finite, and states legal. */
  function expectPlayable(words: Uint32Array, run: RunRequest): void {
    const onEach = (call: (batch: typeof first.batch) => void) => {
      for (const { batch } of batches) call(batch);
      for (const other of others) expectEqual(first.columns(), other.columns(), other.name);
    };
    onEach((batch) => batch.load(words));
    expect(first.batch.save()).toEqual(words);
    onEach((batch) => expect(batch.run(run)).toBeNull());
    const { observations, rewards, finalScores, components, beliefMae, terminated } = first.outputs;
    expect([...terminated].every((flag) => flag === 1)).toBe(true);
    for (const numbers of [observations, rewards, finalScores, components, beliefMae]) {
      expect(numbers.every(Number.isFinite)).toBe(true);
    }
    checkStates(first.batch.save(), N, WORLD);
  }

  it('is refused or gives playable states', () => {
    const random = new Random('body');
    const sources = Array.from({ length: 40 }, () => randomSnapshot(random));
    const outcomes = { refused: 0, legal: 0 };
    for (let i = 0; i < BODIES; i++) {
      const { words } = decodeSnapshot(withChecksum(damage(random, random.pick(sources))));
      try {
        checkStates(words, N, WORLD);
      } catch (error) {
        const message = expect.stringMatching(/ environment [0-4] /);
        expect(error).toBeInstanceOf(InputError);
        expect(error).toMatchObject({ code: 'bad_snapshot', message });
        outcomes.refused++;
        continue;
      }
      outcomes.legal++;
      expectPlayable(words, { ...random.run(N), stops: null });
    }
    // Both outcomes must be frequent. A fifth is chosen by hand.
    expect(Math.min(outcomes.refused, outcomes.legal)).toBeGreaterThan(BODIES / 5);
  });
});

/** Expects finite numbers; observations, scores and components within their bounds; and legal states. */
function expectLegal(env: VecEnv, result: StepResult): void {
  const { observations, finalScores, beliefMae, components, ...others } = copyOutputs(result);
  const within = (values: ArrayLike<unknown>, low: ArrayLike<number>, high: ArrayLike<number>) =>
    Array.from(values, Number).every((x, at) => x >= low[at % low.length] && x <= high[at % high.length]);
  expect(Object.values(others).every((column) => Array.from(column, Number).every(Number.isFinite))).toBe(
    true,
  );
  expect(within(observations, env.observationSpace.low, env.observationSpace.high)).toBe(true);
  expect(within(finalScores, [0], [1]) && within(beliefMae, [0], [1])).toBe(true);
  const [low, high] = (['low', 'high'] as const).map((bound) =>
    COMPONENT_FIELDS.map((field) => field[bound]),
  );
  expect(within(components, low, high)).toBe(true);
  checkStates(stateWords(env), N, env.world);
}

describe.each(TWO_ENGINES)('restore on $name', (engine) => {
  const random = new Random(`damage ${engine.name}`);
  const environments = AUTORESET_MODES.map((autoreset) => openOn(engine, { numEnvs: N, autoreset }));

  /** Takes 28 random steps, then plays the episodes to the end. Expects legal states before, between and after. */
  function playToEnd(env: VecEnv, loaded: StepResult): void {
    expectLegal(env, loaded);
    let latest = loaded;
    for (let t = 0; t < NUM_STEPS; t++) {
      const { actions, options } = randomStep(random, env, finishedEnvs(latest));
      latest = env.step(actions, options);
    }
    expectLegal(env, latest);
    expectLegal(env, env.run('random', { beliefs: [0.1, 0.5, 0.9] }));
  }

  it('refuses a damaged body with a correct checksum and changes nothing, or loads legal states', () => {
    const outcomes = { refused: 0, legal: 0 };
    for (let i = 0; i < BODIES / 10; i++) {
      const env = environments[i % environments.length];
      if (i < environments.length || random.chance(0.02)) advanceRandomly(random, env);
      const damaged = withChecksum(damage(random, env.snapshot()));
      const result = currentOutputs(env);
      const before = envColumns(env, result);
      let loaded: StepResult;
      try {
        loaded = env.restore(damaged);
      } catch {
        outcomes.refused++;
        expectRefusal(() => env.restore(damaged), 'bad_snapshot');
        expectEqual(before, envColumns(env, result), 'after a refusal:');
        continue;
      }
      outcomes.legal++;
      playToEnd(env, loaded);
      advanceRandomly(random, env);
    }
    expect(Math.min(outcomes.refused, outcomes.legal)).toBeGreaterThan(BODIES / 50);
  });
});
