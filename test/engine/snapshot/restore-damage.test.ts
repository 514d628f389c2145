/** `restore` refuses a damaged snapshot and changes nothing, or loads states that can be played to the end. */
import { describe, expect, it } from 'vitest';
import type { VecEnv } from '../../../src/engine/node.js';
import { HEADER_LENGTH } from '../../../src/engine/snapshot/format.js';
import { checkStates } from '../../../src/engine/snapshot/legal-states.js';
import { AUTORESET_MODES } from '../../../src/engine/validate/autoreset-modes.js';
import type { StepResult } from '../../../src/engine/vec-env/vec-env-options.js';
import { COMPONENT_FIELDS, NUM_STEPS } from '../../../src/world/fields.js';
import { copyOutputs } from '../../support/bits.js';
import { advanceRandomly, finishedEnvs, randomStep, stateWords } from '../../support/call-sequences.js';
import { openOn, TWO_ENGINES } from '../../support/engines.js';
import { drawsOf, Random } from '../../support/random.js';
import { expectRefusal } from '../../support/refusals.js';
import { damage, fieldAt, withByte, withChecksum } from '../../support/snapshots.js';
import { expectUnchanged } from '../../support/unchanged.js';

const N = 5;
/** The number of damaged bodies for each engine. */
const BODIES = drawsOf(900);

/** Expects finite numbers; observations, scores and components within their bounds; and legal states. */
function expectLegal(env: VecEnv, result: StepResult): void {
  const columns = copyOutputs(result);
  for (const [name, column] of Object.entries(columns)) {
    expect(Array.from(column as Float32Array).every(Number.isFinite), name).toBe(true);
  }
  const { low, high } = env.observationSpace;
  const inside = Array.from(
    columns.observations as Float32Array,
    (x, at) => x >= low[at % low.length] && x <= high[at % low.length],
  );
  expect(inside.every(Boolean)).toBe(true);
  for (const score of [...result.finalScores, ...result.beliefMae]) {
    expect(score >= 0 && score <= 1).toBe(true);
  }
  result.components.forEach((component, at) => {
    const { low, high } = COMPONENT_FIELDS[at % COMPONENT_FIELDS.length];
    expect(component >= low && component <= high).toBe(true);
  });
  checkStates(stateWords(env), N, env.world);
}

describe.each(TWO_ENGINES)('restore on $name', (engine) => {
  const random = new Random(`damage ${engine.name}`);
  const environments = AUTORESET_MODES.map((autoreset) => openOn(engine, { numEnvs: N, autoreset }));
  const [env] = environments;
  const result = advanceRandomly(random, env);
  const bytes = env.snapshot();

  it('refuses a change of any byte of the header', () => {
    expectUnchanged(env, result, () => {
      for (let at = 0; at < HEADER_LENGTH; at++) {
        for (const value of [bytes[at] ^ 1, bytes[at] ^ 0x80, bytes[at] ^ 0xff]) {
          expectRefusal(() => env.restore(withByte(bytes, at, value)), 'bad_snapshot');
        }
      }
    });
  });

  it('refuses a change of any byte of the header with a correct checksum, except in counters', () => {
    const accepted = new Set<string>();
    const fresh = openOn(engine, { numEnvs: N });
    for (let at = 0; at < HEADER_LENGTH; at++) {
      for (const value of [bytes[at] ^ 1, bytes[at] ^ 0x80, bytes[at] ^ 0xff]) {
        const damaged = withChecksum(withByte(bytes, at, value));
        try {
          fresh.restore(damaged);
          accepted.add(fieldAt(at));
        } catch {
          expectRefusal(() => fresh.restore(damaged), 'bad_snapshot');
        }
      }
    }
    // `withChecksum` repairs damage to the checksum itself.
    expect([...accepted].sort()).toEqual(['checksum', 'episodes', 'steps']);
  });

  it('refuses a snapshot that is cut off or one byte too long', () => {
    expectUnchanged(env, result, () => {
      // Tests every seventh length, to save time.
      for (let length = 0; length < bytes.length; length += 7) {
        expectRefusal(() => env.restore(bytes.subarray(0, length)), 'bad_snapshot');
      }
      const longer = new Uint8Array(bytes.length + 1);
      longer.set(bytes);
      expectRefusal(() => env.restore(longer), 'bad_snapshot');
    });
  });

  /** Takes 28 random steps, then plays the episodes to the end. Expects legal states before, between and after. */
  function playToEnd(other: VecEnv, loaded: StepResult): void {
    expectLegal(other, loaded);
    let latest = loaded;
    for (let t = 0; t < NUM_STEPS; t++) {
      const finished = finishedEnvs(latest);
      const { actions, options } = randomStep(random, other, finished);
      latest = other.step(actions, options);
    }
    expectLegal(other, latest);
    expectLegal(other, other.run('random', { beliefs: [0.1, 0.5, 0.9] }));
  }

  it('refuses a damaged body with a correct checksum, or loads legal states', () => {
    const outcomes = { refused: 0, legal: 0 };
    for (let i = 0; i < BODIES; i++) {
      const other = environments[i % environments.length];
      if (i < environments.length || random.chance(0.02)) advanceRandomly(random, other);
      const before = stateWords(other);
      const damaged = withChecksum(damage(random, other.snapshot()));
      let loaded: StepResult;
      try {
        loaded = other.restore(damaged);
      } catch {
        expectRefusal(() => other.restore(damaged), 'bad_snapshot');
        expect(Buffer.compare(Buffer.from(before.buffer), Buffer.from(stateWords(other).buffer))).toBe(0);
        outcomes.refused++;
        continue;
      }
      playToEnd(other, loaded);
      advanceRandomly(random, other);
      outcomes.legal++;
    }
    // Both outcomes must be frequent. The share is chosen by hand.
    expect(Math.min(outcomes.refused, outcomes.legal)).toBeGreaterThan(BODIES / 5);
  });
});
