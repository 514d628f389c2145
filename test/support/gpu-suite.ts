/** Suites that need a device of Node's: without one they are named as skipped, or fail where it is required. */
import { describe } from 'vitest';
import { whyNoGpu } from './gpu.js';
import { isLeftOut, isRequired } from './required.js';

const why = isLeftOut('webgpu') ? 'RHYTHM_SKIP leaves it out' : await whyNoGpu();
if (why !== null && isRequired('webgpu')) {
  throw new Error(`Expected webgpu, which RHYTHM_REQUIRE names, got none: ${why}`);
}

export function describeGpu(name: string, body: () => void): void {
  if (why === null) describe(name, body);
  else describe.skip(`${name} (absent here: webgpu: ${why})`, body);
}
