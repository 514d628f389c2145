/** The state machine of an environment: which call is allowed before a reset, while open, at the end, and closed. */
import { describe, expect, it } from 'vitest';
import { StateError } from '../src/errors.js';
import type { VecEnv } from '../src/vec-env.js';
import { ENGINES, type Engine, openOn } from './support/engines.js';
import { expectRefusal } from './support/refusals.js';

const N = 3;
type State = 'fresh' | 'open' | 'finished' | 'closed';
const STATES: readonly State[] = ['fresh', 'open', 'finished', 'closed'];

const CALLS: Record<string, (env: VecEnv) => unknown> = {
  reset: (env) => env.reset({ seed: 1 }),
  step: (env) => env.step(new Uint8Array(N)),
  'step with options that are wrong': (env) => env.step(new Uint8Array(N), { belief: 1 } as object),
  run: (env) => env.run('heuristic'),
  'run of a tape': (env) => env.run(new Uint8Array(N * 28)),
  beliefTargets: (env) => env.beliefTargets(),
  stateHash: (env) => env.stateHash(),
  close: (env) => env.close(),
  dispose: (env) => env[Symbol.dispose](),
};

/** What each call does in each state; '' is success. A run of finished episodes has nothing left to do. */
const TABLE: Record<string, Record<State, string>> = {
  reset: { fresh: '', open: '', finished: '', closed: 'closed' },
  step: { fresh: 'not_reset', open: '', finished: 'episode_over', closed: 'closed' },
  'step with options that are wrong': {
    fresh: 'not_reset',
    open: 'unknown_option',
    finished: 'unknown_option',
    closed: 'closed',
  },
  run: { fresh: 'not_reset', open: '', finished: '', closed: 'closed' },
  'run of a tape': { fresh: 'not_reset', open: '', finished: '', closed: 'closed' },
  beliefTargets: { fresh: 'not_reset', open: '', finished: '', closed: 'closed' },
  stateHash: { fresh: 'not_reset', open: '', finished: '', closed: 'closed' },
  close: { fresh: '', open: '', finished: '', closed: '' },
  dispose: { fresh: '', open: '', finished: '', closed: '' },
};

function bring(engine: Engine, state: State): VecEnv {
  const env = openOn(engine, { numEnvs: N });
  if (state !== 'fresh') env.reset({ seed: 5 });
  if (state === 'finished' || state === 'closed') env.run('random');
  if (state === 'closed') env.close();
  return env;
}

function outcome(call: () => unknown): string {
  try {
    call();
    return '';
  } catch (error) {
    return (error as StateError).code;
  }
}

describe.each(ENGINES)('$name', (engine) => {
  it.each(Object.entries(TABLE))('%s', (name, expected) => {
    const got = STATES.map((state) => [state, outcome(() => CALLS[name](bring(engine, state)))]);
    expect(Object.fromEntries(got)).toEqual(expected);
  });

  it('every refusal of a state says what to do', () => {
    for (const [name, call] of Object.entries(CALLS)) {
      for (const state of STATES) {
        const code = TABLE[name][state];
        if (code !== '') expectRefusal(() => call(bring(engine, state)), code as StateError['code']);
      }
    }
  });

  it('views outlive the environment', () => {
    const env = openOn(engine, { numEnvs: N });
    env.reset({ seed: 5 });
    const { observations, terminated, finalScores } = { ...env.run('heuristic'), ...env.reset({ seed: 5 }) };
    const kept = observations.slice();
    env.close();
    expect(observations).toEqual(kept);
    expect([terminated.length, finalScores.length]).toEqual([N, N]);
  });

  it('many open, closed in any order, or never', () => {
    const environments = Array.from({ length: 30 }, (_, i) => openOn(engine, { numEnvs: i + 1 }));
    for (const env of environments) env.reset({ seed: 1 });
    const first = environments.map((env) => env.stateHash()[0]);
    for (const env of environments.slice(10).reverse()) env.close();
    expect(environments.slice(0, 10).map((env) => env.stateHash()[0])).toEqual(first.slice(0, 10));
    expect(new Set(first).size).toBe(1);
  });

  it('an output buffer that was transferred away is named', () => {
    const env = openOn(engine, { numEnvs: N });
    const { observations } = env.reset({ seed: 5 });
    const buffer = observations.buffer as ArrayBuffer;
    structuredClone(buffer, { transfer: [buffer] });
    for (const call of [CALLS.step, CALLS.reset, CALLS.run, CALLS.stateHash]) {
      expectRefusal(() => call(env), 'outputs_detached', 'transfer');
    }
    expect(() => env.close()).not.toThrow();
  });

  it('refused construction leaves nothing open', () => {
    for (let i = 0; i < 200; i++) {
      expect(() => openOn(engine, { numEnvs: 1, grader: 'v9' })).toThrow();
      expect(() => openOn(engine, { numEnvs: 1, threads: 0 })).toThrow();
    }
    expect(StateError.prototype).toBeInstanceOf(Error);
  });
});
