/** Invalid arguments are refused on every engine, and nothing changes. */
import { describe, expect, it } from 'vitest';
import { NUM_STEPS } from '../../../src/world/fields.js';
import { beliefs, legalActions, N, put, RESET, RUN, STEP } from '../../support/bad-calls.js';
import { START } from '../../support/bad-starts.js';
import { ENGINES, openOn } from '../../support/engines.js';
import { expectRefusal } from '../../support/refusals.js';
import { expectUnchanged } from '../../support/unchanged.js';

describe.each(ENGINES)('$name', (engine) => {
  describe.each(Object.entries({ step: STEP, reset: RESET, start: START, run: RUN }))('%s', (_, cases) => {
    it.each(cases)('refuses %s', (_, call, code, ...mentions) => {
      using env = openOn(engine, { numEnvs: N });
      env.reset({ seed: 7 });
      const result = env.step(legalActions, { beliefs: beliefs(0, 0.1, 0.2, 0.3) });
      expectUnchanged(env, result, () => expectRefusal(() => call(env), code, ...mentions));
    });
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
