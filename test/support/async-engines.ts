/** Engines for tests of the asynchronous backend interface: processors and devices. */
import { test } from 'vitest';
import type { Backend } from '../../src/engine/backends/backend.js';
import { ASYNC_BACKENDS } from '../../src/engine/backends/node.js';
import { standInFor } from './device-stand-in.js';
import { ENGINES, type Engine, reportAbsentEngines as reportAbsentProcessors } from './engines.js';
import { WEBGPU, whyNoWebgpu } from './gpu-suite.js';
import type { Random } from './random.js';
import { isLeftOut } from './required.js';

export interface AsyncEngine {
  readonly name: string;
  readonly backend: Backend;
  readonly kernel: string | null;
  /** Whether the engine is a device or its stand-in. Tests open and read fewer batches there: each takes milliseconds. */
  readonly isDevice: boolean;
}

/** Of this many runs or cases, a processor runs all and a device runs one. Chosen by hand. */
const DEVICE_SHARE = 10;

const PROCESSORS: readonly AsyncEngine[] = ENGINES.map(({ name, backend, kernel = null }) => ({
  name,
  backend: ASYNC_BACKENDS.find((each) => each.name === backend)!,
  kernel,
  isDevice: false,
}));

/** The device. If there is none, a stand-in on a processor replaces it, so that the same tests run. */
const DEVICE: AsyncEngine =
  whyNoWebgpu === null
    ? { name: 'webgpu', backend: WEBGPU, kernel: null, isDevice: true }
    : {
        name: 'stand-in for a device',
        backend: standInFor(PROCESSORS.at(1) ?? PROCESSORS[0]),
        kernel: null,
        isDevice: true,
      };

/** The engine with which all others are compared. */
export const REFERENCE = PROCESSORS[0];

/** The engines that this project of Vitest tests: `gpu` the device alone, the others the processors and the device. */
export const ASYNC_ENGINES: readonly AsyncEngine[] = isLeftOut('kernels')
  ? [DEVICE]
  : [...PROCESSORS, DEVICE];
/** The engines of `ASYNC_ENGINES` without the reference. */
export const OTHERS = ASYNC_ENGINES.filter((engine) => engine !== REFERENCE);

/** The engines that options of evaluations and commands can name: the reference first, a device last if there is one. */
export const NAMED_ENGINES: readonly Engine[] = [
  ENGINES[0],
  ...(isLeftOut('kernels') ? [] : ENGINES.slice(1)),
  ...(whyNoWebgpu === null ? [{ name: 'webgpu', backend: 'webgpu' }] : []),
];

/** Adds a skipped test for each engine that is absent here, so that reports name it. */
export function reportAbsentEngines(): void {
  reportAbsentProcessors();
  if (whyNoWebgpu !== null) test.skip(`absent here: webgpu: ${whyNoWebgpu}`, () => {});
}

/** Returns the number of runs of a property on an engine. @param runs their number on a processor. */
export const runsOn = ({ isDevice }: AsyncEngine, runs: number): number =>
  isDevice ? Math.ceil(runs / DEVICE_SHARE) : runs;

/** Returns the cases that an engine runs: all on a processor, one in `DEVICE_SHARE` on a device. */
export const shareOf = <T>({ isDevice }: AsyncEngine, cases: readonly T[]): readonly T[] =>
  isDevice ? cases.filter((_, k) => k % DEVICE_SHARE === 0) : cases;

/** Returns the engines for one run of a property. They include devices in one of `DEVICE_SHARE` runs. */
export const enginesFor = ({ seed }: Random, engines = [REFERENCE, ...OTHERS]): readonly AsyncEngine[] =>
  engines.filter(({ isDevice }) => !isDevice || Number(seed) % DEVICE_SHARE === 0);
