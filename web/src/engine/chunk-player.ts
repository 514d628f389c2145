/** Plays part of a crowd: each policy of the request with the same people. */
import { findPolicy } from '../../../src/agents/policies/fixed-policies.js';
import { readStudent } from '../../../src/agents/student/student.js';
import type { Platform } from '../../../src/engine/backends/open-batch.js';
import { replayHistory } from '../../../src/engine/reference/saved-states.js';
import { type AsyncVecEnv, openAsyncVecEnv } from '../../../src/engine/vec-env/async-vec-env.js';
import { NUM_METERS, NUM_STEPS, OBSERVATION, OBSERVATION_SIZE } from '../../../src/world/fields.js';
import type { StudentFile } from '../person/episode.js';
import { playSteps, seedsFrom } from '../workers/platform.js';
import type { CrowdRequest } from './requests.js';

/** Consecutive people of a crowd. */
export interface Chunk {
  /** The number of people before them. */
  readonly first: number;
  readonly count: number;
  /** Whether to return the meters of every step. */
  readonly withMeters: boolean;
}

/** The outputs of a chunk under one policy. */
export interface ChunkOutputs {
  /** f32 [n]. */
  readonly finalScores: Float32Array;
  /** f32 [n, NUM_COMPONENTS]. */
  readonly components: Float32Array;
  /** f32 [n, 28, 5]; null without `withMeters`. */
  readonly meters: Float32Array | null;
}

/** A chunk as it was played. */
export interface PlayedChunk {
  /** By policy; copies. */
  readonly outputs: readonly ChunkOutputs[];
  readonly backend: string;
  /** The graphics device, as the browser describes it; null without one. */
  readonly adapter: string | null;
}

export type ChunkPlayer = ReturnType<typeof openChunkPlayer>;

/** Opens what plays the chunks of one request. @param students the students trained on the page that the request names. */
export function openChunkPlayer(
  { policies, seed, profiles, grader }: CrowdRequest,
  students: readonly StudentFile[],
  platform: Platform,
  backend: 'auto' | 'webgpu' = 'auto',
) {
  let env: AsyncVecEnv | null = null;
  const close = async (): Promise<void> => {
    await env?.close();
    env = null;
  };
  const playPolicy = async (env: AsyncVecEnv, name: string, chunk: Chunk): Promise<ChunkOutputs> => {
    const episodes = { seed: seedsFrom(seed + chunk.first, chunk.count), profiles };
    const student = students.find((each) => each.name === name);
    if (student !== undefined) return playStudent(student, env, episodes, chunk.withMeters);
    const policy = findPolicy(name);
    await env.reset(episodes);
    const { finalScores, components, trajectory } = await env.run(policy.choice(chunk.count, grader), {
      ...policy.options,
      trajectory: chunk.withMeters && ['meters'],
    });
    const meters = trajectory?.meters ?? null;
    return { finalScores: finalScores.slice(), components: components.slice(), meters };
  };
  return {
    /** Plays a chunk. @throws BackendError; InputError `unknown_name`, `bad_student`. */
    async play(chunk: Chunk): Promise<PlayedChunk> {
      if (env?.numEnvs !== chunk.count) await close();
      env ??= await openAsyncVecEnv(platform, { numEnvs: chunk.count, grader, backend });
      const outputs: ChunkOutputs[] = [];
      for (const name of policies) outputs.push(await playPolicy(env, name, chunk));
      return { outputs, backend: env.backend, adapter: env.device?.adapter ?? null };
    },
    [Symbol.asyncDispose]: close,
  };
}

/** Plays a student step by step. */
async function playStudent(
  { file }: StudentFile,
  env: AsyncVecEnv,
  episodes: Parameters<typeof playSteps>[2],
  withMeters: boolean,
): Promise<ChunkOutputs> {
  const { numEnvs, world } = env;
  const player = readStudent(file).open({ numEnvs, grader: null, world });
  const meters = withMeters ? new Float32Array(numEnvs * NUM_STEPS * NUM_METERS) : null;
  const { finalScores, components } = await playSteps(env, player, episodes, (_, { observations }, step) => {
    for (let i = 0; meters !== null && i < numEnvs; i++) {
      const at = i * OBSERVATION_SIZE + OBSERVATION.meters;
      meters.set(observations.subarray(at, at + NUM_METERS), (i * NUM_STEPS + step) * NUM_METERS);
    }
  });
  return { finalScores: finalScores.slice(), components: components.slice(), meters };
}

/** Loads the player of crowds on WebGPU. An emulated device must be named to be used. */
export async function loadGpuPlayer(): Promise<(request: CrowdRequest) => ChunkPlayer> {
  const { webGpuBackend } = await import('../../../src/engine/backends/webgpu/webgpu-backend.js');
  const asyncBackends = [webGpuBackend(async () => navigator.gpu)];
  const platform: Platform = { backends: [], asyncBackends, replayHistory };
  return (request) => openChunkPlayer(request, [], platform, 'webgpu');
}
