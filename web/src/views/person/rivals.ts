/** Rivals: policies that play the visitor's episode (the same person and luck) in a worker of their own. */
import { signal } from '@preact/signals';
import { proxy } from 'comlink';
import { useLayoutEffect } from 'preact/hooks';
import type { EpisodeSetting, Rival } from '../../person/episode-types.js';
import { NOBODY } from '../../person/player-names.js';
import type { PersonApi } from '../../person/worker.js';
import { keptStudents, keptUnder } from '../../students/kept-students.js';
import { keyOf } from '../../students/student-files.js';
import { WorkerClient } from '../../workers/worker-client.js';

/** The policies beside which a result is shown, the fastest first. The student is the one that was trained for the grader. */
export const rivalsUnder = (grader: string): readonly string[] => [
  'heuristic',
  grader === 'v2' ? 'student-v2' : 'student-v3',
  'planner',
];

/** Returns the names of these policies, of the students that the visitor kept, and of the policy that the visitor races. */
export function rivalNames(grader: string, against: string): string[] {
  const kept = keptStudents.value.map(({ name }) => name);
  const raced = against === NOBODY ? [] : [against];
  return [...new Set([...rivalsUnder(grader), ...kept, ...raced])];
}

/** An episode that a rival plays: the steps that it has played, and its result after the last. */
export interface RivalState {
  readonly steps: number;
  readonly rival: Rival | null;
  /** Whether it could not play: the worker stopped, or a student could not be loaded. */
  readonly failed: boolean;
}

const client = new WorkerClient<PersonApi>(
  'The worker of the other players',
  () => new Worker(new URL('../../person/worker.ts', import.meta.url), { type: 'module', name: 'rivals' }),
);

/** The rivals of the episode of `played`, by name. */
const states = signal<Readonly<Record<string, RivalState>>>({});
/** The setting of the episode as text, and a key for each rival that plays it or has played it. */
let played: { readonly setting: string; readonly keys: Set<string> } = { setting: '', keys: new Set() };

/** Returns the states of the rivals in the episode of a setting, by name. */
export const rivalsIn = (setting: EpisodeSetting): Readonly<Record<string, RivalState>> =>
  played.setting === JSON.stringify(setting) ? states.value : {};

/** Returns a rival that has finished the episode of a setting; null for others. */
export const rivalNamed = (setting: EpisodeSetting, name: string): Rival | null =>
  rivalsIn(setting)[name]?.rival ?? null;

/** Lets each rival play an episode once. A student that the visitor kept plays again if its file has changed. */
export async function playRivals(setting: EpisodeSetting, names: readonly string[]): Promise<void> {
  const text = JSON.stringify(setting);
  if (played.setting !== text) {
    played = { setting: text, keys: new Set() };
    states.value = {};
  }
  const { keys: begun } = played;
  for (const name of names) {
    const students = keptUnder(name);
    const key = [name, ...students.map(keyOf)].join(' ');
    if (begun.has(key)) continue;
    begun.add(key);
    const report = (state: Partial<RivalState>): void => {
      if (played.setting !== text) return;
      states.value = { ...states.value, [name]: { steps: 0, rival: null, failed: false, ...state } };
    };
    report({});
    const progress = proxy((steps: number) => {
      // A report may come after the result.
      if (states.value[name]?.rival === null) report({ steps });
    });
    await client
      .call((worker) => worker.rival(name, setting, students, progress))
      .then(
        (rival) => report({ rival }),
        () => report({ failed: true }),
      );
  }
}

/**
 * Lets the rivals of an episode play in the background: the raced one at once, and those of the result from the first step on,
 * so that the page's start is not slowed down.
 */
export function useRivals(setting: EpisodeSetting, against: string, steps: number): void {
  const names = rivalNames(setting.grader, against).filter((name) => steps > 0 || name === against);
  const key = JSON.stringify([setting, names]);
  useLayoutEffect(() => void playRivals(setting, names), [key]);
}
