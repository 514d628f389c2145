/** How slots are spread over buffers: each fits one binding, and one dispatch reaches all of it. */
import { expect, it } from 'vitest';
import { SHOWN_WORDS, TILE } from '../src/backends/webgpu/layout.js';
import { slotsOfShard } from '../src/backends/webgpu/shard.js';

const BYTES = 4 * SHOWN_WORDS.all;

/** A device of which only limits are asked. */
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
    'large bindings, where workgroups are what is short of',
    { maxStorageBufferBindingSize: 2 ** 32, maxBufferSize: 2 ** 32 },
    1,
  ],
  ['all that a data centre has', { maxStorageBufferBindingSize: 2 ** 32, maxBufferSize: 2 ** 38 }, 256],
])('with %s', (_, limits, workgroupSize) => {
  const device = deviceOf(limits) as { limits: Record<string, number> };
  const slots = slotsOfShard(device as never, SHOWN_WORDS.all, workgroupSize);
  expect(slots % TILE).toBe(0);
  const { maxStorageBufferBindingSize, maxBufferSize, maxComputeWorkgroupsPerDimension } = device.limits;
  const fits = (count: number): boolean =>
    count * BYTES <= Math.min(maxStorageBufferBindingSize, maxBufferSize) &&
    Math.ceil(count / workgroupSize) <= maxComputeWorkgroupsPerDimension;
  expect(fits(slots)).toBe(true);
  expect(fits(slots + TILE)).toBe(false);
});
