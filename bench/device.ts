/**
 * `--webgpu`: measures a device, with outputs left on it and with outputs read back, and one native thread.
 *
 * Every row is verified before it is timed: all rows of a case must have the same bits. Without the addon there are no rows of
 * the native backend.
 */
import type { AsyncBackend, AsyncBatch, Device } from '../dist/engine/backends/async-backend.js';
import type { RunRequest, StepRequest } from '../dist/engine/backends/backend.js';
import { ASYNC_BACKENDS } from '../dist/engine/backends/node.js';
import { allocateOutputs } from '../dist/engine/backends/outputs.js';
import { NUM_ACTIONS, NUM_STEPS } from '../dist/world/fields.js';
import { KERNELS } from './cases.js';
import { now, timerTick } from './clock.js';
import { type OnProgress, yieldToEventLoop } from './measure.js';
import type { Ratio } from './ratios.js';
import { copyOutputs, type OutputCopies, resetRequest, seedsOf, WORLD } from './rig.js';
import { MIN_TICKS, median } from './rows.js';
import { compare } from './verify.js';

export interface DevicePlan {
  /** Numbers of episodes: `softwareSizes` for a software adapter, else `sizes`. */
  readonly sizes: readonly number[];
  readonly softwareSizes: readonly number[];
  readonly rounds: number;
}

export const FULL_DEVICE: DevicePlan = {
  sizes: [2 ** 16, 2 ** 18, 2 ** 20, 2 ** 22],
  softwareSizes: [2 ** 12, 2 ** 14, 2 ** 16],
  rounds: 7,
};
export const SMALL_DEVICE: DevicePlan = { sizes: [1000], softwareSizes: [200], rounds: 1 };

/** The number of episodes at which targets are set. */
const TARGET_EPISODES = 2 ** 20;
/** Matches the names of data-centre devices. Only these devices have a target in steps per second. */
const DATA_CENTRE = /\b([ABHL]\d{2,3}|GH200|GB200|MI\d{3}|V100|T4)\b/i;

export interface DeviceRow {
  readonly backend: string;
  readonly name: string;
  readonly readBack: boolean;
  readonly episodes: number;
  /** Null if the timer was too coarse. */
  readonly nsPerStep: number | null;
  readonly stepsPerSecond: number | null;
}

export interface DeviceFigures {
  /** Null without a device; `reason` then says why. */
  readonly device: Device | null;
  readonly reason: string | null;
  readonly rounds: number;
  readonly rows: readonly DeviceRow[];
  readonly ratios: readonly Ratio[];
}

/** A measurement: a backend, a case and a size. */
interface Subject {
  readonly backend: AsyncBackend;
  readonly kernel: string | null;
  readonly name: string;
  readonly readBack: boolean;
  readonly episodes: number;
  readonly play: (batch: AsyncBatch, readBack: boolean) => Promise<void>;
}

const RANDOM: RunRequest = {
  policy: { kind: 'random', policySeeds: null },
  beliefs: null,
  stops: null,
  trajectory: null,
};

async function fused(batch: AsyncBatch, readBack: boolean): Promise<void> {
  await batch.run(RANDOM);
  await (readBack ? batch.read() : batch.finished());
}

/** Action codes, 0 to NUM_ACTIONS - 1 repeated. Cached for each number of episodes. */
const codes = new Map<number, Uint8Array>();

/** Returns the actions of step `t`, u8 [episodes]. They repeat every `NUM_ACTIONS` steps. */
function actionsAt(t: number, episodes: number): Uint8Array {
  const cycle =
    codes.get(episodes) ?? Uint8Array.from({ length: episodes + NUM_ACTIONS }, (_, i) => i % NUM_ACTIONS);
  codes.set(episodes, cycle);
  return cycle.subarray(t % NUM_ACTIONS, (t % NUM_ACTIONS) + episodes);
}

/** Returns a play with one call per step. */
const stepsOf =
  (episodes: number) =>
  async (batch: AsyncBatch, readBack: boolean): Promise<void> => {
    const unused = { beliefs: null, given: null, stepMask: null, resetMask: null, resetSeeds: null };
    for (let t = 0; t < NUM_STEPS; t++) {
      const request: StepRequest = { actions: actionsAt(t, episodes), ...unused };
      if (batch.submit(request) !== null) throw new Error('Expected valid actions, got a refused step.');
      if (readBack) await batch.read();
    }
    await batch.finished();
  };

const backendOf = (name: string): AsyncBackend => ASYNC_BACKENDS.find((backend) => backend.name === name)!;

function subjectsAt(episodes: number): Subject[] {
  const workloads = [
    { name: 'fused random', play: fused },
    { name: 'step', play: stepsOf(episodes) },
  ];
  const device = { backend: backendOf('webgpu'), kernel: null, episodes };
  const native = { backend: backendOf('native'), kernel: KERNELS[0] ?? null, episodes, readBack: false };
  return workloads.flatMap((workload) => [
    ...(KERNELS.length > 0 ? [{ ...native, ...workload }] : []),
    { ...device, ...workload, readBack: false },
    { ...device, ...workload, readBack: true },
  ]);
}

