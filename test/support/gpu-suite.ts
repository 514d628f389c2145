/** Node's devices as tests have them: without one suites are named as skipped, or fail where it is required. */
import { describe } from 'vitest';
import { ASYNC_BACKENDS } from '../../src/backends/node.js';
import { isLeftOut, isRequired } from './required.js';

export const WEBGPU = ASYNC_BACKENDS.find(({ name }) => name === 'webgpu')!;

async function whyNone(): Promise<string | null> {
  if (isLeftOut('webgpu')) return 'RHYTHM_SKIP leaves it out';
  const { available, reason } = await WEBGPU.availability();
  return available ? null : String(reason);
}

/** Null if there is one. */
export const whyNoWebgpu = await whyNone();
if (whyNoWebgpu !== null && isRequired('webgpu')) {
  throw new Error(`Expected webgpu, which RHYTHM_REQUIRE names, got none: ${whyNoWebgpu}`);
}

/** A suite that needs a device. */
export function describeGpu(name: string, body: () => void): void {
  if (whyNoWebgpu === null) describe(name, body);
  else describe.skip(`${name} (absent here: webgpu: ${whyNoWebgpu})`, body);
}
