/** The policies that play the day's person beside the user, in a worker of their own. */
import { signal } from '@preact/signals';
import { STUDENT_NAMES } from '../../../../src/agents/student/shipped-students.js';
import type { EpisodeSetting, Rival } from '../../person/episode-types.js';
import type { PersonApi } from '../../person/worker.js';
import { WorkerClient } from '../../workers/worker-client.js';

/** The student that was trained for the grader of the daily episode. */
const STUDENT = STUDENT_NAMES.find((name) => name.includes('v3')) ?? STUDENT_NAMES[0];

/** The fastest first. */
export const RIVALS: readonly string[] = ['heuristic', STUDENT, 'planner'];

const client = new WorkerClient<PersonApi>(
  'The worker of the other players',
  () => new Worker(new URL('../../person/worker.ts', import.meta.url), { type: 'module', name: 'rivals' }),
);

/** The rivals that have finished the episode of `rivalsSeed`. */
export const rivals = signal<readonly Rival[]>([]);
let rivalsSeed: number | null = null;

/** Lets the rivals play, once for each person. A rival that fails is left out. */
export async function playRivals(setting: EpisodeSetting): Promise<void> {
  if (rivalsSeed === setting.seed) return;
  rivalsSeed = setting.seed;
  rivals.value = [];
  for (const name of RIVALS) {
    const rival = await client.call((worker) => worker.rival(name, setting)).catch(() => null);
    if (rivalsSeed !== setting.seed) return;
    if (rival !== null) rivals.value = [...rivals.value, rival];
  }
}
