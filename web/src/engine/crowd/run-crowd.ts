/** Runs a crowd in the worker: many episodes, in chunks, under one or two policies. */

import { findPolicy } from '../../../../src/agents/policies/fixed-policies.js';
import { readStudent, Student } from '../../../../src/agents/student/student.js';
import { yieldTurn } from '../../../../src/engine/engine-calls.js';
import { graderWeights } from '../../../../src/engine/graders/grader.js';
import { NUM_STEPS } from '../../../../src/world/fields.js';
import type { StudentFile } from '../../students/student-files.js';
import { type ChosenBackend, knownBackend, processorBackend } from '../backend.js';
import type { Report } from '../jobs.js';
import { CrowdEnvs, type CrowdPlayer } from './crowd-envs.js';
import { BAND_EPISODES, type Crowd, type CrowdRequest, MAX_ON_REFERENCE } from './crowd-request.js';
import { type ChunkOutputs, PairStatistics, PolicyStatistics } from './crowd-statistics.js';

/**
 * Episodes per chunk, chosen by hand: enough to keep a device busy, and few enough to stop soon. The first chunk is small,
 * because it is shown at once. `software` is a device that the processor emulates.
 */
const CHUNK = { first: 2 ** 10, device: 2 ** 17, software: 2 ** 15, reference: 2 ** 13, student: 2 ** 11 };

/** Milliseconds between two reports of results. Chosen by hand. */
const REPORT_INTERVAL = 700;

/**
 * Runs every policy on the same episodes. Until the backend has been chosen, the processor computes, which gives the same bits.
 * A stop ends the run with the episodes so far.
 * @param students the students trained on the page that the request names.
 * @throws BackendError; InputError as `playerNamed`; the signal's reason if it stops the run before the first chunk ends.
 */
export async function runCrowd(
  request: CrowdRequest,
  students: readonly StudentFile[],
  report: Report<Crowd>,
  signal: AbortSignal,
): Promise<Crowd> {
  const run = new CrowdRun(request, students);
  await using envs = new CrowdEnvs(request);
  let reported = Number.NEGATIVE_INFINITY;
  try {
    while (!run.isComplete) {
      signal.throwIfAborted();
      await run.addChunk(envs, signal);
      const isDue = performance.now() - reported > REPORT_INTERVAL && !run.isComplete;
      report({ done: run.done, total: run.total }, isDue ? run.result() : null);
      if (isDue) reported = performance.now();
      // Lets the worker receive a stop, and choose a backend: the processor does not yield by itself.
      await yieldTurn();
    }
  } catch (error) {
    if (!signal.aborted || run.done === 0) throw error;
  }
  return run.result();
}

const chunkOf = (chosen: ChosenBackend | null): number => {
  if (chosen === null || chosen.name === 'reference') return CHUNK.reference;
  return chosen.software ? CHUNK.software : CHUNK.device;
};

/**
 * Returns the policy with a name, or the student trained on the page that has the name.
 * @throws InputError `unknown_name`, `bad_student`.
 */
function playerNamed(name: string, students: readonly StudentFile[]): CrowdPlayer {
  const student = students.find((each) => each.name === name);
  return student === undefined ? findPolicy(name) : readStudent(student.file);
}

/** The statistics of a run, chunk by chunk. */
class CrowdRun {
  readonly #request: CrowdRequest;
  readonly #policies: readonly CrowdPlayer[];
  readonly #statistics: readonly PolicyStatistics[];
  readonly #pairs = new PairStatistics();
  readonly #startTime = performance.now();
  done = 0;

  constructor(request: CrowdRequest, students: readonly StudentFile[]) {
    this.#request = request;
    this.#policies = request.policies.map((name) => playerNamed(name, students));
    this.#statistics = request.policies.map(() => new PolicyStatistics());
  }

  /** The number of episodes to compute. */
  get total(): number {
    const limit = knownBackend()?.name === 'reference' ? MAX_ON_REFERENCE : Number.POSITIVE_INFINITY;
    return Math.min(this.#request.numEpisodes, limit);
  }

  get isComplete(): boolean {
    return this.done >= this.total;
  }

  /** Runs the next episodes under all policies. If the signal stops it, nothing is added. */
  async addChunk(envs: CrowdEnvs, signal: AbortSignal): Promise<void> {
    const chosen = knownBackend();
    // Only the first episodes are in the percentiles of the meters.
    const withMeters = this.done < BAND_EPISODES;
    const chunk = this.done === 0 ? CHUNK.first : this.#chunkOn(chosen);
    const end = withMeters ? Math.min(BAND_EPISODES, this.total) : this.total;
    const count = Math.min(chunk, end - this.done);
    await envs.reset(chosen?.name ?? processorBackend(), count, this.done);
    const outputs: ChunkOutputs[] = [];
    for (const policy of this.#policies) outputs.push(await envs.run(policy, withMeters, signal));
    this.#statistics.forEach((statistics, k) => {
      statistics.add(outputs[k]);
    });
    if (outputs.length === 2) this.#pairs.add(outputs.map(({ finalScores }) => finalScores));
    this.done += count;
  }

  /** Returns the size of a chunk. It is small with a student, which plays step by step on the processor. */
  #chunkOn(chosen: ChosenBackend | null): number {
    return this.#policies.some((policy) => policy instanceof Student) ? CHUNK.student : chunkOf(chosen);
  }

  /** Returns the results of the episodes so far. */
  result(): Crowd {
    const { policies, grader } = this.#request;
    return {
      request: this.#request,
      numEpisodes: this.done,
      complete: this.isComplete,
      policies: this.#statistics.map((each, k) => each.result(policies[k], graderWeights(grader))),
      pairing: policies.length === 2 ? this.#pairs.result() : null,
      steps: this.done * NUM_STEPS * policies.length,
      seconds: (performance.now() - this.#startTime) / 1000,
    };
  }
}
