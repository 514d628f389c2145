/** Every backend and kernel that tests run on, and what is absent and why. */
import { test } from 'vitest';
import { nativeBackend } from '../../src/backends/native.js';
import type { VecEnvOptions } from '../../src/vec-env/options.js';
import { createVecEnv, type VecEnv } from '../../src/vec-env.js';
import { isRequired } from './required.js';

export interface Engine {
  readonly name: string;
  readonly backend: string;
  readonly kernel?: string;
}

const reference: Engine = { name: 'reference', backend: 'reference' };
const kernels = nativeBackend.kernels();

const { available, reason } = nativeBackend.availability();
if (!available && isRequired('native')) {
  throw new Error(`Expected native, which RHYTHM_REQUIRE names, got none: ${reason}`);
}

export const NATIVE: readonly Engine[] = kernels
  .filter((kernel) => kernel.available)
  .map(({ name }) => ({ name: `native ${name}`, backend: 'native', kernel: name }));

export const ENGINES: readonly Engine[] = [reference, ...NATIVE];

/** For the names of tests: what this machine does not have. */
const ABSENT: readonly string[] = [
  ...kernels.filter((kernel) => !kernel.available).map((kernel) => `native ${kernel.name}: ${kernel.reason}`),
  ...(kernels.length === 0 ? [`native: ${reason}`] : []),
];

/** A skipped test for each, so that a report names what it has not tested. */
export function nameAbsent(): void {
  for (const absent of ABSENT) test.skip(`absent here: ${absent}`, () => {});
}

/** An environment on one engine. */
export function openOn(engine: Engine, options: VecEnvOptions): VecEnv {
  return createVecEnv({ backend: engine.backend, kernel: engine.kernel, ...options });
}
