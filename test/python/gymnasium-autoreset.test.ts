/**
 * Compares autoreset, call by call, with Gymnasium's SyncVectorEnv. The environments in SyncVectorEnv only count: the
 * observation is the step and the last action, the reward is 1, and episodes have 28 steps.
 *
 * Masked resets bring the environments out of phase. test/engine/vec-env/autoreset.test.ts tests the features that Gymnasium
 * lacks: step masks, resets of no environment, `run`, grades, and seeds of the episodes that autoreset begins.
 */
import { describe, expect, it, test } from 'vitest';
import type { VecEnv } from '../../src/engine/node.js';
import { AUTORESET_MODES, type AutoresetMode } from '../../src/engine/validate/autoreset-modes.js';
import type { StepResult } from '../../src/engine/vec-env/vec-env-options.js';
import { NUM_ACTIONS, NUM_STEPS, OBSERVATION, OBSERVATION_SIZE } from '../../src/world/fields.js';
import { ENGINES, openOn } from '../support/engines.js';
import {
  type Call,
  type CallSequence,
  type Refused,
  type Row,
  traceGymnasium,
  whyAbsent,
} from '../support/gymnasium.js';
import { Random } from '../support/random.js';
import { expectRefusal } from '../support/refusals.js';

const N = 5;
const CALLS = 200;

/** Returns the name of a mode in Gymnasium, such as NextStep. */
const pascal = (mode: AutoresetMode): string =>
  mode.replace(/(?:^|-)(.)/g, (_, letter) => letter.toUpperCase());

/** Returns random steps and masked resets. Without autoreset, finished environments are reset before the next step. */
function randomCalls(mode: AutoresetMode, name: string): CallSequence {
  const random = new Random(name);
  const steps = Array<number>(N).fill(0);
  const calls: Call[] = [{ reset: 100, mask: null }];
  while (calls.length < CALLS) {
    const over = steps.map((step) => mode === 'disabled' && step === NUM_STEPS);
    if (over.includes(true) || random.chance(0.05)) {
      const mask = over.map((must, i) => must || i === calls.length % N || random.chance(0.1));
      calls.push({ reset: random.integer(0, 1000), mask });
      for (const i of steps.keys()) if (mask[i]) steps[i] = 0;
    } else {
      calls.push({ step: steps.map(() => random.integer(0, NUM_ACTIONS - 1)) });
      for (const i of steps.keys()) steps[i]++;
    }
  }
  return { mode: pascal(mode), calls };
}

/** Returns steps of environments that are in phase. */
const inPhase = (mode: AutoresetMode, times: number): CallSequence => ({
  mode: pascal(mode),
  calls: [
    { reset: 7, mask: null },
    ...Array.from({ length: times }, (_, t) => ({ step: Array(N).fill(t % 10) })),
  ],
});

/** Makes a call on a VecEnv. */
function make(env: VecEnv, call: Call): StepResult {
  if ('step' in call) return env.step(call.step);
  return env.reset({ seed: call.reset, ...(call.mask && { mask: call.mask }) });
}

const pairs = (rows: Float32Array): number[][] =>
  Array.from({ length: N }, (_, i) => {
    const row = rows.subarray(i * OBSERVATION_SIZE, (i + 1) * OBSERVATION_SIZE);
    return [row[OBSERVATION.step], row[OBSERVATION.lastAction]];
  });
const flags = (bytes: Uint8Array): boolean[] => Array.from(bytes, (byte) => byte !== 0);

/** Returns the result of a call in the form of Gymnasium's row. A reward other than 0 becomes 1. */
function rowOf(env: VecEnv, call: Call, result: StepResult): Row {
  const { observations, finalObservations, finalMask, rewards, terminated, truncated } = result;
  const isStep = 'step' in call;
  const final = finalObservations === null ? null : pairs(finalObservations);
  return {
    observations: pairs(observations),
    rewards: isStep ? Array.from(rewards, (reward) => Number(reward !== 0)) : null,
    terminated: isStep ? flags(terminated) : null,
    truncated: isStep ? flags(truncated) : null,
    finalObservations: Array.from(finalMask, (ended, i) => (ended && final ? final[i] : null)),
    seeds: Array.from(env.seeds, (seed, i) =>
      !isStep && (call.mask === null || call.mask[i]) ? seed : null,
    ),
  };
}

const absent = whyAbsent();
if (absent !== null) test.skip(`Gymnasium: NOT COMPARED here: ${absent}`, () => {});

describe.runIf(absent === null).each(AUTORESET_MODES)('%s', (mode) => {
  const sequences = ['a', 'b', 'c'].map((name) => randomCalls(mode, `${mode} ${name}`));
  sequences.push(inPhase(mode, mode === 'disabled' ? NUM_STEPS : 3 * NUM_STEPS + 3));
  const answers = absent === null ? traceGymnasium(N, NUM_STEPS, sequences) : [];

  it.each(ENGINES)('$name returns what Gymnasium returns', (engine) => {
    for (const [k, { calls }] of sequences.entries()) {
      using env = openOn(engine, { numEnvs: N, autoreset: mode });
      expect(pascal(env.metadata.autoresetMode)).toBe(answers[k].mode);
      const rows = calls.map((call) => rowOf(env, call, make(env, call)));
      expect(rows).toEqual(answers[k].rows);
      expect(env.counters.episodes).toBeGreaterThan(0);
    }
  });

  it.each(ENGINES)('$name has finalMask where Gymnasium ends an episode', (engine) => {
    for (const [k, { calls }] of sequences.entries()) {
      using env = openOn(engine, { numEnvs: N, autoreset: mode });
      const ended = calls.map((call) => flags(make(env, call).finalMask));
      const rows = answers[k].rows as Row[];
      expect(ended).toEqual(rows.map(({ terminated }) => terminated ?? Array(N).fill(false)));
    }
  });
});

describe.runIf(absent === null)('a step after the end, without autoreset', () => {
  const sequence = inPhase('disabled', NUM_STEPS + 1);
  const [answer] = absent === null ? traceGymnasium(N, NUM_STEPS, [sequence]) : [];

  it.each(ENGINES)('$name refuses it as Gymnasium does', (engine) => {
    using env = openOn(engine, { numEnvs: N });
    const last = sequence.calls.length - 1;
    for (const call of sequence.calls.slice(0, last)) make(env, call);
    expect((answer.rows[last] as Refused).refused).toBe('AssertionError');
    expectRefusal(() => make(env, sequence.calls[last]), 'episode_over');
  });
});
