/** Plays the ranked policies in the worker, chunk by chunk, and keeps their components. */
import { signal } from '@preact/signals';
import type { PolicyComponents } from '../../../../src/evaluation/ranking.js';
import { NUM_COMPONENTS } from '../../../../src/world/fields.js';
import { RANKED_POLICIES } from '../../graders/verdict.js';
import type { GradersApi } from '../../graders/worker.js';
import { keyOf } from '../../person/episode.js';
import { keptStudents } from '../../students/kept-students.js';
import { type Failure, toFailure, workerClient } from '../../workers/calls.js';

/** The components of all ranked policies in the episodes so far. */
export interface Results {
  /** The first seed and the students that were played, as text. */
  readonly key: string;
  readonly numEpisodes: number;
  readonly policies: readonly PolicyComponents[];
}

/** Calls the worker that plays the policies. */
export const callGraders = workerClient<GradersApi>(
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
  const key = [seed, ...students.map(keyOf)].join();
  if (results.value?.key !== key) results.value = null;
  else if (results.value.numEpisodes > numEpisodes) results.value = firstOf(results.value, numEpisodes);
  try {
    for (let done = results.value?.numEpisodes ?? 0; done < numEpisodes; ) {
      const count = Math.min(CHUNK, numEpisodes - done);
      const components = await callGraders((worker) => worker.play(seed + done, count, students));
      if (request !== requests) return;
      done += count;
      const policies = [...RANKED_POLICIES, ...students].map(({ name }, k) => {
        const before = results.value?.policies[k].components ?? [];
        return { name, components: Float32Array.from([...before, ...components[k]]) };
      });
      results.value = { key, numEpisodes: done, policies };
    }
  } catch (error) {
    if (request === requests) failure.value = toFailure(error);
  }
}

/** Stops playing, when the view is left. The results are kept. */
export function stopPlaying(): void {
  requests += 1;
}

/** Returns the results of the first episodes. */
function firstOf({ key, policies }: Results, numEpisodes: number): Results {
  const first = policies.map(({ name, components }) => ({
    name,
    components: components.slice(0, NUM_COMPONENTS * numEpisodes),
  }));
  return { key, numEpisodes, policies: first };
}
