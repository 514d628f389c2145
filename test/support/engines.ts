/** The backends and kernels that tests run on, and the absent engines with the reasons. */
import { test } from 'vitest';
import { nativeBackend } from '../../src/engine/backends/native.js';
import { createVecEnv, type VecEnv } from '../../src/engine/node.js';
import type { VecEnvOptions } from '../../src/engine/vec-env/vec-env-options.js';
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
  throw new Error(`RHYTHM_REQUIRE names native, which is unavailable: ${reason}`);
}

/** The kernels of the addon that this machine can run, fastest first. */
export const NATIVE: readonly Engine[] = kernels
  .filter((kernel) => kernel.available)
  .map(({ name }) => ({ name: `native ${name}`, backend: 'native', kernel: name }));

/** The reference, then the kernels, then WebAssembly. */
export const ENGINES: readonly Engine[] = [reference, ...NATIVE, { name: 'wasm', backend: 'wasm' }];

/** Whether RHYTHM_DRAWS, the factor of the number of random draws (random.ts), is 1 or more, as in vitest's project `soak`. */
export const THOROUGH = Number(process.env.RHYTHM_DRAWS ?? 0) >= 1;

/** Engines for code above the backend interface: the reference and the fastest kernel, or all in a thorough run. */
export const TWO_ENGINES: readonly Engine[] = THOROUGH ? ENGINES : ENGINES.slice(0, 2);

/** The fastest kernel, or the reference where there is no addon, or all engines in a thorough run. */
export const FASTEST: readonly Engine[] = THOROUGH ? ENGINES : TWO_ENGINES.slice(-1);

/** The two fastest kernels, for code that takes long on the others, or all in a thorough run. */
export const TWO_KERNELS: readonly Engine[] = THOROUGH ? NATIVE : NATIVE.slice(0, 2);

/** The engines that are absent here, with reasons, for the names of tests. */
const ABSENT: readonly string[] = [
  ...kernels.filter((kernel) => !kernel.available).map((kernel) => `native ${kernel.name}: ${kernel.reason}`),
  ...(kernels.length === 0 ? [`native: ${reason}`] : []),
];

/** Adds a skipped test for each absent engine, so that reports name it. */
export function reportAbsentEngines(): void {
  for (const absent of ABSENT) test.skip(`absent here: ${absent}`, () => {});
}

/** Returns the option `threads` for an engine: WebAssembly refuses several. */
export const threadsOn = ({ backend }: Pick<Engine, 'backend'>, threads?: number): number | undefined =>
  backend === 'wasm' && Number(threads) > 1 ? undefined : threads;

/** Opens an environment on an engine. */
export function openOn(engine: Engine, options: VecEnvOptions): VecEnv {
  const { backend, kernel } = engine;
  return createVecEnv({ backend, kernel, ...options, threads: threadsOn(engine, options.threads) });
}
