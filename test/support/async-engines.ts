/** Every engine that tests at the seam run on: processors behind the asynchronous seam, and devices. */
import { test } from 'vitest';
import type { AsyncBackend } from '../../src/backends/async-backend.js';
import { ASYNC_BACKENDS } from '../../src/backends/node.js';
import { ENGINES, nameAbsent as nameAbsentProcessors } from './engines.js';
import type { Random } from './random.js';
import { isLeftOut, isRequired } from './required.js';
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

const backendOf = (name: string): AsyncBackend | undefined =>
  ASYNC_BACKENDS.find((backend) => backend.name === name);

const PROCESSORS: readonly AsyncEngine[] = ENGINES.map(({ name, backend, kernel = null }) => ({
  name,
  backend: backendOf(backend)!,
  kernel,
  isDevice: false,
}));

async function whyNoDevice(name: string): Promise<string | null> {
  if (isLeftOut(name)) return 'RHYTHM_SKIP leaves it out';
  const availability = await backendOf(name)?.availability();
  if (availability === undefined) return 'there is no such backend';
  return availability.available ? null : String(availability.reason);
}

const whyNoWebgpu = await whyNoDevice('webgpu');
if (whyNoWebgpu !== null && isRequired('webgpu')) {
  throw new Error(`Expected webgpu, which RHYTHM_REQUIRE names, got none: ${whyNoWebgpu}`);
}

/** Without a device its tests are held to its manners all the same. */
const DEVICE: AsyncEngine =
  whyNoWebgpu === null
    ? { name: 'webgpu', backend: backendOf('webgpu')!, kernel: null, isDevice: true }
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
