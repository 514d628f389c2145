/**
 * `--webgpu`: measures a device, with outputs left on it and with outputs read back, and one native thread.
 *
 * Every row is verified before it is timed: all rows of a case must have the same bits. Without the addon there are no rows of
 * the native backend.
 */
import type { Backend, Batch } from '../dist/engine/backends/backend.js';
import type { Device } from '../dist/engine/backends/device-options.js';
import { ASYNC_BACKENDS } from '../dist/engine/backends/node.js';
import { allocateOutputs } from '../dist/engine/backends/outputs.js';
import { NUM_ACTIONS, NUM_STEPS } from '../dist/world/fields.js';
import { KERNELS } from './cases.js';
import {
  copyOutputs,
  NO_INPUTS,
  type OutputCopies,
  plainRun,
  RANDOM,
  resetRequest,
  WORLD,
} from './episodes.js';
import { atLeast, digits, type Ratio, reportOf, type Section, table } from './report.js';
import { inTurn, median, orVoid, progress, timeOf, timerTick } from './runner.js';
import { compare } from './verify.js';

/** The number of episodes at which targets are set. */
const TARGET_EPISODES = 2 ** 20;
/** Matches the names of data-centre devices. Only these devices have a target in steps per second. */
const DATA_CENTRE = /\b([ABHL]\d{2,3}|GH200|GB200|MI\d{3}|V100|T4)\b/i;

type Row = Awaited<ReturnType<typeof measureSize>>[number];

/** A measurement: a backend, a case and a size. */
interface Subject {
  readonly backend: Backend;
  readonly kernel: string | null;
  readonly name: string;
  readonly readBack: boolean;
  readonly episodes: number;
  readonly play: (batch: Batch, readBack: boolean) => Promise<void>;
}

async function fused(batch: Batch, readBack: boolean): Promise<void> {
  await batch.run(plainRun(RANDOM));
  await (readBack ? batch.read() : batch.finished?.());
}

/** Returns a play with one call per step. */
function stepsOf(episodes: number): Subject['play'] {
  // The actions of step t begin with code t. They repeat every NUM_ACTIONS steps.
  const codes = Uint8Array.from({ length: episodes + NUM_ACTIONS }, (_, i) => i % NUM_ACTIONS);
  return async (batch, readBack) => {
    for (let t = 0; t < NUM_STEPS; t++) {
      const actions = codes.subarray(t % NUM_ACTIONS, (t % NUM_ACTIONS) + episodes);
      if (batch.submit({ actions, ...NO_INPUTS }) !== null)
        throw new Error('Expected valid actions, got a refused step.');
      if (readBack) await batch.read();
    }
    await batch.finished?.();
  };
}

const backendOf = (name: string): Backend => ASYNC_BACKENDS.find((backend) => backend.name === name)!;

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

const titleOf = ({ backend, name, episodes, readBack }: Subject): string =>
  `${backend.name}, ${name}, ${episodes} episodes${readBack ? ', read back' : ''}`;

/** Opens a batch for a subject. */
async function open(subject: Subject) {
  const { backend, kernel, episodes, readBack } = subject;
  const outputs = allocateOutputs(episodes, undefined, backend.placeOutputs);
  const options = { numEnvs: episodes, world: WORLD, imagination: false, threads: 1, kernel, outputs };
  const device = { allowInexact: false, maxDispatchMs: 1000, workgroupSize: 64 };
  const batch = await backend.open({ ...options, device });
  const request = resetRequest(episodes);
  return {
    device: batch.device,
    /** Returns the nanoseconds of one play. */
    async time(): Promise<number> {
      batch.reset(request);
      await batch.finished?.();
      return timeOf(() => subject.play(batch, readBack));
    },
    async outputs(): Promise<OutputCopies> {
      await batch.read();
      return copyOutputs(outputs);
    },
    close: () => batch.close(),
  };
}

/**
 * Measures the rows of one size: compares each with the first row of its case, then times all of them in turn, round by round.
 * @throws Mismatch before the size is timed, if two rows of a case have different bits.
 */
