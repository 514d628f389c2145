/**
 * Tests the package in Chromium: on WebGPU and in WebAssembly, random calls return the bits of the reference in Node, and golden
 * tables have their digests. Students play as in Node. The project `gpu` compares the backend in depth.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { STUDENT_NAMES } from '../../src/agents/student/packaged-students.js';
import { type AsyncVecEnvOptions, createAsyncVecEnv } from '../../src/index.js';
import { bundleFor } from '../support/chromium/bundle.js';
import { ChromiumPage } from '../support/chromium/chromium.js';
import type { PageApi, Table } from '../support/chromium/page.js';
import { playCalls } from '../support/chromium/played-calls.js';
import { tables } from '../support/golden.js';
import { EVALUATION_SEEDS, playStudent } from '../support/student-episodes.js';
import { describeInChromium } from '../support/web/visits.js';

// Numbers of environments chosen by hand: neither is a multiple of TILE (buffer-layout.ts), so the last tile is not full.
const SETUPS: AsyncVecEnvOptions[] = [
  { numEnvs: 45, autoreset: 'next-step' },
  { numEnvs: 130, autoreset: 'same-step', imagination: true, layout: 'column-major' },
];

const BACKENDS = ['webgpu', 'wasm'] as const;

/**
 * Golden tables, each of one condition, policy, belief and grader: all of in-distribution, and one of each other condition.
 * The project `gpu` compares all tables.
 */
const TABLES = Object.entries(tables).filter(([name]) =>
  /^in-distribution|heuristic.constant.v3$/.test(name),
);

function tableOf(name: string): Table {
  const [condition, policy, belief, grader] = name.split('/');
  return {
    numEnvs: tables[name].n,
    firstSeed: { 'in-distribution': 0, ood: 10000, large: 20000 }[condition] ?? 0,
    profile: condition.split(':')[1] ?? 'sampled',
    ...{ grader, policy: policy as Table['policy'] },
    belief: belief === 'constant' ? [0.5, 0.5, 0.5] : null,
  };
}

describeInChromium('WebGPU', 'in Chromium', () => {
  let page: ChromiumPage<PageApi>;
  beforeAll(async () => {
    page = await ChromiumPage.open<PageApi>(bundleFor('test/support/chromium/page.ts'));
  }, 90_000);
  afterAll(() => page?.close(), 60_000);

  it('the page has no globals of Node, and its device computes the exact bits', async () => {
    expect(await page.call('globalsOfNode')).toEqual([]);
    const adapter = expect.stringMatching(/swiftshader/i);
    expect(await page.call('device')).toEqual({ adapter, software: true, exact: true });
  });

  it.each(SETUPS)('random calls return the bits of the reference ($numEnvs, $autoreset)', async (setup) => {
    const lines = await playCalls(createAsyncVecEnv, { ...setup, backend: 'reference' });
    for (const backend of BACKENDS)
      expect(await page.call('playCalls', { ...setup, backend })).toEqual(lines);
    // The compared columns must be varied. The bound is chosen by hand.
    expect(new Set(lines.map((line) => line.split(': ')[2])).size).toBeGreaterThan(200);
  });

  it.each(BACKENDS)('golden tables have their digests, %s', async (backend) => {
    const digests: Record<string, string> = {};
    for (const [name] of TABLES)
      digests[name] = (await page.call('digestOfScores', backend, tableOf(name))).slice(0, 16);
    expect(digests).toEqual(Object.fromEntries(TABLES.map(([name, { digest }]) => [name, digest])));
  });

  it('students take the same actions and state the same beliefs as in Node', async () => {
    const seeds = EVALUATION_SEEDS.slice(0, 40);
    for (const name of STUDENT_NAMES) {
      const played = await page.call('playStudent', name, seeds);
      expect(played).toEqual(await playStudent(name, seeds));
      expect(new Set(played.actions).size).toBeGreaterThan(5);
    }
  });
});
