/** Invalid arguments are refused on every engine, and nothing changes. */
import { describe, expect, it } from 'vitest';
import type { InputError } from '../../../src/shared/errors.js';
import { NUM_STEPS } from '../../../src/world/fields.js';
import { beliefs, legalActions, N, put, RESET, RUN, START, STEP } from '../../support/bad-calls.js';
import { openOn, TWO_ENGINES } from '../../support/engines.js';
import { expectRefusal, refusalOf } from '../../support/refusals.js';
import { expectUnchanged } from '../../support/unchanged.js';

type Env = ReturnType<typeof openOn>;

describe.each(TWO_ENGINES)('$name', (engine) => {
  describe.each(Object.entries({ step: STEP, reset: RESET, start: START, run: RUN }))('%s', (_, cases) => {
    it.each(cases)('refuses %s', (_, call, code, ...mentions) => {
      using env = openOn(engine, { numEnvs: N });
      env.reset({ seed: 7 });
      const result = env.step(legalActions, { beliefs: beliefs(0, 0.1, 0.2, 0.3) });
      expectUnchanged(env, result, () => expectRefusal(() => call(env), code, ...mentions));
    });
  });

  it.each<[what: string, call: (env: Env) => unknown, field: string, row: number | undefined]>([
    ['an action', (env) => env.step(put(new Int32Array(N), 3, 99)), 'actions', 3],
    ['a belief', (env) => env.step(legalActions, { beliefs: beliefs(5, Infinity, 0, 0) }), 'beliefs', 5],
    ['a seed', (env) => env.reset({ seed: put(new Float64Array(N), 2, -1) }), 'seed', 2],
    ['an unknown profile', (env) => env.reset({ profiles: 'nobody' }), 'profiles', undefined],
    ['an unknown grader', (env) => env.reset({ graders: 'v9' }), 'graders', undefined],
    ['an unknown option', (env) => env.step(legalActions, { beleifs: null } as never), 'beleifs', undefined],
  ])('the error of %s has the field and row as data', (_, call, field, row) => {
    using env = openOn(engine, { numEnvs: N });
    env.reset({ seed: 7 });
    const error = refusalOf(() => call(env)) as InputError;
    expect([error.field, error.row]).toEqual([field, row]);
  });

  it('an error about several arguments has no field', () => {
    const error = refusalOf(() => openOn(engine, { numEnvs: N }).step(legalActions)) as InputError;
    expect([error.field, error.row]).toEqual([undefined, undefined]);
  });

  it('a step after the end is refused, and the grades do not change', () => {
    using env = openOn(engine, { numEnvs: N });
    const result = env.reset({ seed: 7 });
    env.run('heuristic', { stops: put(new Uint8Array(N), 4, NUM_STEPS) });
    expectUnchanged(env, result, () =>
      expectRefusal(() => env.step(legalActions), 'episode_over', 'environment 4', '28'),
    );
    env.run('heuristic');
    expectUnchanged(env, result, () =>
      expectRefusal(() => env.step(legalActions), 'episode_over', 'environment 0', 'reset'),
    );
    expect(result.terminated.every((over) => over === 1)).toBe(true);
  });

  it('refused calls do not change later results', () => {
    const [one, other] = [1, 2].map(() => openOn(engine, { numEnvs: N }));
    for (const env of [one, other]) env.reset({ seed: 3 });
    for (const [, call] of [...STEP, ...RESET, ...START, ...RUN]) expect(() => call(one)).toThrow();
    const [a, b] = [one, other].map((env) => env.run('random', { beliefs: [0.2, 0.4, 0.6] }));
    expect(a).toEqual(b);
    expect(one.stateHash()).toEqual(other.stateHash());
    one.close();
    other.close();
  });
});
