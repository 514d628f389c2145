/** Plays the contestants, some people at a time: what there is can be ranked meanwhile. */
import { signal } from '@preact/signals';
import type { PolicyComponents } from '../../../../src/evaluate/ranking.js';
import type { WeightSensitivity } from '../../../../src/evaluate/sensitivity.js';
import { NUM_COMPONENTS } from '../../../../src/world/fields.js';
import { type Failure, toFailure } from '../../engine/outcome.js';
import { CONTESTANTS } from '../../graders/contestants.js';
import type { Earned } from '../../graders/playing.js';
import type { GradersApi } from '../../graders/worker.js';
import { WorkerLine } from '../../workers/line.js';

/** What everybody earned with the people so far. */
export interface Played {
  readonly seed: number;
  readonly people: number;
  readonly policies: readonly PolicyComponents[];
}

const line = new WorkerLine<GradersApi>(
  'The worker that plays the policies',
  () => new Worker(new URL('../../graders/worker.ts', import.meta.url), { type: 'module', name: 'graders' }),
);

/** Null before the first people are there. */
export const played = signal<Played | null>(null);
export const failure = signal<Failure | null>(null);

/** Who asks last is answered. */
let turn = 0;

/** So few that a question of somebody else is answered soon. */
const CHUNK = 24;

/** Plays so many people from a seed on; what was played of them before is kept. */
export async function play(seed: number, people: number): Promise<void> {
  turn += 1;
  const mine = turn;
  failure.value = null;
  try {
    for (let done = keptOf(seed, people); done < people; ) {
      const count = Math.min(CHUNK, people - done);
      const earned = await line.ask((worker) => worker.play(seed + done, count));
      if (mine !== turn) return;
      played.value = append(done === 0 ? null : played.value, seed, earned);
      done += count;
    }
  } catch (error) {
    if (mine === turn) failure.value = toFailure(error);
  }
}

/** Plays no further: nobody looks. What was played is kept. */
export function stopPlaying(): void {
  turn += 1;
}

/** How many of them are there already; more than are asked for are not shown. */
function keptOf(seed: number, people: number): number {
  const before = played.value;
  if (before === null || before.seed !== seed) {
    played.value = null;
    return 0;
  }
  if (before.people > people) {
    const policies = before.policies.map(({ name, components }) => ({
      name,
      components: components.slice(0, (components.length / before.people) * people),
    }));
    played.value = { seed, people, policies };
  }
  return played.value!.people;
}

function append(before: Played | null, seed: number, earned: Earned): Played {
  const policies = CONTESTANTS.map(({ name }, k) => {
    const old = before?.policies[k].components ?? new Float32Array();
    const components = new Float32Array(old.length + earned[k].length);
    components.set(old);
    components.set(earned[k], old.length);
    return { name, components };
  });
  return { seed, people: policies[0].components.length / NUM_COMPONENTS, policies };
}

/** @throws CallFailed */
export const sensitivityOf = (
  policies: readonly PolicyComponents[],
  weights: readonly number[],
): Promise<WeightSensitivity[]> => line.ask((worker) => worker.sensitivity(policies, weights));
