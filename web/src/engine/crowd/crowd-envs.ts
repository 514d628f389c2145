/** The environments of a crowd: one holds the episodes after reset, the other runs copies of them, policy by policy. */
import type { FixedPolicy } from '../../../../src/agents/policies/fixed-policies.js';
import { type AsyncVecEnv, createAsyncVecEnv } from '../../../../src/browser.js';
import type { CrowdRequest } from './crowd-request.js';
import type { ChunkOutputs } from './crowd-statistics.js';

export class CrowdEnvs {
  readonly #request: CrowdRequest;
  #initial: AsyncVecEnv | null = null;
  #running: AsyncVecEnv | null = null;
  #indices = new Uint32Array();
  /** The backend and size of the open environments. */
  #opened = '';

  constructor(request: CrowdRequest) {
    this.#request = request;
  }

  /** Resets the next episodes. @param first the number of episodes before them. */
  async reset(backend: string, count: number, first: number): Promise<void> {
    if (this.#opened !== `${backend} ${count}`) await this.#open(backend, count);
    const { seed, profiles } = this.#request;
    await this.#initial!.reset({ seed: seed + first, profiles });
  }

  async #open(backend: string, count: number): Promise<void> {
    await this[Symbol.asyncDispose]();
    const options = { backend, numEnvs: count, grader: this.#request.grader };
    this.#initial = await createAsyncVecEnv(options);
    this.#running = await createAsyncVecEnv(options);
    this.#indices = Uint32Array.from({ length: count }, (_, i) => i);
    this.#opened = `${backend} ${count}`;
  }

  /** Runs the episodes with a policy. @param withMeters whether to read every step. @returns copies. */
  async run(
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
        ...{ from, trajectory: withMeters, signal },
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
