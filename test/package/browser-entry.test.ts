/** The entry point for browsers: it imports no module of Node, and computes the same episodes as the entry point for Node. */
import { createContext, runInContext } from 'node:vm';
import { type BuildResult, build } from 'esbuild';
import { beforeAll, describe, expect, it } from 'vitest';
import * as browser from '../../src/browser.js';
import * as node from '../../src/index.js';

const ROOT = new URL('../..', import.meta.url).pathname;

type Bundle = BuildResult<{ write: false; metafile: true }>;

/** Bundles an entry point for browsers. Rejects if it imports a module of Node, directly or indirectly. */
const bundleOf = (entryPoint: string, globalName?: string): Promise<Bundle> =>
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

/** Globals of browsers and Node that are not part of the language. */
const SHARED = {
  crypto,
  TextEncoder,
  TextDecoder,
  AbortController,
  AbortSignal,
  MessageChannel,
  structuredClone,
};

describe('the bundle', () => {
  let bundle: Bundle;
  beforeAll(async () => {
    bundle = await bundleOf('src/browser.ts', 'rhythm');
  });

  it('contains no external import, and no module of a Node backend or of the command line', () => {
    const { inputs, outputs } = bundle.metafile;
    const paths = Object.keys(inputs);
    // The bundler leaves an import in the output only if it cannot resolve it.
    expect(Object.values(outputs).flatMap(({ imports }) => imports)).toEqual([]);
    expect(
      Object.values(inputs).flatMap(({ imports }) => imports.filter(({ external }) => external)),
    ).toEqual([]);
    expect(paths).toContain('src/engine/reference/rules.ts');
    const sources = paths.filter((path) => !path.startsWith('node_modules/'));
    expect(sources.every((path) => path.startsWith('src/'))).toBe(true);
    // Chosen by hand: the check below needs a list that is not nearly empty.
    expect(sources.length).toBeGreaterThan(60);
    expect(sources.filter((path) => /native|addon|node\.ts|\/cli\//.test(path))).toEqual([]);
  });

  it('computes the same episodes as Node, without the globals of Node', async () => {
    const context = createContext({ ...SHARED });
    expect(
      runInContext('typeof process + typeof require + typeof Buffer + typeof setImmediate', context),
    ).toBe('undefined'.repeat(4));
    runInContext(bundle.outputFiles[0].text, context);
    const play = `(async () => {
      const env = rhythm.createVecEnv({ numEnvs: 1000 });
      env.reset({ seed: 5 });
      const scores = env.run('random').finalScores.slice();
      const other = await rhythm.createAsyncVecEnv({ numEnvs: 1000 });
      await other.reset({ seed: 5 });
      const result = await other.run('random');
      const bytes = await other.snapshot();
      const large = await rhythm.createAsyncVecEnv({ numEnvs: 20000 });
      await large.reset({ seed: 5 });
      const progress = [];
      await large.run('random', { stops: new Uint8Array(20000).fill(1), onProgress: (done) => progress.push(done) });
      return { scores, same: result.finalScores.every((score, i) => score === scores[i]), progress, bytes };
    })()`;
    const { scores, same, progress, bytes } = await runInContext(play, context);
    expect(same).toBe(true);
    // A run reports its progress after each slice of 16,384 environments.
    expect([...progress]).toEqual([16_384, 20_000]);
    const env = node.createVecEnv({ numEnvs: 1000 });
    env.reset({ seed: 5 });
    expect(env.run('random').finalScores).toEqual(Float32Array.from(scores));
    expect(env.restore(Uint8Array.from(bytes)).finalScores).toEqual(Float32Array.from(scores));
  });
});

it('rolloutGroups and scoreReplay give the same results as in Node, and refuse the native backend', async () => {
  const options = { seeds: [3, 4], groupSize: 2, policy: 'random' } as const;
  expect(await browser.rolloutGroups(options)).toEqual(await node.rolloutGroups(options));
  const refused = browser.rolloutGroups({ ...options, backend: 'native' });
  await expect(refused).rejects.toThrow(/one of auto, webgpu, wasm, reference, got "native"/);
  const rows = [{ seed: 5, actionHistory: [1, 2], action: 'sleep', belief: [0.1, 0.5, 0.9] }];
  expect(browser.scoreReplay(rows)).toEqual(node.scoreReplay(rows));
  expect(() => browser.scoreReplay(rows, { backend: 'native' })).toThrow(/one of auto, wasm, reference/);
});

it('bundling for browsers fails if the entry point imports a module of Node', async () => {
  await expect(bundleOf('src/index.ts')).rejects.toThrow(/Could not resolve "node:/);
});

it('the entry point for browsers lacks only these exports of the entry point for Node, and has no others', () => {
  const missing = Object.keys(node).filter((name) => !(name in browser));
  expect(missing.sort()).toEqual([
    'AsyncPlanner',
    'Planner',
    'anchorsOf',
    'audit',
    'builtin',
    'createAsyncPlanner',
    'evaluate',
    'searchActionSequence',
    'searchActionSequences',
    'shippedAnchors',
  ]);
  expect(Object.keys(browser).filter((name) => !(name in node))).toEqual([]);
});

it('the entry point for browsers lists the backends of browsers, and refuses others', async () => {
  expect(browser.listBackends()).toEqual(['wasm', 'reference'].map((name) => ({ name, available: true })));
  expect(await browser.listAsyncBackends()).toContainEqual({ name: 'reference', available: true });
  expect(() => browser.createVecEnv({ numEnvs: 1, backend: 'native' })).toThrow(
    /one of auto, wasm, reference, got "native"/,
  );
  await expect(browser.createAsyncVecEnv({ numEnvs: 1, kernel: 'avx2' })).rejects.toThrow(/no kernel/);
});
