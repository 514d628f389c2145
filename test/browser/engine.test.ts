/**
 * Tests the WebGPU backend in Chromium: the golden episodes and random call sequences give the same digests as on the
 * reference in Node.
 */
import { afterAll, beforeAll, describe, expect, inject, it, test } from 'vitest';
import { NUM_STEPS } from '../../src/world/fields.js';
import { differences } from '../support/bits.js';
import { bundleFor, bundleOf } from '../support/chromium/bundle.js';
import type { BatchSetup } from '../support/chromium/call-sequence.js';
import { digestsOf } from '../support/chromium/call-sequence.js';
import { ChromiumPage } from '../support/chromium/chromium.js';
import {
  type ExpectedSequence,
  goldenCallSequence,
  mixedCallSequence,
} from '../support/chromium/drawn-sequences.js';
import type { PageApi, Shaders } from '../support/chromium/page.js';
import type { Row } from '../support/chromium/scores.js';
import { episodes, tables } from '../support/golden.js';

const bundle = bundleFor('test/support/chromium/page.ts');

describe('the bundle of the page', () => {
  it('is one file without imports and without modules of Node', () => {
    expect(bundle.imports).toEqual([]);
    expect(bundle.text).not.toMatch(/['"`]node:/);
    expect(bundle.files).toContain('src/engine/backends/webgpu/webgpu-backend.ts');
    expect(bundle.files.filter((file) => file.includes('node_modules/webgpu/'))).toEqual([]);
  });

  it('cannot include modules of Node', () => {
    expect(() => bundleOf("import { cpus } from 'node:os'; cpus();")).toThrow('Could not resolve "node:os"');
    expect(() => bundleOf("export * from './src/engine/backends/native.js';")).toThrow(
      'Could not resolve "node:',
    );
  });
});

// Numbers of environments chosen by hand: neither is a multiple of TILE (buffer-layout.ts), so the last tile is not full.
const ROWS_SETUP: BatchSetup = {
  name: 'rows',
  numEnvs: 45,
  imagination: false,
  layout: { columnMajor: false, finalObservations: false },
};
const COLUMNS_SETUP: BatchSetup = {
  name: 'columns',
  numEnvs: 130,
  imagination: true,
  layout: { columnMajor: true, finalObservations: true },
};

/**
 * Golden tables, each of one condition, policy, belief and grader: all of in-distribution, and one of each other condition.
 * The project `gpu` compares all tables.
 */
const ROWS = Object.entries(tables).filter(([name]) => /^in-distribution|heuristic.constant.v3$/.test(name));

function rowOf(name: string): Row {
  const [condition, policy, belief, grader] = name.split('/');
  return {
    numEnvs: tables[name].n,
    firstSeed: { 'in-distribution': 0, ood: 10000, large: 20000 }[condition] ?? 0,
    profile: condition.split(':')[1] ?? 'sampled',
    ...{ grader, policy: policy as Row['policy'] },
    belief: belief === 'constant' ? [0.5, 0.5, 0.5] : null,
  };
}

const absent = inject('whyNoChromium');
if (absent !== null) test.skip(`absent here: WebGPU in Chromium: ${absent}`, () => {});

describe.skipIf(absent !== null)('in Chromium', () => {
  let page: ChromiumPage<PageApi>;
  beforeAll(async () => {
    page = await ChromiumPage.open<PageApi>(bundle.text);
  }, 90_000);
  afterAll(() => page?.close(), 60_000);

  it('has no globals of Node, and its device computes the exact bits', async () => {
    expect(await page.call('globalsOfNode')).toEqual([]);
    const device = await page.call('device', ROWS_SETUP, 'correct', false);
    expect(device).toEqual({ adapter: expect.stringMatching(/swiftshader/i), software: true, exact: true });
  });

  /** Returns the differences between the page's outputs and the reference's. Each names a call, a column and an entry. */
  async function differing(
    { sequence, expected }: ExpectedSequence,
    shaders: Shaders = 'correct',
  ): Promise<string[]> {
    const results = await page.call('play', sequence, shaders);
    expect(results.length).toBe(expected.length);
    const lines: string[] = [];
    for (const [at, outputs] of expected.entries()) {
      const digests = digestsOf(outputs);
      expect(Object.keys(results[at])).toEqual(Object.keys(digests));
      for (const name of Object.keys(digests).filter((key) => results[at][key] !== digests[key])) {
        const column = await page.call('column', at, name);
        const where = `call ${at}, ${sequence.calls[at].kind}:`;
        lines.push(
          ...differences({ [name]: outputs[name] }, { [name]: column }).map((line) => `${where} ${line}`),
        );
      }
    }
    return lines;
  }

  it.each([false, true])('steps and runs the golden episodes (imagination: %s)', async (imagination) => {
    const golden = await goldenCallSequence(imagination);
    const goldenEpisodes = episodes.filter((episode) => episode.imagination === imagination);
    for (let t = 0; t < NUM_STEPS; t++) {
      const hashes = goldenEpisodes.map(({ steps }) => BigInt(`0x${steps[t].state_hash}`));
      expect(golden.expected[t].hash).toEqual(BigUint64Array.from(hashes));
    }
    expect(await differing(golden)).toEqual([]);
  });

  it.each([ROWS_SETUP, COLUMNS_SETUP])('plays a random call sequence ($name)', async (setup) => {
    expect(await differing(await mixedCallSequence(setup))).toEqual([]);
  });

  it('computes the digests of golden tables', async () => {
    const digests: Record<string, string> = {};
    for (const [name] of ROWS) digests[name] = (await page.call('scores', rowOf(name))).slice(0, 16);
    expect(digests).toEqual(Object.fromEntries(ROWS.map(([name, { digest }]) => [name, digest])));
  });

  // The project `gpu` tests that the backend detects shaders with one wrong rule.
  describe('with shaders that do nothing', () => {
    it('refuses to open', async () => {
      await expect(page.call('device', ROWS_SETUP, 'empty', false)).rejects.toThrow(
        /bit for bit, got .*swiftshader.*, where \d+ of 384 differ.*allowInexact/is,
      );
    });

    it('opens with allowInexact, is reported as inexact, and gives other digests', async () => {
      expect(await page.call('device', ROWS_SETUP, 'empty', true)).toMatchObject({ exact: false });
      const { sequence, expected } = await mixedCallSequence(ROWS_SETUP);
      const first = {
        sequence: { ...sequence, calls: sequence.calls.slice(0, 1) },
        expected: expected.slice(0, 1),
      };
      const [line] = await differing(first, 'empty');
      expect(line).toMatch(/^call 0, reset: \w+\[\d+\]: .* and .*, \d+ of \d+ differ$/);
    });
  });
});
