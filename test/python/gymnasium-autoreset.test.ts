/**
 * Row by row against Gymnasium's SyncVectorEnv, around an environment that counts: its observation is the step and the
 * last action, its reward 1, its episodes as long as ours.
 *
 * Slots get out of phase by masked resets, which Gymnasium has too. What it does not have is compared in autoreset.test.ts
 * alone: masks of a step, resets of nobody, `run`, grades, and seeds of the episodes that autoreset begins.
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

/** `next-step` as Gymnasium spells it. */
const pascal = (mode: AutoresetMode): string =>
  mode.replace(/(?:^|-)(.)/g, (_, letter) => letter.toUpperCase());

/** Steps and masked resets. Where nothing begins by itself, whoever is over is reset before the next step. */
function anyStory(mode: AutoresetMode, name: string): CallSequence {
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

/** All slots in phase, to and over their ends. */
const inPhase = (mode: AutoresetMode, times: number): CallSequence => ({
  mode: pascal(mode),
  calls: [
    { reset: 7, mask: null },
    ...Array.from({ length: times }, (_, t) => ({ step: Array(N).fill(t % 10) })),
  ],
});

/** The same call of ours. */
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

/** What ours returned, as Gymnasium's row of the same call is written: any reward but 0 stands for 1. */
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
if (absent !== null) test.skip(`against Gymnasium: NOT COMPARED here: ${absent}`, () => {});

describe.runIf(absent === null).each(AUTORESET_MODES)('%s', (mode) => {
  const stories = ['a', 'b', 'c'].map((name) => anyStory(mode, `${mode} ${name}`));
  stories.push(inPhase(mode, mode === 'disabled' ? NUM_STEPS : 3 * NUM_STEPS + 3));
  const answers = absent === null ? traceGymnasium(N, NUM_STEPS, stories) : [];

  it.each(ENGINES)('$name shows what Gymnasium shows', (engine) => {
    for (const [k, { calls }] of stories.entries()) {
      using env = openOn(engine, { numEnvs: N, autoreset: mode });
      expect(pascal(env.metadata.autoresetMode)).toBe(answers[k].mode);
      const rows = calls.map((call) => rowOf(env, call, make(env, call)));
      expect(rows).toEqual(answers[k].rows);
      expect(env.counters.episodes).toBeGreaterThan(0);
    }
  });

  it.each(ENGINES)('$name says in finalMask where Gymnasium ended an episode', (engine) => {
    for (const [k, { calls }] of stories.entries()) {
      using env = openOn(engine, { numEnvs: N, autoreset: mode });
      const ended = calls.map((call) => flags(make(env, call).finalMask));
      const rows = answers[k].rows as Row[];
      expect(ended).toEqual(rows.map(({ terminated }) => terminated ?? Array(N).fill(false)));
    }
  });
});

describe.runIf(absent === null)('a step after the end, where nothing begins by itself', () => {
  const story = inPhase('disabled', NUM_STEPS + 1);
  const [answer] = absent === null ? traceGymnasium(N, NUM_STEPS, [story]) : [];

  it.each(ENGINES)('$name refuses it as Gymnasium does', (engine) => {
    using env = openOn(engine, { numEnvs: N });
    const last = story.calls.length - 1;
    for (const call of story.calls.slice(0, last)) make(env, call);
    expect((answer.rows[last] as Refused).refused).toBe('AssertionError');
    // Gymnasium has then stepped the slots before the one that is over; here nobody has moved.
    expectRefusal(() => make(env, story.calls[last]), 'episode_over');
  });
});