async function measureSize(episodes: number, rounds: number) {
  const subjects = subjectsAt(episodes);
  const opened: Awaited<ReturnType<typeof open>>[] = [];
  try {
    const references = new Map<string, OutputCopies>();
    for (const subject of subjects) {
      await progress(`verifying ${titleOf(subject)}`);
      const each = await open(subject);
      opened.push(each);
      await each.time();
      const outputs = await each.outputs();
      const reference = references.get(subject.name) ?? outputs;
      compare(titleOf(subject), outputs, reference);
      references.set(subject.name, reference);
    }
    const samples = await inTurn(subjects, rounds, titleOf, (_, k) => opened[k].time());
    const tick = timerTick();
    return subjects.map(({ backend, name, readBack }, k) => {
      // Null if the timer was too coarse.
      const ns = orVoid(median(samples[k]), tick);
      const nsPerStep = ns === null ? null : ns / (episodes * NUM_STEPS);
      const stepsPerSecond = nsPerStep === null ? null : 1e9 / nsPerStep;
      return { backend: backend.name, name, readBack, episodes, nsPerStep, stepsPerSecond };
    });
  } finally {
    for (const each of opened) each.close();
  }
}

/** Returns the ratios; none for a software adapter, or if the device has no rate at TARGET_EPISODES. */
function ratiosOf(rows: readonly Row[], { adapter, software }: Device): Ratio[] {
  if (software) return [];
  const atTarget = rows.filter(
    ({ name, readBack, episodes }) => name === 'fused random' && !readBack && episodes === TARGET_EPISODES,
  );
  const rate = (name: string) => atTarget.find(({ backend }) => backend === name)?.stepsPerSecond;
  const [device, native] = [rate('webgpu'), rate('native')];
  if (!device) return [];
  const target = DATA_CENTRE.test(adapter) ? atLeast(2e10) : undefined;
  const rates = [{ name: 'webgpu_fused_steps_per_second', value: device, target }];
  if (!native) return rates;
  return [{ name: 'webgpu_over_native', value: device / native, target: atLeast(5) }, ...rates];
}

export const webgpu: Section = {
  help: 'a device beside one native thread, with and without read-back',
  async measure(small) {
    const { available, reason = null } = await backendOf('webgpu').availability();
    if (!available) {
      const figures = { device: null, reason, rounds: 0, rows: [] };
      return reportOf(figures, [`No device was measured: ${reason}`], [], small);
    }
    const probe = await open(subjectsAt(1).find(({ backend }) => backend.name === 'webgpu')!);
    const device = probe.device as Device;
    probe.close();
    const [sizes, softwareSizes] = small
      ? [[1000], [200]]
      : [[16, 18, 20, 22].map((k) => 2 ** k), [12, 14, 16].map((k) => 2 ** k)];
    const rounds = small ? 1 : 7;
    const rows: Row[] = [];
    for (const size of device.software ? softwareSizes : sizes)
      rows.push(...(await measureSize(size, rounds)));
    const head = ['backend', 'case', 'read back', 'episodes', 'ns/step', 'steps/s'];
    const lines = rows.map(({ backend, name, readBack, episodes, nsPerStep, stepsPerSecond }) => [
      backend === 'webgpu' ? backend : `${backend}, one thread`,
      name,
      backend === 'webgpu' ? (readBack ? 'all outputs' : 'nothing') : 'not needed',
      episodes,
      digits(nsPerStep, 3),
      digits(stepsPerSecond, 0),
    ]);
    const texts = [
      `WebGPU on ${device.adapter}${device.exact ? ', exact to the bit' : ', INEXACT'}`,
      table(head, lines, 3),
      ...(device.software
        ? ['A SOFTWARE ADAPTER: the CPU emulates a device. These times say nothing about a GPU.']
        : []),
    ];
    return reportOf({ device, reason, rounds, rows }, texts, ratiosOf(rows, device), small);
  },
};
