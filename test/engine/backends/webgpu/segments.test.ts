/** The size of segments (segment.ts): as many tiles of TILE environments as fit into one binding and one dispatch. */
import { expect, it } from 'vitest';
import { OUTPUT_WORDS, TILE } from '../../../../src/engine/backends/webgpu/buffer-layout.js';
import { envsPerSegment } from '../../../../src/engine/backends/webgpu/segment.js';

const BYTES = 4 * OUTPUT_WORDS.withFinal;

/** Returns a fake device, which has only limits. */
const deviceOf = (changes: Partial<Record<string, number>>) =>
  ({
    limits: {
      maxStorageBufferBindingSize: 2 ** 27,
      maxBufferSize: 2 ** 28,
      maxComputeWorkgroupsPerDimension: 65_535,
      ...changes,
    },
  }) as never;

it.each([
  ['the limits that every device has', {}, 64],
  ['a small buffer', { maxBufferSize: 2 ** 20 }, 64],
  [
    'large bindings, limited by the number of workgroups',
    { maxStorageBufferBindingSize: 2 ** 32, maxBufferSize: 2 ** 32 },
    1,
  ],
  ['the limits of a large device', { maxStorageBufferBindingSize: 2 ** 32, maxBufferSize: 2 ** 38 }, 256],
])('a segment has the largest number of whole tiles that fits, with %s', (_, limits, workgroupSize) => {
  const device = deviceOf(limits) as { limits: Record<string, number> };
  const envs = envsPerSegment(device as never, OUTPUT_WORDS.withFinal, workgroupSize);
  expect(envs % TILE).toBe(0);
  const { maxStorageBufferBindingSize, maxBufferSize, maxComputeWorkgroupsPerDimension } = device.limits;
  const fits = (count: number): boolean =>
    count * BYTES <= Math.min(maxStorageBufferBindingSize, maxBufferSize) &&
    Math.ceil(count / workgroupSize) <= maxComputeWorkgroupsPerDimension;
  expect(fits(envs)).toBe(true);
  expect(fits(envs + TILE)).toBe(false);
});
