/**
 * Compares long random call sequences with the naive environment: an array of episodes and a loop over it. Refused calls, and
 * bytes that the caller writes into views, change no episode.
 */
import { describe, expect, it } from 'vitest';
import type { VecEnv } from '../../../src/engine/node.js';
import { AUTORESET_MODES, type AutoresetMode } from '../../../src/engine/vec-env/autoreset.js';
import type { StepResult } from '../../../src/engine/vec-env/vec-env-options.js';
import type { ErrorCode } from '../../../src/shared/errors.js';
import { NUM_ACTIONS, NUM_BELIEFS, NUM_STEPS } from '../../../src/world/fields.js';
import { put } from '../../support/bad-calls.js';
import { type Columns, expectEqual } from '../../support/bits.js';
import {
  applyCall,
  type Call,
  type EnvShape,
  randomCall,
  randomReset,
  type StepCall,
} from '../../support/calls.js';
import { type Engine, openOn, TWO_ENGINES } from '../../support/engines.js';
import { NaiveEnv } from '../../support/naive-env.js';
import { forAll, type Random } from '../../support/random.js';
import { expectRefusal } from '../../support/refusals.js';
import { envColumns, expectUnchanged, outputColumns } from '../../support/unchanged.js';

const U32 = 2 ** 32;

/** Ranges of seeds: [low, size]; null for a range that is drawn, often a small one. */
const RANGES = [null, [0, U32], null, [2 ** 31, 2 ** 31], [1, U32 - 1]] as const;

/** Draws a shape. Each draw of each mode takes the next range, so that few draws have all of them. */
function randomShape(random: Random, mode: AutoresetMode, draw: number): EnvShape {
  const numEnvs = random.pick([1, 3, 16, 19]);
  const drawn = [random.pick([0, 100, U32 - 40]), random.pick([1, numEnvs, 40])] as const;
  return { numEnvs, seedRange: RANGES[(3 * AUTORESET_MODES.indexOf(mode) + draw) % RANGES.length] ?? drawn };
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
  it.each(TWO_ENGINES)('$name equals the naive environment after each call, also refused ones', (engine) => {
    let draws = 0;
    forAll(18, (random) => {
      const shape = randomShape(random, mode, draws++);
      const naive = new NaiveEnv(mode, shape);
      using env = openIn(random, engine, shape, mode);
      const refuses = draws % 3 === 0;
      let call: Call = randomReset(random, shape);
      for (let t = 0; t < 120; t++) {
        naive.applyCall(call);
        const result = applyCall(env, call);
        expectEqual(naive.columns(), envColumns(env, result), `call ${t}, ${call.kind}:`);
        call = randomCall(random, shape, naive.finished);
        const invalid = refuses ? withInvalidArgument(random, call, naive) : null;
        if (invalid === null) continue;
        expectUnchanged(env, result, () => expectRefusal(() => applyCall(env, invalid[0]), invalid[1]));
      }
      expect(naive.episodes).toBeGreaterThan(0);
    });
  });

  it.each(TWO_ENGINES)(
    'on $name, bytes written into the views of results change no episode and no copy',
    (engine) => {
      forAll(10, (random) => {
        const shape: EnvShape = { numEnvs: 5, seedRange: [100, 12] };
        const observation = random.pick([undefined, { history: true }]);
        const naive = new NaiveEnv(mode, shape);
        const [clean, written] = [1, 2].map(() => openOn(engine, { ...shape, autoreset: mode, observation }));
        let call: Call = randomReset(random, shape);
        for (let t = 0; t < 90; t++) {
          naive.applyCall(call);
          applyCall(clean, call);
          overwrite(random, applyCall(written, call));
          expectEqual(statesOf(clean), statesOf(written), `call ${t}, ${call.kind}:`);
          call = randomCall(random, shape, naive.finished);
        }
        const order = random.permutation(5);
        const forks = [clean, written].map((env) => env.fork(order));
        clean.assign(clean, order);
        overwrite(random, written.assign(written, order));
        for (const pair of [forks, [clean, written]]) {
          for (const env of pair) env.run('heuristic');
          expectEqual(statesOf(pair[0]), statesOf(pair[1]), 'copies:');
          for (const env of pair) env.close();
        }
      });
    },
  );
});

/** Writes random bytes into every view of a result. */
function overwrite(random: Random, result: StepResult): void {
  for (const view of Object.values(result)) {
    if (!ArrayBuffer.isView(view)) continue;
    const bytes = new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
    bytes.set(random.bytes(bytes.length, 0, 255));
  }
}

/** Returns the states and properties of an environment without the outputs, which are overwritten. */
const statesOf = (env: VecEnv): Columns => ({ ...outputColumns(env, null), snapshot: env.snapshot() });

describe.each(TWO_ENGINES)('$name', (engine) => {
  it.each(['same-step', 'next-step'] as const)(
    '%s: next episodes keep the numbers of profiles and graders, and after a reset without them the defaults',
    (autoreset) => {
      forAll(6, (random) => {
        const numEnvs = 5;
        const defaults = { numEnvs, profiles: 'workaholic_stoic', grader: 'v1' };
        const [env, fresh] = [openOn(engine, { ...defaults, autoreset }), openOn(engine, defaults)];
        for (const choice of [{ profiles: random.profiles(numEnvs), graders: random.graders(numEnvs) }, {}]) {
          env.reset({ seed: random.seeds(numEnvs), ...choice });
          env.run('heuristic', { stops: new Uint8Array(numEnvs).fill(NUM_STEPS - 1) });
          for (let t = 0; t < (autoreset === 'same-step' ? 1 : 2); t++) env.step(new Uint8Array(numEnvs));
          fresh.reset({ seed: env.seeds, ...choice });
          const [expected, got] = [fresh, env].map((each) => {
            const { finalScores } = each.run('random', { beliefs: [0.1, 0.5, 0.9] });
            return { finalScores: finalScores.slice(), targets: each.beliefTargets() };
          });
          expectEqual(expected, got);
        }
      });
    },
  );
});
