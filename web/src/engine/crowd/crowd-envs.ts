/** The two batches of a crowd: one holds the episodes after reset, the other plays each policy from the same beginnings. */
import type { FixedPolicy } from '../../../../src/agents/policies/fixed-policies.js';
import { Student } from '../../../../src/agents/student/student.js';
import { type AsyncVecEnv, createAsyncVecEnv } from '../../../../src/browser.js';
import { yieldTurn } from '../../../../src/engine/engine-calls.js';
import { NUM_METERS, NUM_STEPS, OBSERVATION, OBSERVATION_SIZE } from '../../../../src/world/fields.js';
import type { CrowdRequest } from './crowd-request.js';
import type { ChunkOutputs } from './crowd-statistics.js';

/** A policy of a crowd: one that backends play in one call, or a student that was trained on the page. */
export type CrowdPlayer = FixedPolicy | Student;

/** Runs a crowd chunk by chunk: `reset` prepares the episodes of a chunk, and `run` plays them with one policy. */
export class CrowdEnvs {
  readonly #request: CrowdRequest;
  #initial: AsyncVecEnv | null = null;
  #running: AsyncVecEnv | null = null;
  #indices = new Uint32Array();
  /** The first seed of the chunk. */
  #seed = 0;
  /** The backend and size of the open environments. */
  #opened = '';

  constructor(request: CrowdRequest) {
    this.#request = request;
  }

  /** Resets the next `count` episodes of the crowd. @param first the number of episodes before them. */
  async reset(backend: string, count: number, first: number): Promise<void> {
    if (this.#opened !== `${backend} ${count}`) await this.#open(backend, count);
    const { seed, profiles } = this.#request;
    this.#seed = seed + first;
    await this.#initial!.reset({ seed: this.#seed, profiles });
  }

  async #open(backend: string, count: number): Promise<void> {
    await this[Symbol.asyncDispose]();
    const options = { backend, numEnvs: count, grader: this.#request.grader };
    this.#initial = await createAsyncVecEnv(options);
    this.#running = await createAsyncVecEnv(options);
    this.#indices = Uint32Array.from({ length: count }, (_, i) => i);
    this.#opened = `${backend} ${count}`;
  }

  /** Plays the episodes with a policy. @param withMeters whether to return the meters of every step. @returns copies. */
  run(player: CrowdPlayer, withMeters: boolean, signal: AbortSignal): Promise<ChunkOutputs> {
    return player instanceof Student
      ? this.#runStudent(player, withMeters, signal)
      : this.#runFixed(player, withMeters, signal);
  }

  /** Plays a student step by step. */
  async #runStudent(student: Student, withMeters: boolean, signal: AbortSignal): Promise<ChunkOutputs> {
    const env = this.#running!;
    const { numEnvs, world } = env;
    const player = student.open({ numEnvs, grader: null, world });
    const playing = new Uint8Array(numEnvs).fill(1);
    const meters = withMeters ? new Float32Array(numEnvs * NUM_STEPS * NUM_METERS) : null;
    let result = await env.reset({ seed: this.#seed, profiles: this.#request.profiles });
    for (let step = 0; step < NUM_STEPS; step++) {
      const steps = new Uint8Array(numEnvs).fill(step);
      const { actions, beliefs } = player.act({ observations: result.observations, playing, steps });
      result = await env.step(actions, { beliefs });
      if (meters !== null) copyMeters(result.observations, meters, step);
      await yieldTurn();
      signal.throwIfAborted();
    }
    const { finalScores, components } = result;
    return { finalScores: finalScores.slice(), components: components.slice(), meters };
  }

  async #runFixed(
    { choice, options }: FixedPolicy,
    withMeters: boolean,
    signal: AbortSignal,
  ): Promise<ChunkOutputs> {
    const { grader } = this.#request;
    const from = { source: this.#initial!, indices: this.#indices };
    const { finalScores, components, trajectory } = await this.#running!.run(
      choice(this.#indices.length, grader),
      {
        beliefs: options.beliefs,
        outputs: ['finalScores', 'components'],
        from,
        trajectory: withMeters,
        signal,
      },
    );
    return {
      finalScores: finalScores.slice(),
      components: components.slice(),
      meters: trajectory?.meters ?? null,
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#running?.close();
    await this.#initial?.close();
    [this.#running, this.#initial, this.#opened] = [null, null, ''];
  }
}

/** Copies the meters after a step. @param meters f32 [n, 28, 5]. */
function copyMeters(observations: Float32Array, meters: Float32Array, step: number): void {
  for (let i = 0; i * OBSERVATION_SIZE < observations.length; i++) {
    const at = i * OBSERVATION_SIZE + OBSERVATION.meters;
    meters.set(observations.subarray(at, at + NUM_METERS), (i * NUM_STEPS + step) * NUM_METERS);
  }
}
