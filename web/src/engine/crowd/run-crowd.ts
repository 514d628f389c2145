/** Runs a crowd in the worker: many episodes, in chunks, under one or two policies. */

import { type FixedPolicy, findPolicy } from '../../../../src/agents/policies/fixed-policies.js';
import { type AsyncVecEnv, createAsyncVecEnv } from '../../../../src/browser.js';
import { graderWeights } from '../../../../src/engine/graders/grader.js';
import { yieldTurn } from '../../../../src/engine/vec-env/yield-turn.js';
import { type Bands, bandsOf } from '../../../../src/figures/percentiles.js';
import { NUM_STEPS } from '../../../../src/world/fields.js';
import { type Engine, engine } from '../backend.js';
import type { Report } from '../jobs.js';
import { CallFailed } from '../outcome.js';
import { BAND_EPISODES, type Crowd, type CrowdRequest, MAX_ON_REFERENCE } from './crowd-request.js';
import { PairStatistics, PolicyStatistics } from './crowd-statistics.js';

/** Episodes per chunk: enough to keep a device busy, and few enough to stop soon. */
const CHUNK = { device: 2 ** 17, software: 2 ** 15, reference: 2 ** 13 };

/**
 * Runs every policy on the same episodes.
 * @throws CallFailed for more episodes than the limit of the reference; BackendError; the signal's reason.
 */
export async function runCrowd(request: CrowdRequest, report: Report, signal: AbortSignal): Promise<Crowd> {
  const engineInUse = await engine();
  checkSize(request, engineInUse);
  const startTime = performance.now();
  const { numEpisodes, policies } = request;
  const runs = policies.map((name) => new PolicyRun(findPolicy(name), request));
  const pairs = new PairStatistics();
  await using envs = new CrowdEnvs(engineInUse.backend, request);
  for (let done = 0; done < numEpisodes; ) {
    signal.throwIfAborted();
    const count =
      done === 0 ? Math.min(BAND_EPISODES, numEpisodes) : Math.min(chunkOf(engineInUse), numEpisodes - done);
    await envs.reset(count, done);
    const scores: Float32Array[] = [];
    for (const run of runs) scores.push(await run.add(envs, done === 0, signal));
    if (scores.length === 2) pairs.add(scores);
    done += count;
    report({ done, total: numEpisodes });
    // Lets the worker receive a stop: the reference does not yield by itself.
    await yieldTurn();
  }
  return {
    request,
    policies: runs.map((run) => run.result()),
    pairing: runs.length === 2 ? pairs.result() : null,
    steps: numEpisodes * NUM_STEPS * runs.length,
    seconds: (performance.now() - startTime) / 1000,
  };
}

const chunkOf = ({ backend, software }: Engine): number =>
  backend === 'reference' ? CHUNK.reference : software ? CHUNK.software : CHUNK.device;

function checkSize({ numEpisodes }: CrowdRequest, { backend }: Engine): void {
  if (backend !== 'reference' || numEpisodes <= MAX_ON_REFERENCE) return;
  const limit = MAX_ON_REFERENCE.toLocaleString('en');
  throw new CallFailed({
    kind: 'refused',
    message:
      `Expected at most ${limit} people without a graphics device, got ${numEpisodes.toLocaleString('en')}: this page ` +
      'then computes one week after the other. Choose fewer.',
  });
}

/** Two environments: one holds the episodes after reset, the other runs copies of them, policy by policy. */
class CrowdEnvs {
  readonly #backend: string;
  readonly #request: CrowdRequest;
  #initial: AsyncVecEnv | null = null;
  #running: AsyncVecEnv | null = null;
  #indices = new Uint32Array();

  constructor(backend: string, request: CrowdRequest) {
    this.#backend = backend;
    this.#request = request;
  }

  /** Resets the next episodes. @param first the number of episodes before them. */
  async reset(count: number, first: number): Promise<void> {
    if (count !== this.#initial?.numEnvs) await this.#open(count);
    const { seed, profiles } = this.#request;
    await this.#initial!.reset({ seed: seed + first, profiles });
  }

  async #open(count: number): Promise<void> {
    await this[Symbol.asyncDispose]();
    const options = { backend: this.#backend, numEnvs: count, grader: this.#request.grader };
    this.#initial = await createAsyncVecEnv(options);
    this.#running = await createAsyncVecEnv(options);
    this.#indices = Uint32Array.from({ length: count }, (_, i) => i);
  }

  /** Runs the episodes with a policy. The next run overwrites the returned arrays. */
  run({ choice, options }: FixedPolicy, trajectory: boolean, signal: AbortSignal) {
    const { grader } = this.#request;
    const from = { source: this.#initial!, indices: this.#indices };
    return this.#running!.run(choice(this.#indices.length, grader), {
      beliefs: options.beliefs,
      outputs: ['finalScores', 'components'],
      ...{ from, trajectory, signal },
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#running?.close();
    await this.#initial?.close();
  }
}

/** A policy and its statistics. */
class PolicyRun {
  readonly #policy: FixedPolicy;
  readonly #request: CrowdRequest;
  readonly #statistics = new PolicyStatistics();
  #bands: Bands | null = null;

  constructor(policy: FixedPolicy, request: CrowdRequest) {
    this.#policy = policy;
    this.#request = request;
  }

  /**
   * Runs the current chunk and adds it to the statistics.
   * @param trajectory whether to compute the bands from this chunk. @returns the final scores, f32 [n]: a copy.
   */
  async add(envs: CrowdEnvs, trajectory: boolean, signal: AbortSignal): Promise<Float32Array> {
    const outputs = await envs.run(this.#policy, trajectory, signal);
    if (outputs.trajectory !== null) this.#bands = bandsOf(outputs.trajectory.meters);
    this.#statistics.add(outputs);
    return outputs.finalScores.slice();
  }

  result() {
    return this.#statistics.result(this.#policy.name, graderWeights(this.#request.grader), this.#bands!);
  }
}