/** An opened batch with its play. */
interface OpenedSubject {
  readonly device: Device | null;
  begin(): Promise<void>;
  play(): Promise<void>;
  outputs(): Promise<OutputCopies>;
  close(): void;
}

async function open(subject: Subject): Promise<OpenedSubject> {
  const { backend, kernel, episodes, readBack } = subject;
  const outputs = allocateOutputs(episodes, undefined, backend.bytesToCacheLine);
  const options = { numEnvs: episodes, world: WORLD, imagination: false, threads: 1, kernel, outputs };
  const device = { allowInexact: false, maxDispatchMs: 1000, workgroupSize: 64 };
  const batch = await backend.open({ ...options, device });
  const request = resetRequest(seedsOf(episodes));
  return {
    device: batch.device,
    async begin() {
      batch.reset(request);
      await batch.finished();
    },
    play: () => subject.play(batch, readBack),
    async outputs() {
      await batch.read();
      return copyOutputs(outputs);
    },
    close: () => batch.close(),
  };
}

/** Returns the nanoseconds of one play. */
async function timePlay(opened: OpenedSubject): Promise<number> {
  await opened.begin();
  const start = now();
  await opened.play();
  return now() - start;
}

const titleOf = ({ backend, name, episodes, readBack }: Subject): string =>
  `${backend.name}, ${name}, ${episodes} episodes${readBack ? ', read back' : ''}`;

/**
 * Measures the rows of one size: compares each with the first row of its case, then times all of them in turn, round by round.
 */
async function measureSize(episodes: number, rounds: number, onProgress: OnProgress): Promise<DeviceRow[]> {
  const subjects = subjectsAt(episodes);
  const opened: OpenedSubject[] = [];
  try {
    const references = new Map<string, OutputCopies>();
    for (const subject of subjects) {
      onProgress(`verifying ${titleOf(subject)}`);
      await yieldToEventLoop();
      opened.push(await open(subject));
      await timePlay(opened[opened.length - 1]);
      const outputs = await opened[opened.length - 1].outputs();
      const reference = references.get(subject.name) ?? outputs;
      compare(titleOf(subject), outputs, reference);
      references.set(subject.name, reference);
    }
    const samples: number[][] = subjects.map(() => []);
    for (let round = 1; round <= rounds; round++) {
      for (const [k, each] of opened.entries()) {
        onProgress(`${titleOf(subjects[k])}, round ${round} of ${rounds}`);
        await yieldToEventLoop();
        samples[k].push(await timePlay(each));
      }
    }
    const tick = timerTick();
    return subjects.map((subject, k) => rowOf(subject, median(samples[k]), tick));
  } finally {
    for (const each of opened) each.close();
  }
}

function rowOf({ backend, name, readBack, episodes }: Subject, ns: number, tick: number): DeviceRow {
  const isVoid = ns < MIN_TICKS * tick;
  const perStep = ns / (episodes * NUM_STEPS);
  return {
    backend: backend.name,
    name,
    readBack,
    episodes,
    nsPerStep: isVoid ? null : perStep,
    stepsPerSecond: isVoid ? null : 1e9 / perStep,
  };
}

/** Measures all sizes. @throws Mismatch before a size is timed, if two rows of a case have different bits. */
export async function measureDevice(plan: DevicePlan, onProgress: OnProgress): Promise<DeviceFigures> {
  const backend = backendOf('webgpu');
  const { available, reason = null } = await backend.availability();
  if (!available) return { device: null, reason, rounds: 0, rows: [], ratios: [] };
  const probe = await open(subjectsAt(1).find((subject) => subject.backend === backend)!);
  const device = probe.device as Device;
  probe.close();
  const rows: DeviceRow[] = [];
  for (const episodes of device.software ? plan.softwareSizes : plan.sizes) {
    rows.push(...(await measureSize(episodes, plan.rounds, onProgress)));
  }
  return { device, reason, rounds: plan.rounds, rows, ratios: ratiosOf(rows, device) };
}

/** Returns the ratios; none for a software adapter, or if the device has no rate at TARGET_EPISODES. */
function ratiosOf(rows: readonly DeviceRow[], { adapter, software }: Device): Ratio[] {
  if (software) return [];
  const rate = (backend: string) =>
    rows.find(
      (row) =>
        row.backend === backend &&
        row.name === 'fused random' &&
        !row.readBack &&
        row.episodes === TARGET_EPISODES,
    )?.stepsPerSecond;
  const [device, native] = [rate('webgpu'), rate('native')];
  if (!device) return [];
  const deviceRate = { name: 'webgpu_fused_steps_per_second', value: device };
  const target = { bound: 'at least', value: 2e10 } as const;
  const rates = [DATA_CENTRE.test(adapter) ? { ...deviceRate, target } : deviceRate];
  if (!native) return rates;
  const nativeTarget = { bound: 'at least', value: 5, goal: 20 } as const;
  return [{ name: 'webgpu_over_native', value: device / native, target: nativeTarget }, ...rates];
}
