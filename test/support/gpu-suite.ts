/**
 * Test suites that need a WebGPU device in Node. They are skipped if RHYTHM_SKIP names webgpu. Without a device they are
 * skipped too, or fail if RHYTHM_REQUIRE names webgpu.
 */
import { describe } from 'vitest';
import { ASYNC_BACKENDS } from '../../src/engine/backends/node.js';
import { shareDevice } from './gpu.js';
import { isLeftOut, isRequired } from './required.js';

export const WEBGPU = ASYNC_BACKENDS.find(({ name }) => name === 'webgpu')!;

async function whyAbsent(): Promise<string | null> {
  if (isLeftOut('webgpu')) return 'RHYTHM_SKIP leaves it out';
  // Without the package `webgpu` there is no device to share, and `availability` gives the reason.
  await shareDevice().catch(() => {});
  const { available, reason } = await WEBGPU.availability();
  return available ? null : String(reason);
}

/** The reason why the suites are skipped; null if they run. */
export const whyNoWebgpu = await whyAbsent();
if (whyNoWebgpu !== null && isRequired('webgpu') && !isLeftOut('webgpu')) {
  throw new Error(`RHYTHM_REQUIRE names webgpu, which is unavailable: ${whyNoWebgpu}`);
}

/** Defines a suite that needs a device. */
export function describeGpu(name: string, body: () => void): void {
  if (whyNoWebgpu === null) describe(name, body);
  else describe.skip(`${name} (absent here: webgpu: ${whyNoWebgpu})`, body);
}
