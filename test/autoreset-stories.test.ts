/** Long stories of steps, resets and runs with ragged masks, against an array of episodes and a loop over them. */
import { describe, expect, it } from 'vitest';
import type { ErrorCode } from '../src/errors.js';
import { AUTORESET_MODES, type AutoresetMode } from '../src/validate/autoreset-modes.js';
import { NUM_ACTIONS, NUM_BELIEFS } from '../src/world/fields.js';
import { put } from './support/bad-calls.js';
import { expectEqual } from './support/bits.js';
import { anyCall, anyReset, type Call, make, type Scene, type StepCall } from './support/calls.js';
import { ENGINES, type Engine, openOn } from './support/engines.js';
import { NaiveEnv } from './support/naive-env.js';
import { forAll, type Random } from './support/random.js';
import { expectRefusal } from './support/refusals.js';
import { expectUnchanged, visible } from './support/unchanged.js';

function anyScene(random: Random): Scene {
  const numEnvs = random.pick([1, 3, 16, 19]);
  const low = random.pick([0, 100, 2 ** 32 - 40]);
  return { numEnvs, seedRange: [low, random.pick([1, numEnvs, 40])] };
}

const openIn = (random: Random, engine: Engine, { numEnvs, seedRange }: Scene, autoreset: AutoresetMode) =>
  openOn(engine, {
    numEnvs,
    seedRange,
    autoreset,
    layout: random.pick(['row-major', 'column-major']),
    threads: 1,
  });

/** The same step, wrong in one slot that takes it; null if none does. */
function spoilt(random: Random, call: Call, { slots }: NaiveEnv): [wrong: StepCall, ErrorCode] | null {
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
      for (let call: Call = anyReset(random, scene), t = 0; t < 120; t++) {
        naive.make(call);
        expectEqual(naive.see(), visible(env, make(env, call)), `call ${t}, ${call.kind}:`);
        call = anyCall(random, scene, naive.stuck);
      }
      expect(naive.episodes).toBeGreaterThan(0);
    });
  });

  it.each(ENGINES)('$name goes on after a refused step as if it had not been', (engine) => {
    forAll(6, (random) => {
      const scene = anyScene(random);
      const naive = new NaiveEnv(mode, scene);
      using env = openIn(random, engine, scene, mode);
      const reset = anyReset(random, scene);
      naive.make(reset);
      let result = make(env, reset);
      for (let t = 0; t < 80; t++) {
        const call = anyCall(random, scene, naive.stuck);
        const wrong = spoilt(random, call, naive);
        if (wrong !== null) {
          expectUnchanged(env, result, () => expectRefusal(() => make(env, wrong[0]), wrong[1]));
        }
        naive.make(call);
        result = make(env, call);
        expectEqual(naive.see(), visible(env, result), `call ${t}, ${call.kind}:`);
      }
    });
  });
});
