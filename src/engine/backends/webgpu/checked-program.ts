/**
 * Compiles the shaders for a device, checks whether the device is exact, and opens batches. The check compares a few hundred of its
 * episodes with the reference's.
 */

import {
  MODE,
  NUM_ACTIONS,
  NUM_BELIEFS,
  NUM_COMPONENTS,
  NUM_STEPS,
  PROFILE_SIZE,
} from '../../../world/fields.js';
import { resolveGrader } from '../../../world/resolve-names.js';
import { createWorld, type World } from '../../../world/world.js';
import type { Awaitable, Batch, BatchOptions, Outputs, ResetRequest, RunRequest } from '../backend.js';
import { allocateOutputs, OUTPUT_ARRAYS } from '../outputs.js';
import { referenceBackend } from '../reference.js';
import type { GpuDevice } from './device.js';
import { SHADER_TEXTS } from './generated/shaders.js';
import { Program, type ShaderTexts } from './program.js';
import { WebGpuBatch } from './webgpu-batch.js';

/** Replacements, for tests. */
export interface WebGpuOverrides {
  readonly texts?: ShaderTexts;
  /** The largest number of environments per segment (segment.ts), a multiple of TILE (buffer-layout.ts). */
  readonly maxEnvsPerSegment?: number;
}

/** A program, and the comparison of its episodes with the reference's. */
export interface CheckedProgram {
  readonly proof: Proof;
  /** Opens a batch. @throws as `WebGpuBatch.opened`. */
  open(options: BatchOptions): Promise<WebGpuBatch>;
}

/**
 * Compiles the shaders and compares their episodes with the reference's.
 * @throws BackendError `backend_unavailable` if the device refuses the shaders, or as `WebGpuBatch.opened`.
 */
export async function checkProgram(
  device: GpuDevice,
  workgroupSize: number,
  { texts = SHADER_TEXTS, maxEnvsPerSegment }: WebGpuOverrides,
): Promise<CheckedProgram> {
  const program = await Program.compile(device, texts, workgroupSize);
  const openAs = (options: BatchOptions, exact: boolean): Promise<WebGpuBatch> =>
    new WebGpuBatch(program, options, exact, maxEnvsPerSegment).opened();
  const proof = await proveExact((options) => openAs(options, true), createWorld());
  return { proof, open: (options) => openAs(options, proof.different === 0) };
}

/** Episodes of each test run. Chosen by hand: more find rarer differences, and take longer. */
const EPISODES = 128;
/** Steps that are submitted one by one. A run plays the rest. Chosen by hand. */
const SINGLE_STEPS = 9;

/** The number of compared episodes, and of those that differ from the reference's in any bit of state or outputs. */
export interface Proof {
  readonly episodes: number;
  readonly different: number;
}

type Open = (options: BatchOptions) => Awaitable<Batch>;

/**
 * Plays the same episodes on the device and on the reference, and counts those that differ. The first test run uses the
 * imagination streams.
 */
export async function proveExact(open: Open, world: World): Promise<Proof> {
  // The batches use only `maxDispatchMs`, which has its default value (device-options.ts).
  const device = { allowInexact: true, maxDispatchMs: 100, workgroupSize: 64 };
  let different = 0;
  for (const [index, run] of testRuns().entries()) {
    const results = [referenceBackend.open, open].map(async (openBatch) => {
      const outputs = allocateOutputs(EPISODES);
      const batch = await openBatch({
        ...{ numEnvs: EPISODES, world, imagination: index === 0, threads: 1, kernel: null, outputs, device },
      });
      return play(batch, outputs, resetOf(world, index), run);
    });
    const [expected, got] = await Promise.all(results);
    different += countDifferent(expected, got);
  }
  return { episodes: testRuns().length * EPISODES, different };
}

/** Returns one run for each kind of policy. Beliefs and action sequences are arbitrary, but always the same. */
function testRuns(): RunRequest[] {
  const plain = { stops: null, trajectory: null };
  const belief = Float32Array.of(0.25, 0.5, 0.875);
  const actions = Uint8Array.from(
    { length: EPISODES * NUM_STEPS },
    (_, k) => (k * 7 + (k >> 5)) % NUM_ACTIONS,
  );
  return [
    { ...plain, policy: { kind: 'random', policySeeds: null }, beliefs: { kind: 'constant', belief } },
    { ...plain, policy: { kind: 'heuristic' }, beliefs: null },
    { ...plain, policy: { kind: 'sequence', actions }, beliefs: { kind: 'constant', belief } },
  ];
}

/** Returns a reset with sampled, discrete and given profiles. @param index the test run's index; each run has other seeds. */
function resetOf(world: World, index: number): ResetRequest {
  const modes = Uint8Array.from(
    { length: EPISODES },
    (_, i) => [MODE.sampled, MODE.sampled, MODE.discrete, MODE.given][i % 4],
  );
  const graders = new Float32Array(EPISODES * NUM_COMPONENTS);
  for (let i = 0; i < EPISODES; i++)
    graders.set(resolveGrader(world, i % 2 ? 'v1' : 'v2'), i * NUM_COMPONENTS);
  return {
    mask: null,
    // Multiplying by a large odd number spreads the seeds over all u32.
    seeds: Uint32Array.from({ length: EPISODES }, (_, i) => Math.imul(i + 1 + index * EPISODES, 0x9e3779b1)),
    modes,
    profiles: Float32Array.from(
      { length: EPISODES * PROFILE_SIZE },
      (_, k) => world.params.namedProfiles[k % (2 * PROFILE_SIZE)],
    ),
    graders,
  };
}

/** Takes some steps with beliefs, then runs the rest. @returns states and outputs, each with a row per environment. */
async function play(
  batch: Batch,
  outputs: Outputs,
  reset: ResetRequest,
  run: RunRequest,
): Promise<Uint8Array[]> {
  const noMasks = { stepMask: null, resetMask: null, resetSeeds: null };
  batch.reset(reset);
  for (let t = 0; t < SINGLE_STEPS; t++) {
    const actions = Uint8Array.from({ length: EPISODES }, (_, i) => (i + t) % NUM_ACTIONS);
    const beliefs = Float32Array.from({ length: EPISODES * NUM_BELIEFS }, (_, k) => ((k * 37) % 101) / 100);
    // Two of three environments give a belief.
    const given = Uint8Array.from({ length: EPISODES }, (_, i) => (i + t) % 3 && 1);
    // These actions are legal, so no call is refused.
    batch.submit({ actions, beliefs, given, ...noMasks });
  }
  await batch.run(run);
  await batch.read();
  const arrays = Object.keys(OUTPUT_ARRAYS).map((name) => outputs[name as keyof typeof OUTPUT_ARRAYS]);
  const rows = [await batch.save(), await batch.stateHash(), await batch.beliefTargets(), ...arrays];
  batch.close();
  return rows
    .filter((row) => row !== null)
    .map((row) => new Uint8Array(row.buffer, row.byteOffset, row.byteLength));
}

function countDifferent(expected: readonly Uint8Array[], got: readonly Uint8Array[]): number {
  const envs = Array.from({ length: EPISODES }, (_, i) => i);
  return envs.filter((i) => expected.some((array, k) => !sameRow(array, got[k], i))).length;
}

function sameRow(a: Uint8Array, b: Uint8Array, row: number): boolean {
  const width = a.length / EPISODES;
  for (let at = row * width; at < (row + 1) * width; at++) if (a[at] !== b[at]) return false;
  return true;
}
