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

function anyScene(random: Random): EnvShape {
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

/** Returns the step with an illegal action in one environment that steps; null if none steps. */
function spoilt(random: Random, call: Call, { envs: slots }: NaiveEnv): [wrong: StepCall, ErrorCode] | null {
  if (call.kind !== 'step') return null;
  const steps = Array.from(slots.keys()).filter((i) => call.mask?.[i] !== 0 && !slots[i].episode.terminated);
  if (steps.length === 0) return null;
  const slot = random.pick(steps);
  if (random.chance(0.5))
    return [{ ...call, actions: put(call.actions, slot, NUM_ACTIONS) }, 'illegal_action'];
  const beliefs = call.beliefs ?? new Float32Array(slots.length * NUM_BELIEFS);
  return [{ ...call, beliefs: put(beliefs, slot * NUM_BELIEFS, Number.POSITIVE_INFINITY) }, 'bad_belief'];
}

describe.each(AUTORESET_MODES)('%s', (mode) => {
  it.each(ENGINES)('$name equals the naive environment, call by call', (engine) => {
    forAll(12, (random) => {
      const scene = anyScene(random);
      const naive = new NaiveEnv(mode, scene);
      using env = openIn(random, engine, scene, mode);
      for (let call: Call = randomReset(random, scene), t = 0; t < 120; t++) {
        naive.applyCall(call);
        expectEqual(naive.columns(), envColumns(env, applyCall(env, call)), `call ${t}, ${call.kind}:`);
        call = randomCall(random, scene, naive.finished);
      }
      expect(naive.episodes).toBeGreaterThan(0);
    });
  });

  it.each(ENGINES)('$name continues after a refused step as if there had been none', (engine) => {
    forAll(6, (random) => {
      const scene = anyScene(random);
      const naive = new NaiveEnv(mode, scene);
      using env = openIn(random, engine, scene, mode);
      const reset = randomReset(random, scene);
      naive.applyCall(reset);
      let result = applyCall(env, reset);
      for (let t = 0; t < 80; t++) {
        const call = randomCall(random, scene, naive.finished);
        const wrong = spoilt(random, call, naive);
        if (wrong !== null) {
          expectUnchanged(env, result, () => expectRefusal(() => applyCall(env, wrong[0]), wrong[1]));
        }
        naive.applyCall(call);
        result = applyCall(env, call);
        expectEqual(naive.columns(), envColumns(env, result), `call ${t}, ${call.kind}:`);
      }
    });
  });
});
