/** Compares long random call sequences with the naive environment: an array of episodes and a loop over it. */
import { describe, expect, it } from 'vitest';
import { AUTORESET_MODES, type AutoresetMode } from '../../../src/engine/validate/autoreset-modes.js';
import type { ErrorCode } from '../../../src/shared/errors.js';
import { NUM_ACTIONS, NUM_BELIEFS } from '../../../src/world/fields.js';
import { put } from '../../support/bad-calls.js';
import { expectEqual } from '../../support/bits.js';
import {
  applyCall,
  type Call,
  type EnvShape,
  randomCall,
  randomReset,
  type StepCall,
} from '../../support/calls.js';
import { ENGINES, type Engine, openOn } from '../../support/engines.js';
import { NaiveEnv } from '../../support/naive-env.js';
import { forAll, type Random } from '../../support/random.js';
import { expectRefusal } from '../../support/refusals.js';
import { envColumns, expectUnchanged } from '../../support/unchanged.js';

function randomShape(random: Random): EnvShape {
  const numEnvs = random.pick([1, 3, 16, 19]);
  const low = random.pick([0, 100, 2 ** 32 - 40]);
  return { numEnvs, seedRange: [low, random.pick([1, numEnvs, 40])] };
}

const openIn = (random: Random, engine: Engine, { numEnvs, seedRange }: EnvShape, autoreset: AutoresetMode) =>
  openOn(engine, {
    numEnvs,
    seedRange,
    autoreset,
    layout: random.pick(['row-major', 'column-major']),
    threads: 1,
  });

/** Returns the step with an invalid action or belief in one environment that steps; null if no environment steps. */
function withInvalidArgument(
  random: Random,
  call: Call,
  { envs }: NaiveEnv,
): [invalid: StepCall, ErrorCode] | null {
  if (call.kind !== 'step') return null;
  const steps = Array.from(envs.keys()).filter((i) => call.mask?.[i] !== 0 && !envs[i].episode.terminated);
  if (steps.length === 0) return null;
  const index = random.pick(steps);
  if (random.chance(0.5))
    return [{ ...call, actions: put(call.actions, index, NUM_ACTIONS) }, 'illegal_action'];
  const beliefs = call.beliefs ?? new Float32Array(envs.length * NUM_BELIEFS);
  return [{ ...call, beliefs: put(beliefs, index * NUM_BELIEFS, Number.POSITIVE_INFINITY) }, 'bad_belief'];
}

describe.each(AUTORESET_MODES)('%s', (mode) => {
  it.each(ENGINES)('$name equals the naive environment, call by call', (engine) => {
    forAll(12, (random) => {
      const shape = randomShape(random);
      const naive = new NaiveEnv(mode, shape);
      using env = openIn(random, engine, shape, mode);
      for (let call: Call = randomReset(random, shape), t = 0; t < 120; t++) {
        naive.applyCall(call);
        expectEqual(naive.columns(), envColumns(env, applyCall(env, call)), `call ${t}, ${call.kind}:`);
        call = randomCall(random, shape, naive.finished);
      }
      expect(naive.episodes).toBeGreaterThan(0);
    });
  });

  it.each(ENGINES)('$name equals the naive environment after refused steps', (engine) => {
    forAll(6, (random) => {
      const shape = randomShape(random);
      const naive = new NaiveEnv(mode, shape);
      using env = openIn(random, engine, shape, mode);
      const reset = randomReset(random, shape);
      naive.applyCall(reset);
      let result = applyCall(env, reset);
      for (let t = 0; t < 80; t++) {
        const call = randomCall(random, shape, naive.finished);
        const invalid = withInvalidArgument(random, call, naive);
        if (invalid !== null) {
          expectUnchanged(env, result, () => expectRefusal(() => applyCall(env, invalid[0]), invalid[1]));
        }
        naive.applyCall(call);
        result = applyCall(env, call);
        expectEqual(naive.columns(), envColumns(env, result), `call ${t}, ${call.kind}:`);
      }
    });
  });
});
