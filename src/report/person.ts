/** Whose week an episode is: a named profile, or a person of the world, and which third of people that is. */

import { beliefTarget, discreteProfile, sampleProfile } from '../reference/profile.js';
import { type Person, personOf } from '../trajectory/person.js';
import { BELIEF_NAMES, NUM_BELIEFS, PROFILE_NAMES, PROFILE_SIZE } from '../world/fields.js';
import { createWorld } from '../world/world.js';

const world = createWorld();

/** Who plays: what no agent may see. f32 [16] and [3]. @throws InputError `unknown_name`. */
export const whoIs = (mode: string, seed: number): Person => personOf(world, mode, seed);

/** Persons drawn as the world draws them: seeds from 100 on, as none of the evaluation's are. */
const DRAWN = 3000;
const FIRST_DRAWN = 100;
const THIRDS = ['low', 'middle', 'high'] as const;

export const SAMPLED_GROUP = 'sampled persons';

/** The groups that heat maps show, in this order. */
export const PERSON_GROUPS: readonly string[] = [
  ...PROFILE_NAMES,
  SAMPLED_GROUP,
  ...BELIEF_NAMES.flatMap((name) => THIRDS.map((third) => groupOf(name, third))),
];

function groupOf(belief: string, third: string): string {
  return `${belief}: ${third} third`;
}

/** [3][2]: where the thirds of people meet, by dimension. */
let cuts: readonly (readonly [number, number])[] | undefined;

function drawnCuts(): readonly (readonly [number, number])[] {
  const profile = new Float32Array(PROFILE_SIZE);
  const target = new Float32Array(NUM_BELIEFS);
  const columns = BELIEF_NAMES.map(() => new Float32Array(DRAWN));
  for (let i = 0; i < DRAWN; i++) {
    sampleProfile(world.params, FIRST_DRAWN + i, profile);
    beliefTarget(world.params, profile, target);
    for (const [k, column] of columns.entries()) column[i] = target[k];
  }
  return columns.map((column) => {
    column.sort();
    return [column[DRAWN / 3], column[(2 * DRAWN) / 3]] as const;
  });
}

/** The groups that an episode counts for: its named profile alone, or the sampled ones and a third in each dimension. */
export function groupsOf(mode: string, seed: number, target: ArrayLike<number>): string[] {
  if (mode === 'discrete') return [PROFILE_NAMES[discreteProfile(world.params, seed)]];
  if (PROFILE_NAMES.includes(mode)) return [mode];
  cuts ??= drawnCuts();
  const thirds = cuts.map(([low, high], k) => {
    const third = target[k] < low ? THIRDS[0] : target[k] < high ? THIRDS[1] : THIRDS[2];
    return groupOf(BELIEF_NAMES[k], third);
  });
  return [SAMPLED_GROUP, ...thirds];
}
