/** Prompts that are made in batches take a bounded amount of memory. */
import { expect, test } from 'vitest';
import { measurePromptMemory } from '../../bench/memory.js';

test('prompts made in batches take less memory than all their texts together', async () => {
  const { prompts, bytes, startBytes, peakBytes } = await measurePromptMemory(2 ** 18);
  expect(prompts).toBe(2 ** 18);
  // The texts have 191 MB. Both bounds are chosen by hand.
  expect(bytes).toBeGreaterThan(160e6);
  expect(peakBytes - startBytes).toBeLessThan(120e6);
});
