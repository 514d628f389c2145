/** The distribution of environments over buffers: each buffer fits one binding, and one dispatch covers it. */
import { expect, it } from 'vitest';
import { OUTPUT_WORDS, TILE } from '../../../../src/engine/backends/webgpu/buffer-layout.js';
import { envsOfShard } from '../../../../src/engine/backends/webgpu/shard.js';

const BYTES = 4 * OUTPUT_WORDS.all;

/** A device that only has limits. */
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
  ['the limits of every device', {}, 64],
  ['a small buffer', { maxBufferSize: 2 ** 20 }, 64],
  [
    'large bindings, limited by the number of workgroups',
    { maxStorageBufferBindingSize: 2 ** 32, maxBufferSize: 2 ** 32 },
    1,
  ],
  ['the limits of a large device', { maxStorageBufferBindingSize: 2 ** 32, maxBufferSize: 2 ** 38 }, 256],
])('with %s', (_, limits, workgroupSize) => {
  const device = deviceOf(limits) as { limits: Record<string, number> };
  const slots = envsOfShard(device as never, OUTPUT_WORDS.all, workgroupSize);
  expect(slots % TILE).toBe(0);
  const { maxStorageBufferBindingSize, maxBufferSize, maxComputeWorkgroupsPerDimension } = device.limits;
  const fits = (count: number): boolean =>
    count * BYTES <= Math.min(maxStorageBufferBindingSize, maxBufferSize) &&
    Math.ceil(count / workgroupSize) <= maxComputeWorkgroupsPerDimension;
  expect(fits(slots)).toBe(true);
  expect(fits(slots + TILE)).toBe(false);
});
