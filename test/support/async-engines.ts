/** Every engine that tests at the seam run on: processors behind the asynchronous seam, and devices. */
import { test } from 'vitest';
import type { AsyncBackend } from '../../src/backends/async-backend.js';
import { ASYNC_BACKENDS } from '../../src/backends/node.js';
import { ENGINES, nameAbsent as nameAbsentProcessors } from './engines.js';
import { WEBGPU, whyNoWebgpu } from './gpu-suite.js';
import type { Random } from './random.js';
import { standInFor } from './stand-in.js';

export interface AsyncEngine {
  readonly name: string;
  readonly backend: AsyncBackend;
  readonly kernel: string | null;
  /** Opening a batch and reading it back take it milliseconds: tests ask for fewer of both. */
  readonly isDevice: boolean;
}

/** Of this many runs of a property, or cases of a list, that a processor goes through, a device goes through one. */
const DEVICE_SHARE = 10;

const PROCESSORS: readonly AsyncEngine[] = ENGINES.map(({ name, backend, kernel = null }) => ({
  name,
  backend: ASYNC_BACKENDS.find((known) => known.name === backend)!,
  kernel,
  isDevice: false,
}));

/** Without a device its tests are held to its manners all the same. */
const DEVICE: AsyncEngine =
  whyNoWebgpu === null
    ? { name: 'webgpu', backend: WEBGPU, kernel: null, isDevice: true }
    : {
        name: 'stand-in for a device',
        backend: standInFor(PROCESSORS.at(1) ?? PROCESSORS[0]),
        kernel: null,
        isDevice: true,
      };

/** The reference first. */
export const ASYNC_ENGINES: readonly AsyncEngine[] = [...PROCESSORS, DEVICE];

/** What all others are compared with. */
export const REFERENCE = ASYNC_ENGINES[0];
export const OTHERS = ASYNC_ENGINES.slice(1);

/** A skipped test for each engine that this machine does not have, so that a report names what it has not tested. */
export function nameAbsent(): void {
  nameAbsentProcessors();
  if (whyNoWebgpu !== null) test.skip(`absent here: webgpu: ${whyNoWebgpu}`, () => {});
}

/** How many runs of a property an engine makes of those that a processor makes. */
export const runsOn = ({ isDevice }: AsyncEngine, runs: number): number =>
  isDevice ? Math.ceil(runs / DEVICE_SHARE) : runs;

/** Which of many cases an engine goes through: a device, one of each `DEVICE_SHARE`. */
export const shareOf = <T>({ isDevice }: AsyncEngine, cases: readonly T[]): readonly T[] =>
  isDevice ? cases.filter((_, k) => k % DEVICE_SHARE === 0) : cases;

/** Of several engines in one run of a property, those that take part: devices in some of the runs. */
export const partakers = ({ seed }: Random, engines = ASYNC_ENGINES): readonly AsyncEngine[] =>
  engines.filter(({ isDevice }) => !isDevice || Number(seed) % DEVICE_SHARE === 0);
