/**
 * Random sequences of all calls, on shards of two tiles and with several workgroup sizes: results do not depend on the
 * position of an environment or on the other environments.
 */
import { expect, it } from 'vitest';
import type { AsyncBackend, AsyncBatch } from '../../../../src/engine/backends/async-backend.js';
import { allocateOutputs, allocateTrajectory } from '../../../../src/engine/backends/outputs.js';
import { queued } from '../../../../src/engine/backends/queued-backend.js';
import { referenceBackend } from '../../../../src/engine/backends/reference.js';
import { findNodeGpu } from '../../../../src/engine/backends/webgpu/node-gpu.js';
import { webGpuBackend } from '../../../../src/engine/backends/webgpu/webgpu-backend.js';
import { NUM_STEPS, STATE, STATE_WORDS } from '../../../../src/world/fields.js';
import { asyncBatchColumns, type Columns, differences } from '../../../support/bits.js';
import { DEVICE, optionsFor } from '../../../support/gpu.js';
import { describeGpu } from '../../../support/gpu-suite.js';
import { Random } from '../../../support/random.js';

const SOURCE = 40;
const small = webGpuBackend(findNodeGpu, { envsOfShard: 32 });
const ENGINES: readonly { backend: AsyncBackend; workgroupSize: number; maxDispatchMs: number }[] = [
  { backend: queued(referenceBackend), workgroupSize: 64, maxDispatchMs: 100 },
  { backend: small, workgroupSize: 16, maxDispatchMs: 100 },
  { backend: small, workgroupSize: 1, maxDispatchMs: 1 },
  { backend: webGpuBackend(findNodeGpu), workgroupSize: 256, maxDispatchMs: 10_000 },
];

/** A batch and a source to copy from, on one engine. */
async function openPair(engine: (typeof ENGINES)[number], n: number, seed: number) {
  const { backend, ...device } = engine;
  // All engines get the same options.
  const random = new Random(`options ${seed}`);
  const imagination = random.chance(0.3);
  const open = async (numEnvs: number) => {
    const layout = { columnMajor: random.chance(0.5), finalObservations: random.chance(0.5) };
    const outputs = allocateOutputs(numEnvs, layout);
    const options = optionsFor(numEnvs, { imagination, outputs, device: { ...DEVICE, ...device } });
    const batch = await backend.open(options);
    batch.reset(random.resetAtAnyStep(numEnvs));
    return { batch, see: () => asyncBatchColumns(batch, outputs) };
  };
  const [own, source] = [await open(n), await open(SOURCE)];
  await source.batch.run({ ...random.run(SOURCE), trajectory: null });
  return { own, source };
}

type Act = (batch: AsyncBatch, source: AsyncBatch) => Promise<Columns>;

const nothing = async (act: unknown): Promise<Columns> => {
  expect((await act) ?? null).toBeNull();
  return {};
};

/** Returns the next call of a sequence. @param words the states before. */
function nextAct(random: Random, n: number, words: Uint32Array): [what: string, act: Act] {
  const over = Array.from({ length: n }, (_, i) => Number(words[i * STATE_WORDS + STATE.step] === NUM_STEPS));
  const slots = (of: number) => Uint32Array.from({ length: n }, () => random.integer(0, of - 1));
  const some = <T>(value: T): T | null => (random.chance(0.5) ? value : null);
  const acts: Record<string, () => Act> = {
    step: () => {
      const step = random.step(over);
      return (batch) => nothing(batch.submit(step));
    },
    run: () => {
      const run = random.run(n);
      return (batch) => nothing(batch.run(run));
    },
    record: () => {
      const run = random.run(n);
      return async (batch) => {
        const trajectory = allocateTrajectory(n);
        await nothing(batch.run({ ...run, trajectory }));
        return { ...trajectory };
      };
    },
    fork: () => {
      const [run, indices] = [random.run(n), slots(SOURCE)];
      return (batch, source) => nothing(batch.run({ ...run, from: { source: source as never, indices } }));
    },
    gather: () => {
      const indices = slots(SOURCE);
      return (batch, source) => nothing(batch.gather(source, indices));
    },
    shuffle: () => {
      const indices = slots(n);
      return (batch) => nothing(batch.gather(batch, indices));
    },
    reset: () => {
      const all = random.resetAtAnyStep(n);
      const request = {
        ...all,
        mask: random.mask(n, 0.5),
        modes: some(all.modes),
        profiles: some(all.profiles),
      };
      return (batch) => nothing(batch.reset(request));
    },
    load: () => (batch) => nothing(batch.load(words)),
    save: () => {
      const indices = slots(n);
      return async (batch) => ({ picked: await batch.save(indices) });
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
  const what = random.pick(Object.keys(acts));
  return [what, acts[what]()];
}

describeGpu('stories on devices', () => {
  it.each(Array.from({ length: 24 }, (_, seed) => [seed]))(
    'sequence %i equals the reference',
    async (seed) => {
      const random = new Random(`story ${seed}`);
      const n = random.pick([1, 3, 16, 17, 33, 100]);
      const pairs = await Promise.all(ENGINES.map((engine) => openPair(engine, n, seed)));
      const [expected, ...others] = pairs;
      for (let leg = 0; leg < 6; leg++) {
        const [what, act] = nextAct(random, n, await expected.own.batch.save());
        const live = async ({ own, source }: (typeof pairs)[number]) => ({
          ...(await act(own.batch, source.batch)),
          ...(await own.see()),
        });
        const wanted = await live(expected);
        for (const [k, other] of others.entries()) {
          const lines = differences(wanted, await live(other));
          expect(lines.map((line) => `leg ${leg}, ${what}, engine ${k + 1}: ${line}`)).toEqual([]);
        }
      }
      for (const { own, source } of pairs) for (const { batch } of [own, source]) batch.close();
    },
  );
});

it('all engines start a sequence with equal batches', async () => {
  const [reference] = ENGINES;
  const words = async () => (await openPair(reference, 20, 3)).own.batch.save();
  expect(await words()).toEqual(await words());
});
