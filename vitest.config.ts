/** The projects of Vitest. CONTRIBUTING.md says which tests each one has. */
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

/** Tests load `src` from here: compiled modules run 1.5 times as fast as modules that Vitest transforms. */
const DIST = fileURLToPath(new URL('dist/', import.meta.url));

/** Tests that compare engines at the backend interface: `unit` runs them without a device, `gpu` with one. */
const ACROSS_ENGINES = ['changed-world', 'golden', 'metamorphic', 'mutation', 'one-seed', 'one-step'];
const ACROSS_BATCHES = ['async-backend', 'batch-masks', 'gather', 'save-load'];

const testsOf = (folder: string): string => `test/${folder}/**/*.test.ts`;

/** Long tests. `unit` has shorter ones of the same code. */
const LONG = [
  'test/agents/inference/{inference,posterior}.test.ts',
  'test/agents/llm/{hostile-endpoints,play-episodes,retries}.test.ts',
  'test/engine/mutation.test.ts',
  'test/engine/backends/wasm.test.ts',
  'test/engine/vec-env/{allocation,out-of-memory,sliced-runs,worker-threads}.test.ts',
  'test/evaluation/audit/{audit,audit-exploits}.test.ts',
  'test/evaluation/{every-engine,tutorial}.test.ts',
  testsOf('training/hub'),
  'test/web/learns-from-planner.test.ts',
];

/** The tests of further projects, which `unit` leaves out. */
const OTHERS: Readonly<Record<string, string[]>> = {
  long: LONG,
  cli: ['cli', 'docs', 'examples', 'fakes', 'figures', 'package', 'report', 'bench'].map(testsOf),
  server: [testsOf('server')],
  python: [testsOf('python')],
};
const webgpu = [testsOf('engine/backends/webgpu'), 'test/**/on-webgpu.test.ts'];
const browser = testsOf('browser');
const quick = {
  include: ['test/**/*.test.ts'],
  exclude: [...webgpu, browser, ...Object.values(OTHERS).flat()],
};
const gpu = [
  ...webgpu,
  ...ACROSS_ENGINES.map((name) => `test/engine/${name}.test.ts`),
  ...ACROSS_BATCHES.map((name) => `test/engine/backends/${name}.test.ts`),
  'test/engine/vec-env/run.test.ts',
  'test/{evaluation,cli}/every-engine.test.ts',
];

/** The tests of `server` except test/server/queue/kills.test.ts, which `soak` repeats. */
const NOT_SOAKED = [
  'test/server/!(queue)/**/*.test.ts',
  'test/server/*.test.ts',
  'test/server/queue/!(kills).test.ts',
];

/**
 * `test:all` runs all of these except `soak`, which makes four times the full number of random draws. RHYTHM_SKIP names the
 * engines that a project leaves out: see test/support/required.ts.
 */
const projects = [
  { name: 'unit', ...quick, isolate: false, env: { RHYTHM_SKIP: 'webgpu' } },
  { name: 'gpu', include: gpu, isolate: false, env: { RHYTHM_SKIP: 'kernels' } },
  { name: 'browser', include: [browser], globalSetup: 'test/support/web/global-setup.ts', isolate: false },
  ...Object.entries(OTHERS).map(([name, include]) => ({
    ...{ name, include, exclude: webgpu, isolate: false },
    ...(name !== 'server' && { globalSetup: 'test/support/python.ts' }),
    env: { RHYTHM_SKIP: 'webgpu' },
  })),
  {
    name: 'soak',
    ...quick,
    exclude: [
      ...quick.exclude.filter((path) => !LONG.includes(path) && path !== testsOf('server')),
      ...NOT_SOAKED,
    ],
    env: { RHYTHM_DRAWS: '4', RHYTHM_SKIP: 'webgpu' },
  },
];

export default defineConfig({
  resolve: {
    alias: [
      { find: /^rhythm-vec$/, replacement: `${DIST}index.js` },
      { find: /^(?:\.\.\/)+src\//, replacement: DIST },
    ],
  },
  test: {
    server: { deps: { external: [/\/dist\//] } },
    globalSetup: 'test/support/compiled.ts',
    setupFiles: 'test/support/typed-arrays.ts',
    maxWorkers: '100%',
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // Equal to LIMIT of test/support/web/visit.ts, the limit of other waits for a page.
    expect: { poll: { timeout: 90_000 } },
    projects: projects.map((project) => ({ extends: true as const, test: project })),
  },
});
