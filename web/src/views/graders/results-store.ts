/** Plays the ranked policies in the worker, chunk by chunk, and keeps their components. */
import { signal } from '@preact/signals';
import type { PolicyComponents } from '../../../../src/evaluation/ranking.js';
import type { WeightSensitivity } from '../../../../src/evaluation/weight-sensitivity.js';
import { NUM_COMPONENTS } from '../../../../src/world/fields.js';
import { RANKED_POLICIES } from '../../graders/verdict.js';
import type { GradersApi } from '../../graders/worker.js';
import { keyOf, type StudentFile } from '../../person/episode.js';
import { keptStudents } from '../../students/kept-students.js';
import { type Failure, toFailure, workerClient } from '../../workers/calls.js';

/** The components of all ranked policies in the episodes so far. */
export interface Results {
  /** The first seed. */
  readonly seed: number;
  /** The students that were played, as text. */
  readonly students: string;
  readonly numEpisodes: number;
  readonly policies: readonly PolicyComponents[];
}

const call = workerClient<GradersApi>(
  'The worker that plays the policies',
  () => new Worker(new URL('../../graders/worker.ts', import.meta.url), { type: 'module', name: 'graders' }),
);

/** Null before the first chunk. */
export const results = signal<Results | null>(null);
export const failure = signal<Failure | null>(null);

/** The number of calls of `play` and `stopPlaying` so far. Each ends the previous request. */
let requests = 0;

/** Episodes per call: few, so that the worker soon answers other calls. */
const CHUNK = 24;

/** Plays episodes from a seed on. Keeps the results so far if they begin at the same seed and have the same students. */
export async function play(seed: number, numEpisodes: number): Promise<void> {
  requests += 1;
  const request = requests;
  failure.value = null;
  const students = keptStudents.value;
  try {
    for (let done = reuseResults(seed, students, numEpisodes); done < numEpisodes; ) {
      const count = Math.min(CHUNK, numEpisodes - done);
      const components = await call((worker) => worker.play(seed + done, count, students));
      if (request !== requests) return;
      results.value = append(done === 0 ? null : results.value, { seed, students, components });
      done += count;
    }
  } catch (error) {
    if (request === requests) failure.value = toFailure(error);
  }
}

/** Stops playing, when the view is left. The results are kept. */
export function stopPlaying(): void {
  requests += 1;
}

/**
 * Keeps at most `numEpisodes` episodes of the results if the seed and the students are the same; else drops all results.
 * @returns the number of kept episodes.
 */
function reuseResults(seed: number, students: readonly StudentFile[], numEpisodes: number): number {
  const previous = results.value;
  if (previous === null || previous.seed !== seed || previous.students !== textOf(students)) {
    results.value = null;
    return 0;
  }
  if (previous.numEpisodes > numEpisodes) {
    const policies = previous.policies.map(({ name, components }) => ({
      name,
      components: components.slice(0, (components.length / previous.numEpisodes) * numEpisodes),
    }));
    results.value = { ...previous, numEpisodes, policies };
  }
  return results.value!.numEpisodes;
}

const textOf = (students: readonly StudentFile[]): string => students.map(keyOf).join();

interface Part {
  readonly seed: number;
  readonly students: readonly StudentFile[];
  readonly components: readonly Float32Array[];
}

function append(previous: Results | null, { seed, students, components }: Part): Results {
  const policies = [...RANKED_POLICIES, ...students].map(({ name }, k) => {
    const old = previous?.policies[k].components ?? new Float32Array();
    const all = new Float32Array(old.length + components[k].length);
    all.set(old);
    all.set(components[k], old.length);
    return { name, components: all };
  });
  return {
    seed,
    students: textOf(students),
    numEpisodes: policies[0].components.length / NUM_COMPONENTS,
    policies,
  };
}

/** Computes the weight sensitivity of the ranking in the worker. @throws CallFailed. */
export const sensitivityOf = (
  policies: readonly PolicyComponents[],
  weights: readonly number[],
): Promise<WeightSensitivity[]> => call((worker) => worker.sensitivity(policies, weights));
