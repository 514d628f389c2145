/** A row of the golden tables in a page: whole episodes in one call, to their final scores. */
import type { AsyncBackend } from '../../src/backends/async-backend.js';
import { allocateOutputs } from '../../src/backends/outputs.js';
import { MODE, NUM_COMPONENTS, PROFILE_NAMES, PROFILE_SIZE } from '../../src/world/fields.js';
import { resolveGrader } from '../../src/world/resolve.js';
import { createWorld } from '../../src/world/world.js';

export interface Row {
  readonly numEnvs: number;
  /** Slot i plays this plus i. */
  readonly firstSeed: number;
  /** `sampled`, or a named profile. */
  readonly profile: string;
  readonly grader: string;
  readonly policy: 'random' | 'heuristic';
  /** Given at every step; null for none. */
  readonly belief: readonly number[] | null;
}

/** f32 [numEnvs]. */
export async function finalScores(backend: AsyncBackend, row: Row): Promise<Float32Array> {
  const { numEnvs, firstSeed, policy, belief } = row;
  const world = createWorld();
  const outputs = allocateOutputs(numEnvs);
  const device = { allowInexact: false, maxDispatchMs: 100, workgroupSize: 64 };
  const batch = await backend.open({
    ...{ numEnvs, world, imagination: false, threads: 1, kernel: null, outputs, device },
  });
  const named = PROFILE_NAMES.indexOf(row.profile as (typeof PROFILE_NAMES)[number]);
  const person = world.params.namedProfiles;
  const grader = resolveGrader(world, row.grader);
  batch.reset({
    mask: null,
    seeds: Uint32Array.from({ length: numEnvs }, (_, i) => firstSeed + i),
    modes: new Uint8Array(numEnvs).fill(named < 0 ? MODE.sampled : MODE.given),
    profiles: Float32Array.from({ length: numEnvs * PROFILE_SIZE }, (_, k) =>
      named < 0 ? 0 : person[named * PROFILE_SIZE + (k % PROFILE_SIZE)],
    ),
    graders: Float32Array.from({ length: numEnvs * NUM_COMPONENTS }, (_, k) => grader[k % NUM_COMPONENTS]),
  });
  await batch.run({
    policy: policy === 'random' ? { kind: policy, policySeeds: null } : { kind: policy },
    beliefs: belief === null ? null : { kind: 'constant', belief: Float32Array.from(belief) },
    stops: null,
    trajectory: null,
  });
  await batch.read(['finalScores']);
  batch.close();
  return outputs.finalScores;
}
