/** Opening, closing and disposal of environments, and what stays usable after close. */
import { describe, expect, it } from 'vitest';
import type { VecEnv } from '../../../src/engine/node.js';
import { STATE_WORDS } from '../../../src/world/fields.js';
import { copyColumns, expectEqual } from '../../support/bits.js';
import { runChild } from '../../support/child.js';
import { NATIVE, openOn, TWO_ENGINES } from '../../support/engines.js';
import { expectRefusal } from '../../support/refusals.js';

const N = 3;

describe.each(TWO_ENGINES)('$name', (engine) => {
  it('views, counters and properties stay readable after close', () => {
    // Encoded observations and final observations have memory of their own.
    const env = openOn(engine, { numEnvs: N, autoreset: 'same-step', observation: { history: true } });
    const { observations, finalObservations, truncated, rewards } = env.reset({ seed: 5 });
    const { seeds, episodeNumbers } = env;
    const own = { observations, finalObservations: finalObservations! };
    const views = { ...own, truncated, rewards, seeds, episodeNumbers };
    env.run('heuristic');
    const { counters } = env;
    const before = copyColumns(views);
    env.close();
    expectEqual(before, copyColumns(views));
    expect([env.counters, env.numEnvs, env.metadata.autoresetMode]).toEqual([counters, N, 'same-step']);
  });

  it('using and await using close an environment, at the end of the block and when it throws', async () => {
    const opened: VecEnv[] = [];
    const open = () => {
      opened.push(openOn(engine, { numEnvs: N }));
      return opened[opened.length - 1];
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
    expect(opened).toHaveLength(3);
    for (const env of opened) expectRefusal(() => env.reset(), 'closed');
  });

  it('many environments can be open, and closed in any order or never', () => {
    const environments = Array.from({ length: 30 }, (_, i) => openOn(engine, { numEnvs: i + 1 }));
    for (const env of environments) env.reset({ seed: 1 });
    const first = environments.map((env) => env.stateHash()[0]);
    for (const env of environments.slice(10).reverse()) env.close();
    expect(environments.slice(0, 10).map((env) => env.stateHash()[0])).toEqual(first.slice(0, 10));
    expect(new Set(first).size).toBe(1);
  });

  it('hundreds of refused calls of createVecEnv exhaust no resource', () => {
    for (let i = 0; i < 200; i++) {
      expect(() => openOn(engine, { numEnvs: 1, grader: 'v9' })).toThrow();
      expect(() => openOn(engine, { numEnvs: 1, threads: 0 })).toThrow();
    }
  });
});

describe.each(NATIVE.slice(0, 1))('native', ({ kernel }) => {
  // AddressSanitizer keeps freed memory, so resident memory does not show what is freed.
  it.skipIf('ASAN_OPTIONS' in process.env)(
    'close of both APIs frees the states at once (not under ASan)',
    () => {
      // In a process of its own: after tests that free much memory, the allocator keeps memory for later use.
      const { status, output, stderr } = runChild(`
      import { createAsyncVecEnv, createVecEnv } from './dist/engine/node.js';
      const freed = [];
      for (const create of [createVecEnv, createAsyncVecEnv]) {
        const env = await create({ numEnvs: ${2 ** 18}, backend: 'native', kernel: '${kernel}' });
        await env.reset({ seed: 1 });
        const before = process.memoryUsage.rss();
        await env.close();
        freed.push(before - process.memoryUsage.rss());
      }
      print(freed);
    `);
      expect([status, stderr]).toEqual([0, '']);
      // The share of 0.9 is chosen by hand, because other memory of the process changes too.
      for (const bytes of output as number[]) expect(bytes).toBeGreaterThan(0.9 * 2 ** 18 * STATE_WORDS * 4);
    },
  );

  it.skipIf('ASAN_OPTIONS' in process.env)(
    'unreferenced batches that were not closed are collected (not under ASan)',
    () => {
      // The memory of the batches alone must trigger collections. New outputs for each batch would trigger them too, so all
      // batches share their outputs. The collector runs without threads of its own, which are too slow on a busy machine.
      const { status, output, stderr } = runChild(
        `
      import { loadAddon } from './dist/engine/backends/addon.js';
      import { allocateOutputs } from './dist/engine/backends/outputs.js';
      import { STATE_WORDS } from './dist/world/fields.js';
      import { createWorld } from './dist/world/world.js';
      const [n, batches] = [2 ** 14, 200];
      const { Batch } = loadAddon();
      const [{ words }, outputs] = [createWorld(), allocateOutputs(n)];
      const before = process.memoryUsage().rss;
      for (let i = 0; i < batches; i++) {
        new Batch('${kernel}', words, false, n, 1, outputs);
        await new Promise(setImmediate);
      }
      print((1024 * process.resourceUsage().maxRSS - before) / (batches * n * STATE_WORDS * 4));`,
        {},
        ['--single-threaded-gc'],
      );
      expect(status, stderr).toBe(0);
      // The memory in use never reached half of the memory of all batches.
      expect(output).toBeLessThan(0.5);
    },
  );
});
