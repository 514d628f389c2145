/** Plays part of a crowd: each policy of the request with the same people. */
import { findPolicy } from '../../../src/agents/policies/fixed-policies.js';
import { readStudent, Student } from '../../../src/agents/student/student.js';
import type { Platform } from '../../../src/engine/backends/open-batch.js';
import { replayHistory } from '../../../src/engine/reference/saved-states.js';
import { type AsyncVecEnv, openAsyncVecEnv } from '../../../src/engine/vec-env/async-vec-env.js';
import { NUM_METERS, NUM_STEPS, OBSERVATION, OBSERVATION_SIZE } from '../../../src/world/fields.js';
import type { StudentFile } from '../person/episode.js';
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

/** Plays the chunks of one request. */
export class ChunkPlayer implements AsyncDisposable {
  readonly #request: CrowdRequest;
  readonly #students: readonly StudentFile[];
  readonly #platform: Platform;
  readonly #backend: 'auto' | 'webgpu';
  #env: AsyncVecEnv | null = null;

  /** @param students the students trained on the page that the request names. */
  constructor(
    request: CrowdRequest,
    students: readonly StudentFile[],
    platform: Platform,
    backend: 'auto' | 'webgpu' = 'auto',
  ) {
    this.#request = request;
    this.#students = students;
    this.#platform = platform;
    this.#backend = backend;
  }

  /** Plays a chunk. @throws BackendError; InputError `unknown_name`, `bad_student`. */
  async play(chunk: Chunk): Promise<PlayedChunk> {
    if (this.#env?.numEnvs !== chunk.count) {
      await this[Symbol.asyncDispose]();
      const options = { numEnvs: chunk.count, grader: this.#request.grader, backend: this.#backend };
      this.#env = await openAsyncVecEnv(this.#platform, options);
    }
    const outputs: ChunkOutputs[] = [];
    for (const name of this.#request.policies) outputs.push(await this.#playPolicy(name, chunk, this.#env!));
    const { backend, device } = this.#env!;
    return { outputs, backend, adapter: device?.adapter ?? null };
  }

  async #playPolicy(name: string, chunk: Chunk, env: AsyncVecEnv): Promise<ChunkOutputs> {
    const { seed, profiles, grader } = this.#request;
    const file = this.#students.find((each) => each.name === name)?.file;
    const policy = file === undefined ? findPolicy(name) : readStudent(file);
    const start = await env.reset({ seed: seed + chunk.first, profiles });
    if (policy instanceof Student) return playStudent(policy, env, start.observations, chunk.withMeters);
    const { finalScores, components, trajectory } = await env.run(policy.choice(chunk.count, grader), {
      beliefs: policy.options.beliefs,
      trajectory: chunk.withMeters && ['meters'],
    });
    return {
      finalScores: finalScores.slice(),
      components: components.slice(),
      meters: trajectory?.meters ?? null,
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#env?.close();
    this.#env = null;
  }
}

/** Plays a student step by step. @param first the observations before the first step. */
async function playStudent(
  student: Student,
  env: AsyncVecEnv,
  first: Float32Array,
  withMeters: boolean,
): Promise<ChunkOutputs> {
  const { numEnvs, world } = env;
  const player = student.open({ numEnvs, grader: null, world });
  const playing = new Uint8Array(numEnvs).fill(1);
  const meters = withMeters ? new Float32Array(numEnvs * NUM_STEPS * NUM_METERS) : null;
  let [observations, result] = [first, null as Awaited<ReturnType<typeof env.step>> | null];
  for (let step = 0; step < NUM_STEPS; step++) {
    const { actions, beliefs } = player.act({
      ...{ observations, playing },
      steps: new Uint8Array(numEnvs).fill(step),
    });
    result = await env.step(actions, { beliefs });
    observations = result.observations;
    if (meters !== null) copyMeters(observations, meters, step);
  }
  const { finalScores, components } = result!;
  return { finalScores: finalScores.slice(), components: components.slice(), meters };
}

/** Copies the meters after a step. @param meters f32 [n, 28, 5]. */
function copyMeters(observations: Float32Array, meters: Float32Array, step: number): void {
  for (let i = 0; i * OBSERVATION_SIZE < observations.length; i++) {
    const at = i * OBSERVATION_SIZE + OBSERVATION.meters;
    meters.set(observations.subarray(at, at + NUM_METERS), (i * NUM_STEPS + step) * NUM_METERS);
  }
}

/** Loads the player of crowds on WebGPU. An emulated device must be named to be used. */
export async function loadGpuPlayer(): Promise<(request: CrowdRequest) => ChunkPlayer> {
  const { webGpuBackend } = await import('../../../src/engine/backends/webgpu/webgpu-backend.js');
  const asyncBackends = [webGpuBackend(async () => navigator.gpu)];
  const platform: Platform = { backends: [], asyncBackends, replayHistory };
  return (request) => new ChunkPlayer(request, [], platform, 'webgpu');
}
