/** The browser's door: no module of Node's behind it, and the same episodes through it. */
import { createContext, runInContext } from 'node:vm';
import { type BuildResult, build } from 'esbuild';
import { beforeAll, describe, expect, it } from 'vitest';
import * as browser from '../../src/browser.js';
import * as node from '../../src/index.js';

const ROOT = new URL('../..', import.meta.url).pathname;

type Reached = BuildResult<{ write: false; metafile: true }>;

/** All that can be reached from a module of ours, as a browser's bundler finds it: it knows no module of Node's. */
const reach = (entryPoint: string, globalName?: string): Promise<Reached> =>
  build({
    absWorkingDir: ROOT,
    entryPoints: [entryPoint],
    bundle: true,
    write: false,
    metafile: true,
    platform: 'browser',
    format: 'iife',
    globalName,
    logLevel: 'silent',
  });

/** What browsers and Node both have, and the language has not. */
const SHARED = {
  crypto,
  TextEncoder,
  TextDecoder,
  AbortController,
  AbortSignal,
  MessageChannel,
  structuredClone,
};

describe('what is reached', () => {
  let reached: Reached;
  beforeAll(async () => {
    reached = await reach('src/browser.ts', 'rhythm');
  });

  it('is modules of ours and packages that are for browsers too', () => {
    const { inputs, outputs } = reached.metafile;
    const paths = Object.keys(inputs);
    // What a bundler would leave for the platform to find.
    expect(Object.values(outputs).flatMap(({ imports }) => imports)).toEqual([]);
    expect(
      Object.values(inputs).flatMap(({ imports }) => imports.filter(({ external }) => external)),
    ).toEqual([]);
    expect(paths).toContain('src/engine/reference/rules.ts');
    const ours = paths.filter((path) => !path.startsWith('node_modules/'));
    expect(ours.every((path) => path.startsWith('src/'))).toBe(true);
    expect(ours.length).toBeGreaterThan(60);
    expect(ours.filter((path) => /native|addon|node\.ts|\/cli\//.test(path))).toEqual([]);
  });

  it('plays where there is nothing of Node', async () => {
    const context = createContext({ ...SHARED });
    expect(
      runInContext('typeof process + typeof require + typeof Buffer + typeof setImmediate', context),
    ).toBe('undefined'.repeat(4));
    runInContext(reached.outputFiles[0].text, context);
    const play = `(async () => {
      const env = rhythm.createVecEnv({ numEnvs: 20000 });
      env.reset({ seed: 5 });
      const scores = env.run('random').finalScores.slice();
      const other = await rhythm.createAsyncVecEnv({ numEnvs: 20000 });
      await other.reset({ seed: 5 });
      const seen = [];
      const result = await other.run('random', { onProgress: (done) => seen.push(done) });
      const bytes = await other.snapshot();
      return { scores, same: result.finalScores.every((score, i) => score === scores[i]), seen, bytes };
    })()`;
    const { scores, same, seen, bytes } = await runInContext(play, context);
    expect(same).toBe(true);
    expect([...seen]).toEqual([16_384, 20_000]);
    const env = node.createVecEnv({ numEnvs: 20_000 });
    env.reset({ seed: 5 });
    expect(env.run('random').finalScores).toEqual(Float32Array.from(scores));
    expect(env.restore(Uint8Array.from(bytes)).finalScores).toEqual(Float32Array.from(scores));
  });
});

it('rolls out and scores replays as Node does', async () => {
  const options = { seeds: [3, 4], groupSize: 2, policy: 'random' } as const;
  expect(await browser.rolloutGroups(options)).toEqual(await node.rolloutGroups(options));
  const refused = browser.rolloutGroups({ ...options, backend: 'native' });
  await expect(refused).rejects.toThrow(/one of auto, reference, got "native"/);
  const rows = [{ seed: 5, actionHistory: [1, 2], action: 'sleep', belief: [0.1, 0.5, 0.9] }];
  expect(browser.scoreReplay(rows)).toEqual(node.scoreReplay(rows));
  expect(() => browser.scoreReplay(rows, { backend: 'native' })).toThrow(/one of auto, reference/);
});

it('a module of Node that is reached is seen', async () => {
  await expect(reach('src/index.ts')).rejects.toThrow(/Could not resolve "node:/);
});

it('has what Node has, but for what reads files or searches for long', () => {
  const missing = Object.keys(node).filter((name) => !(name in browser));
  expect(missing.sort()).toEqual([
    'Planner',
    'audit',
    'evaluate',
    'searchActionSequence',
    'searchActionSequences',
  ]);
  expect(Object.keys(browser).filter((name) => !(name in node))).toEqual([]);
});

it('lists what a browser can use', async () => {
  expect(browser.listBackends()).toEqual([{ name: 'reference', available: true }]);
  expect(await browser.listAsyncBackends()).toContainEqual({ name: 'reference', available: true });
  expect(() => browser.createVecEnv({ numEnvs: 1, backend: 'native' })).toThrow(
    /one of auto, reference, got "native"/,
  );
  await expect(browser.createAsyncVecEnv({ numEnvs: 1, kernel: 'avx2' })).rejects.toThrow(/no kernel/);
});
