/**
 * The WebGPU backend in a real Chromium: what a page shows of the golden set and of ragged stories has the digests that
 * the reference's has in Node.
 */
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { NUM_STEPS } from '../src/world/fields.js';
import { bundleFor, bundleOf } from './browser/bundle.js';
import { ChromiumPage, whyAbsent } from './browser/chromium.js';
import type { PageApi, Plant } from './browser/page.js';
import type { Row } from './browser/scores.js';
import { goldenStory, raggedStory, type Told } from './browser/stories.js';
import type { Scene } from './browser/story.js';
import { digestsOf } from './browser/story.js';
import { differences } from './support/bits.js';
import { episodes, tables } from './support/golden.js';

const bundle = bundleFor('test/browser/page.ts');

describe('what the page is made of', () => {
  it('is one file that imports nothing, and nothing of Node', () => {
    expect(bundle.imports).toEqual([]);
    expect(bundle.text).not.toMatch(/['"`]node:/);
    expect(bundle.files).toContain('src/backends/webgpu/backend.ts');
    expect(bundle.files.filter((file) => file.includes('node_modules/webgpu/'))).toEqual([]);
  });

  it('cannot be made of modules of Node', () => {
    expect(() => bundleOf("import { cpus } from 'node:os'; cpus();")).toThrow('Could not resolve "node:os"');
    expect(() => bundleOf("export * from './src/backends/native.js';")).toThrow('Could not resolve "node:');
  });
});

const SCENE: Scene = {
  name: 'rows',
  numEnvs: 45,
  imagination: false,
  layout: { columnMajor: false, finalObservations: false },
};
const COLUMNS: Scene = {
  name: 'columns',
  numEnvs: 130,
  imagination: true,
  layout: { columnMajor: true, finalObservations: true },
};

/** In the evening nobody is a night owl any more. */
const PLANT: Plant = { file: 'rules.wgsl', rule: 'slot_of_day > 1u', instead: 'slot_of_day > 2u' };

/** All the short tables, and a long one of 10,000 episodes for each policy. */
const ROWS = Object.entries(tables).filter(([name]) => !/^large.*v1$|^large.*none/.test(name));

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

const absent = await whyAbsent();
if (absent !== null) test.skip(`absent here: WebGPU in Chromium: ${absent}`, () => {});

describe.skipIf(absent !== null)('in Chromium', () => {
  let page: ChromiumPage<PageApi>;
  beforeAll(async () => {
    page = await ChromiumPage.open<PageApi>(bundle.text);
  }, 90_000);
  afterAll(() => page?.close(), 60_000);

  it('has nothing of Node, and a device that has shown to be exact', async () => {
    expect(await page.call('globalsOfNode')).toEqual([]);
    const device = await page.call('device', SCENE, null, false);
    expect(device).toEqual({ adapter: expect.stringMatching(/swiftshader/i), software: true, exact: true });
  });

  /** Where the page's story is another than the reference's: the move, the column and the entry. */
  async function differing({ story, expected }: Told, plant: Plant | null = null): Promise<string[]> {
    const got = await page.call('play', story, plant);
    expect(got.length).toBe(expected.length);
    const lines: string[] = [];
    for (const [at, seen] of expected.entries()) {
      const digests = digestsOf(seen);
      expect(Object.keys(got[at])).toEqual(Object.keys(digests));
      for (const name of Object.keys(digests).filter((key) => got[at][key] !== digests[key])) {
        const column = await page.call('column', at, name);
        const where = `move ${at}, ${story.moves[at].kind}:`;
        lines.push(
          ...differences({ [name]: seen[name] }, { [name]: column }).map((line) => `${where} ${line}`),
        );
      }
    }
    return lines;
  }

  it.each([false, true])(
    'lives the golden episodes, step by step and fused (imagination: %s)',
    async (imagination) => {
      const told = await goldenStory(imagination);
      const played = episodes.filter((episode) => episode.imagination === imagination);
      for (let t = 0; t < NUM_STEPS; t++) {
        const hashes = played.map(({ steps }) => BigInt(`0x${steps[t].state_hash}`));
        expect(told.expected[t].hash).toEqual(BigUint64Array.from(hashes));
      }
      expect(await differing(told)).toEqual([]);
    },
  );

  it.each([SCENE, COLUMNS])('lives a ragged story in $name', async (scene) => {
    expect(await differing(await raggedStory(scene))).toEqual([]);
  });

  it('scores the golden tables', async () => {
    const digests: Record<string, string> = {};
    for (const [name] of ROWS) digests[name] = (await page.call('scores', rowOf(name))).slice(0, 16);
    expect(digests).toEqual(Object.fromEntries(ROWS.map(([name, { digest }]) => [name, digest])));
  });

  describe('with a rule that is not the world’s', () => {
    it('refuses to open', async () => {
      await expect(page.call('device', SCENE, PLANT, false)).rejects.toThrow(
        /bit for bit, got .*swiftshader.*, where \d+ of 384 differ.*allowInexact/is,
      );
    });

    it('opens if that is allowed, says so, and shows other digests', async () => {
      expect(await page.call('device', SCENE, PLANT, true)).toMatchObject({ exact: false });
      const lines = await differing(await raggedStory(SCENE), PLANT);
      expect(lines[0]).toMatch(/^move \d+, \w+: \w+\[\d+\]: .* against .*, \d+ of \d+ differ$/);
    });
  });
});
