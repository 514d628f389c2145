/** From opening to closing: what outlives an environment, and who disposes of it. */
import { describe, expect, it } from 'vitest';
import type { VecEnv } from '../src/vec-env.js';
import { copies, expectEqual } from './support/bits.js';
import { ENGINES, openOn } from './support/engines.js';
import { expectRefusal } from './support/refusals.js';

const N = 3;

describe.each(ENGINES)('$name', (engine) => {
  it('views outlive the environment', () => {
    // Encoded observations and final ones have memory of their own.
    const env = openOn(engine, { numEnvs: N, autoreset: 'same-step', observation: { history: true } });
    const { observations, finalObservations, truncated, rewards } = env.reset({ seed: 5 });
    const { seeds, episodeNumbers } = env;
    const views = {
      observations,
      finalObservations: finalObservations!,
      truncated,
      rewards,
      seeds,
      episodeNumbers,
    };
    env.run('heuristic');
    const { counters } = env;
    const kept = copies(views);
    env.close();
    expectEqual(kept, copies(views));
    expect([env.counters, env.numEnvs, env.metadata.autoresetMode]).toEqual([counters, N, 'same-step']);
  });

  it('closing twice is closing once, and so is disposing of what was closed', async () => {
    const env = openOn(engine, { numEnvs: N });
    env.close();
    env.close();
    env[Symbol.dispose]();
    await env[Symbol.asyncDispose]();
    expectRefusal(() => env.reset(), 'closed', 'Create');
  });

  it('using and await using close, at the end of the block and when it throws', async () => {
    const left: VecEnv[] = [];
    const open = () => {
      left.push(openOn(engine, { numEnvs: N }));
      return left[left.length - 1];
    };
    {
      using env = open();
      env.reset();
    }
    {
      await using env = open();
      env.reset();
    }
    const thrower = () => {
      using env = open();
      env.step([0, 0, 0]);
    };
    expectRefusal(thrower, 'not_reset');
    expect(left).toHaveLength(3);
    for (const env of left) expectRefusal(() => env.reset(), 'closed');
  });

  it('disposing from within a run is refused, later or at once', async () => {
    using env = openOn(engine, { numEnvs: N });
    env.reset();
    let disposal: Promise<void> | undefined;
    const onProgress = () => {
      expectRefusal(() => env[Symbol.dispose](), 'busy');
      disposal = env[Symbol.asyncDispose]();
    };
    env.run('random', { onProgress });
    await expect(disposal).rejects.toMatchObject({ code: 'busy' });
    env.reset();
  });

  it('many open, closed in any order, or never', () => {
    const environments = Array.from({ length: 30 }, (_, i) => openOn(engine, { numEnvs: i + 1 }));
    for (const env of environments) env.reset({ seed: 1 });
    const first = environments.map((env) => env.stateHash()[0]);
    for (const env of environments.slice(10).reverse()) env.close();
    expect(environments.slice(0, 10).map((env) => env.stateHash()[0])).toEqual(first.slice(0, 10));
    expect(new Set(first).size).toBe(1);
  });

  it('refused construction leaves nothing open', () => {
    for (let i = 0; i < 200; i++) {
      expect(() => openOn(engine, { numEnvs: 1, grader: 'v9' })).toThrow();
      expect(() => openOn(engine, { numEnvs: 1, threads: 0 })).toThrow();
    }
  });
});
