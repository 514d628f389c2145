/** Rivals: policies that play the user's episode (the same person and luck) in a worker of their own. */
import { signal } from '@preact/signals';
import { STUDENT_NAMES } from '../../../../src/agents/student/packaged-students.js';
import type { EpisodeSetting, Rival } from '../../person/episode-types.js';
import type { PersonApi } from '../../person/worker.js';
import { keptUnder } from '../../students/kept-students.js';
import { keyOf } from '../../students/student-files.js';
import { WorkerClient } from '../../workers/worker-client.js';

/** The student that was trained for the grader of the daily episode. */
const STUDENT = STUDENT_NAMES.find((name) => name.includes('v3')) ?? STUDENT_NAMES[0];

/** The rivals of the daily episode, the fastest first. */
export const RIVALS: readonly string[] = ['heuristic', STUDENT, 'planner'];

const client = new WorkerClient<PersonApi>(
  'The worker of the other players',
  () => new Worker(new URL('../../person/worker.ts', import.meta.url), { type: 'module', name: 'rivals' }),
);

/** The rivals that have finished the episode of `played`. */
export const rivals = signal<readonly Rival[]>([]);
/** The names of the rivals that failed in the episode of `played`: the worker stopped, or a student could not be loaded. */
export const failedRivals = signal<readonly string[]>([]);
/** The setting of the episode as text, and a key for each rival that plays it or has played it. */
let played: { readonly setting: string; readonly keys: Set<string> } = { setting: '', keys: new Set() };

/** Returns the rivals that have finished the episode of a setting. */
export const rivalsIn = (setting: EpisodeSetting): readonly Rival[] =>
  played.setting === JSON.stringify(setting) ? rivals.value : [];

/** Returns a rival that has finished the episode of a setting; null for others. */
export const rivalNamed = (setting: EpisodeSetting, name: string): Rival | null =>
  rivalsIn(setting).find((rival) => rival.name === name) ?? null;

/** Returns whether a rival failed in the episode of a setting. */
export const hasFailed = (setting: EpisodeSetting, name: string): boolean =>
  played.setting === JSON.stringify(setting) && failedRivals.value.includes(name);

/**
 * Lets each rival play an episode once. A student that the user kept (kept-students.ts) plays again if its file has changed.
 * Adds the rivals that fail to `failedRivals`.
 */
export async function playRivals(setting: EpisodeSetting, names: readonly string[]): Promise<void> {
  const text = JSON.stringify(setting);
  if (played.setting !== text) {
    played = { setting: text, keys: new Set() };
    rivals.value = [];
    failedRivals.value = [];
  }
  const { keys: begun } = played;
  for (const name of names) {
    const students = keptUnder(name);
    const key = [name, ...students.map(keyOf)].join(' ');
    if (begun.has(key)) continue;
    begun.add(key);
    failedRivals.value = failedRivals.value.filter((each) => each !== name);
    const rival = await client.call((worker) => worker.rival(name, setting, students)).catch(() => null);
    if (played.setting !== text) return;
    const others = rivals.value.filter((each) => each.name !== name);
    rivals.value = rival === null ? others : [...others, rival];
    if (rival === null) failedRivals.value = [...failedRivals.value, name];
  }
}
