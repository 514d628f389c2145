/** The proof that a device's episodes are this environment's: some hundred of them, against the reference. */
import {
  MODE,
  NUM_ACTIONS,
  NUM_BELIEFS,
  NUM_COMPONENTS,
  NUM_STEPS,
  PROFILE_SIZE,
} from '../../world/fields.js';
import { resolveGrader } from '../../world/resolve.js';
import type { World } from '../../world/world.js';
import type { AsyncBatch, AsyncBatchOptions } from '../async-backend.js';
import type { Outputs, ResetRequest, RunRequest } from '../backend.js';
import { allocateOutputs, OUTPUT_ARRAYS } from '../outputs.js';
import { queued } from '../queued.js';
import { referenceBackend } from '../reference.js';

/** Episodes of each of the weeks below. */
const EPISODES = 128;
/** How many of them are stepped one by one before the rest is run in one call. */
const STEPS = 9;

/** How many of the episodes differ from the reference's in any bit of their state or of what they show. */
export interface Proof {
  readonly episodes: number;
  readonly different: number;
}

type Open = (options: AsyncBatchOptions) => Promise<AsyncBatch>;

/** Lives the same weeks on the device and on the reference. */
export async function proveExact(open: Open, world: World): Promise<Proof> {
  const device = { allowInexact: true, maxDispatchMs: 100, workgroupSize: 64 };
  let different = 0;
  for (const [week, run] of weeks().entries()) {
    const lived = [queued(referenceBackend).open, open].map(async (openBatch) => {
      const outputs = allocateOutputs(EPISODES);
      const batch = await openBatch({
        ...{ numEnvs: EPISODES, world, imagination: week === 0, threads: 1, kernel: null, outputs, device },
      });
      return live(batch, outputs, resetOf(world, week), run);
    });
    const [expected, got] = await Promise.all(lived);
    different += countDifferent(expected, got);
  }
  return { episodes: weeks().length * EPISODES, different };
}

/** Persons sampled, discrete and given, and every kind of run. */
function weeks(): RunRequest[] {
  const plain = { stops: null, trajectory: null };
  const belief = Float32Array.of(0.25, 0.5, 0.875);
  const actions = Uint8Array.from(
    { length: EPISODES * NUM_STEPS },
    (_, k) => (k * 7 + (k >> 5)) % NUM_ACTIONS,
  );
  return [
    { ...plain, policy: { kind: 'random', policySeeds: null }, beliefs: { kind: 'constant', belief } },
    { ...plain, policy: { kind: 'heuristic' }, beliefs: null },
    { ...plain, policy: { kind: 'tape', actions }, beliefs: { kind: 'constant', belief } },
  ];
}

function resetOf(world: World, week: number): ResetRequest {
  const modes = Uint8Array.from(
    { length: EPISODES },
    (_, i) => [MODE.sampled, MODE.sampled, MODE.discrete, MODE.given][i % 4],
  );
  const graders = new Float32Array(EPISODES * NUM_COMPONENTS);
  for (let i = 0; i < EPISODES; i++)
    graders.set(resolveGrader(world, i % 2 ? 'v1' : 'v2'), i * NUM_COMPONENTS);
  return {
    mask: null,
    seeds: Uint32Array.from({ length: EPISODES }, (_, i) => Math.imul(i + 1 + week * EPISODES, 0x9e3779b1)),
    modes,
    profiles: Float32Array.from(
      { length: EPISODES * PROFILE_SIZE },
      (_, k) => world.params.namedProfiles[k % (2 * PROFILE_SIZE)],
    ),
    graders,
  };
}

/** Some steps, with beliefs, then the rest. @returns all that is left of it, a row a slot. */
async function live(
  batch: AsyncBatch,
  outputs: Outputs,
  reset: ResetRequest,
  run: RunRequest,
): Promise<Uint8Array[]> {
  const none = { stepMask: null, resetMask: null, resetSeeds: null };
  batch.reset(reset);
  for (let t = 0; t < STEPS; t++) {
    const actions = Uint8Array.from({ length: EPISODES }, (_, i) => (i + t) % NUM_ACTIONS);
    const beliefs = Float32Array.from({ length: EPISODES * NUM_BELIEFS }, (_, k) => ((k * 37) % 101) / 100);
    const given = Uint8Array.from({ length: EPISODES }, (_, i) => (i + t) % 3 && 1);
    batch.submit({ actions, beliefs, given, ...none });
  }
  await batch.run(run);
  await batch.read();
  const arrays = Object.keys(OUTPUT_ARRAYS).map((name) => outputs[name as keyof typeof OUTPUT_ARRAYS]);
  const rows = [await batch.save(), await batch.stateHash(), await batch.targets(), ...arrays];
  batch.close();
  return rows
    .filter((row) => row !== null)
    .map((row) => new Uint8Array(row.buffer, row.byteOffset, row.byteLength));
}

function countDifferent(expected: readonly Uint8Array[], got: readonly Uint8Array[]): number {
  const slots = Array.from({ length: EPISODES }, (_, i) => i);
  return slots.filter((i) => expected.some((array, k) => !sameRow(array, got[k], i))).length;
}

function sameRow(a: Uint8Array, b: Uint8Array, row: number): boolean {
  const width = a.length / EPISODES;
  for (let at = row * width; at < (row + 1) * width; at++) if (a[at] !== b[at]) return false;
  return true;
}
