/**
 * Random sequences of all calls of a batch except `replay`: in segments (webgpu/segment.ts) of 32 environments at workgroup
 * size 1, and in one segment at workgroup size 256. Results equal those of the reference, so they depend neither on an
 * environment's position nor on other environments.
 */
import { expect, it } from 'vitest';
import type { Backend, Batch } from '../../../../src/engine/backends/backend.js';
import { allocateOutputs, allocateTrajectory } from '../../../../src/engine/backends/outputs.js';
import { referenceBackend } from '../../../../src/engine/backends/reference.js';
import { webGpuBackend } from '../../../../src/engine/backends/webgpu/webgpu-backend.js';
import { NUM_STEPS, STATE, STATE_WORDS } from '../../../../src/world/fields.js';
import { asyncBatchColumns, type Columns, copyColumns, differences } from '../../../support/bits.js';
import { DEVICE, nodeGpuWith, optionsFor } from '../../../support/gpu.js';
import { describeGpu } from '../../../support/gpu-suite.js';
import { Random } from '../../../support/random.js';

/** The number of environments of the batch that calls copy from: more than a segment of 32. */
const SOURCE = 40;
const withSmallSegments = webGpuBackend(nodeGpuWith, { maxEnvsPerSegment: 32 });
/** The reference, then devices with the smallest and the largest `workgroupSize` and `maxDispatchMs`. */
const ENGINES: readonly { backend: Backend; workgroupSize: number; maxDispatchMs: number }[] = [
  { backend: referenceBackend, workgroupSize: 64, maxDispatchMs: 100 },
  { backend: withSmallSegments, workgroupSize: 1, maxDispatchMs: 1 },
  { backend: webGpuBackend(nodeGpuWith), workgroupSize: 256, maxDispatchMs: 10_000 },
];

/** Opens a batch and a source to copy from, on one engine. */
async function openPair(engine: (typeof ENGINES)[number], n: number, seed: number) {
  const { backend, ...device } = engine;
  // All engines get the same options, except those of the device.
  const random = new Random(`options ${seed}`);
  const imagination = random.chance(0.3);
  const open = async (numEnvs: number) => {
    const layout = { columnMajor: random.chance(0.5), finalObservations: random.chance(0.5) };
    const outputs = allocateOutputs(numEnvs, layout);
    const options = optionsFor(numEnvs, { imagination, outputs, device: { ...DEVICE, ...device } });
    const batch = await backend.open(options);
    batch.reset(random.resetAtAnyStep(numEnvs));
    return { batch, columns: () => asyncBatchColumns(batch, outputs) };
  };
  const [own, source] = [await open(n), await open(SOURCE)];
  await source.batch.run({ ...random.run(SOURCE), trajectory: null });
  return { own, source };
}

type Call = (batch: Batch, source: Batch) => Promise<Columns>;

/** Expects that a call is not refused. */
const accepted = async (refusal: unknown): Promise<Columns> => {
  expect((await refusal) ?? null).toBeNull();
  return {};
};

/** Draws the next call of a sequence. @param words the saved states before the call. */
function randomCall(random: Random, n: number, words: Uint32Array): [name: string, call: Call] {
  const finished = Array.from({ length: n }, (_, i) =>
    Number(words[i * STATE_WORDS + STATE.step] === NUM_STEPS),
  );
  const randomEnvs = (of: number) => Uint32Array.from({ length: n }, () => random.integer(0, of - 1));
  const orNull = <T>(value: T): T | null => (random.chance(0.5) ? value : null);
  const calls: Record<string, () => Call> = {
    step: () => {
      const step = random.step(finished);
      return (batch) => accepted(batch.submit(step));
    },
    run: () => {
      const run = random.run(n);
      return (batch) => accepted(batch.run(run));
    },
    record: () => {
      const run = random.run(n);
      return async (batch) => {
        const trajectory = allocateTrajectory(n);
        await accepted(batch.run({ ...run, trajectory }));
        return copyColumns(trajectory);
      };
    },
    fork: () => {
      const [run, indices] = [random.run(n), randomEnvs(SOURCE)];
      return (batch, source) => accepted(batch.run({ ...run, from: { source: source as never, indices } }));
    },
    gather: () => {
      const indices = randomEnvs(SOURCE);
      return (batch, source) => accepted(batch.gather(source, indices));
    },
    shuffle: () => {
      const indices = randomEnvs(n);
      return (batch) => accepted(batch.gather(batch, indices));
    },
    reset: () => {
      const all = random.resetAtAnyStep(n);
      const request = {
        ...all,
        mask: random.mask(n, 0.5),
        modes: orNull(all.modes),
        profiles: orNull(all.profiles),
      };
      return (batch) => accepted(batch.reset(request));
    },
    load: () => (batch) => accepted(batch.load(words)),
    save: () => {
      const indices = randomEnvs(n);
      return async (batch) => ({ saved: await batch.save(indices) });
    },
    illegal: () => {
      const actions = new Uint8Array(n).fill(1);
      actions[random.integer(0, n - 1)] = 10;
      const step = { actions, beliefs: null, given: null, stepMask: null, resetMask: null, resetSeeds: null };
      return async (batch) => {
        const { code, index } = batch.submit(step)!;
        return { refusal: Uint32Array.of(index, Number(code === 'illegal_action')) };
      };
    },
  };
  const name = random.pick(Object.keys(calls));
  return [name, calls[name]()];
}

describeGpu('random call sequences on devices', () => {
  it.each(Array.from({ length: 24 }, (_, seed) => [seed]))(
    'sequence %i equals the reference',
    async (seed) => {
      const random = new Random(`sequence ${seed}`);
      const n = random.pick([1, 3, 16, 17, 33, 100]);
      const pairs = await Promise.all(ENGINES.map((engine) => openPair(engine, n, seed)));
      const [expected, ...others] = pairs;
      for (let at = 0; at < 6; at++) {
        const [name, call] = randomCall(random, n, await expected.own.batch.save());
        const columnsAfterCall = async ({ own, source }: (typeof pairs)[number]) => ({
          ...(await call(own.batch, source.batch)),
          ...(await own.columns()),
        });
        const columns = await columnsAfterCall(expected);
        for (const [k, other] of others.entries()) {
          const lines = differences(columns, await columnsAfterCall(other));
          expect(lines.map((line) => `call ${at}, ${name}, engine ${k + 1}: ${line}`)).toEqual([]);
        }
      }
      for (const { own, source } of pairs) for (const { batch } of [own, source]) batch.close();
    },
  );
});

it('openPair opens equal batches for equal seeds', async () => {
  const [reference] = ENGINES;
  const words = async () => (await openPair(reference, 20, 3)).own.batch.save();
  expect(await words()).toEqual(await words());
});
