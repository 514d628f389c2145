/**
 * The tables of docs/speed.md are those of the recorded runs of the bench. They list no software adapter, which emulates a GPU on
 * the processor.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { drawPeers } from '../../bench/peers/figure.js';
import { fileFor } from '../../scripts/gpu.js';
import { readRecorded } from '../../scripts/speed.js';
import { devicesTable, type StoredRun, withSpeed } from '../../scripts/speed-page.js';
import { svgOf } from '../../src/figures/svg.js';

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const recorded = readRecorded();

test('docs/speed.md has the recorded figures', () => {
  const page = read('docs/speed.md');
  expect(withSpeed(page, recorded)).toBe(page);
});

test('the README has times of docs/speed.md', () => {
  const rows = Array.from(
    read('docs/speed.md').matchAll(/^\| (avx512|reference \(TypeScript\)) \| .*$/gm),
    ([row]) => Array.from(row.matchAll(/([\d.]+ ns)/g), ([time]) => time),
  );
  const [[run, , step], [, referenceStep]] = rows;
  const readme = read('README.md').replaceAll(/\s+/g, ' ');
  expect(readme).toContain(
    `AVX-512 steps an episode in ${step}, observations included, and plays whole episodes at ${run} a step; the reference takes ${referenceStep}.`,
  );
});

test('a changed figure changes the page', () => {
  const [row, ...others] = recorded.kernels.rows;
  const changed = { ...recorded.kernels, rows: [{ ...row, ns_per_step: 77.7 }, ...others] };
  expect(withSpeed(read('docs/speed.md'), { ...recorded, kernels: changed })).toContain('77.7 ns');
});

test('the figure of the peers names the measured programs, and its description has the numbers', async () => {
  const player = (name: string, missing: string | null) => ({ name, tolerance: 0, missing });
  const cell = (name: string, episodes: number) => ({ name, episodes, stepsPerSecond: 2e6 * episodes });
  const players = [player('one', null), player('two', null), player('gone', 'no compiler')];
  const cells = ['one', 'two'].flatMap((name) => [1, 4].map((episodes) => cell(name, episodes)));
  const drawing = drawPeers({ players, cells }, 'A processor');
  expect(drawing.description).toBe(
    'one: 2.00 million with 1, 8.00 million with 4. two: 2.00 million with 1, 8.00 million with 4.',
  );
  const svg = await svgOf(drawing);
  expect(svg.match(/<text[^>]*>(one|two|gone)<\/text>/g)).toHaveLength(2);
});

describe('a device', () => {
  const run = (device: { readonly adapter: string; readonly software: boolean }): StoredRun => ({
    machine: { cpu: 'A processor', node: 'v20' },
    rows: [],
    webgpu: {
      device: { ...device, exact: true },
      rows: [
        { backend: 'native', name: 'step', read_back: false, episodes: 1024, steps_per_second: 2e8 },
        { backend: 'webgpu', name: 'step', read_back: false, episodes: 1024, steps_per_second: 3e9 },
        { backend: 'webgpu', name: 'step', read_back: true, episodes: 1024, steps_per_second: null },
      ],
    },
  });

  test('has a file and a row with its name; a software adapter and a missing device have neither', () => {
    const device = run({ adapter: 'NVIDIA H100 (Vulkan)', software: false });
    expect(fileFor(device)).toEqual({ file: 'bench/results/nvidia-h100-vulkan.json' });
    const [, , ...rows] = devicesTable([device]).split('\n');
    expect(rows).toEqual(['| NVIDIA H100 (Vulkan) | step | nothing | 1,024 | 3000 | 15.0 |']);
    const software = run({ adapter: 'SwiftShader', software: true });
    expect(fileFor(software)).toEqual({ reason: expect.stringContaining('SwiftShader') });
    expect(devicesTable([software])).toBe(devicesTable([]));
    expect(fileFor({ ...software, webgpu: undefined })).toEqual({ reason: 'There is no device.' });
  });
});
