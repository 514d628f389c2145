/** POST /v1/rollout: plays whole episodes in groups, with built-in policies or given action sequences. */

import { z } from 'zod';
import { loadStudent, STUDENT_NAMES, type StudentName } from '../../agents/student/packaged-students.js';
import { checkSeed } from '../../engine/validate/seeds.js';
import type { RolloutGroups } from '../../rollouts/groups/group-recorder.js';
import type { RolloutOptions, RolloutPolicy } from '../../rollouts/groups/group-start.js';
import { rolloutGroups } from '../../rollouts/node.js';
import { actionCode, writeBelief } from '../../rollouts/replay/row-objects.js';
import { Place } from '../../shared/errors.js';
import { storedField } from '../../shared/names.js';
import { checkName, wrongType } from '../../shared/values.js';
import { BELIEF_NAMES, MAX_U32, NUM_BELIEFS, NUM_STEPS, OBSERVATION_SIZE } from '../../world/fields.js';
import { PROFILE_CHOICES } from '../../world/resolve-names.js';
import { listOf } from '../http/json-response.js';
import { fieldError } from '../protocol/errors.js';
import type { BatchRoute } from './batch-runner.js';
import { Column } from './json-columns.js';
import {
  ACTION,
  BELIEF,
  checkRows,
  column,
  GRADER,
  graderOf,
  notAmong,
  optional,
  PROFILE_MODES,
  SEED,
} from './schemas.js';

type ArrayName = Exclude<keyof RolloutGroups, 'groups' | 'groupSize' | 'steps' | 'logProbs'>;

/** The arrays that an answer may have. */
const ROLLOUT_ARRAYS = [
  'seeds',
  'finalScores',
  'components',
  'beliefMae',
  'episodeReturns',
  'firstHalfMeans',
  'secondHalfMeans',
  'actions',
  'rewards',
  'returns',
  'stateHashes',
  'beliefs',
  'observations',
] as const satisfies readonly ArrayName[];
/** The same arrays by their keys in the answer. */
const ARRAYS: Readonly<Record<string, ArrayName>> = Object.fromEntries(
  ROLLOUT_ARRAYS.map((name) => [storedField(name), name]),
);
const ARRAY_NAMES = Object.keys(ARRAYS);
/** The keys of the default arrays: all but the two large arrays. */
const DEFAULT_ARRAYS = ARRAY_NAMES.filter((name) => name !== 'observations' && name !== 'beliefs');

/** The maximum number of rollouts of a request. One step of this many rollouts takes some milliseconds. */
const MAX_ROLLOUTS = 16_384;

/**
 * The maximum number of rollouts of a student in a request. A student computes a step of all rollouts at once, which delays
 * other requests: a step of this many rollouts takes tens of milliseconds.
 */
const MAX_STUDENT_ROLLOUTS = 1024;

const POLICIES = ['random', 'heuristic', ...STUDENT_NAMES, 'action_sequences'] as const;

const isStudent = (policy: string): policy is StudentName =>
  (STUDENT_NAMES as readonly string[]).includes(policy);

const REQUEST = z.strictObject({
  seeds: column(SEED).describe("each group's seed; at least one"),
  group_size: z.int().min(1).max(MAX_ROLLOUTS).describe(`rollouts per group; at most ${MAX_ROLLOUTS} in all`),
  policy: z.enum(POLICIES, { error: notAmong(POLICIES) }),
  action_sequences: optional(
    column(z.array(ACTION).length(NUM_STEPS)),
    'for policy "action_sequences": the actions of every rollout, group by group',
  ),
  belief: optional(
    z.array(z.number().min(0).max(1)).length(NUM_BELIEFS),
    `with action_sequences: ${BELIEF_NAMES.join(', ')}, given at every step`,
  ),
  belief_sequences: optional(
    column(z.array(BELIEF).length(NUM_STEPS)),
    'with action_sequences, instead of belief: the belief given with each action, null for none',
  ),
  policy_seeds: optional(
    z.union([z.literal('member'), z.int().min(0).max(MAX_U32)]),
    'for policy "random": "member", the index in the group (default), or one seed for all',
  ),
  gamma: optional(z.number().min(0).max(1), 'the discount of returns; by default 1'),
  profile_modes: PROFILE_MODES,
  grader: GRADER,
  arrays: optional(
    z.array(z.enum(ARRAY_NAMES)).max(ARRAY_NAMES.length),
    `the arrays to return; by default ${DEFAULT_ARRAYS.join(', ')}`,
  ),
});
type RolloutRequest = z.output<typeof REQUEST>;

export const ROLLOUT: BatchRoute<typeof REQUEST> = {
  path: '/v1/rollout',
  summary: 'Rollouts in groups, with every step, by a built-in policy or by action sequences.',
  request: REQUEST,
  response: z.object({
    groups: z.int(),
    group_size: z.int(),
    steps: z.int(),
    world_digest: z.string(),
    arrays: z
      .object(Object.fromEntries(ARRAY_NAMES.map((name) => [name, z.array(z.unknown()).optional()])))
      .describe('flat, row-major: [groups, group_size, ...] as in rolloutGroups; null for NaN'),
  }),
  lengthOf,
  answer: async (request, { engine, worldDigest, count, turn, signal }) => {
    checkRequest(request);
    const rollouts = await rolloutGroups({ ...(await optionsOf(request, turn)), ...engine, signal });
    const { groups, groupSize, steps } = rollouts;
    count('rollouts', groups * groupSize);
    const names = request.arrays ?? DEFAULT_ARRAYS;
    const arrays = Object.fromEntries(names.map((name) => [name, listOf(rollouts[ARRAYS[name]])]));
    return { groups, group_size: groupSize, steps, world_digest: worldDigest, arrays };
  },
};

/** The assumed length of a number in the answer, in characters: that of a float32 such as 0.71234567. */
const TYPICAL_LENGTH = 10;

/** Estimates the length of the answer in characters. */
function lengthOf({ seeds, group_size, arrays = DEFAULT_ARRAYS }: RolloutRequest): number {
  const numbers = arrays.includes('observations') ? OBSERVATION_SIZE : arrays.length;
  return seeds.length * group_size * NUM_STEPS * numbers * TYPICAL_LENGTH;
}

/** The fields that only one policy accepts. */
const POLICY_OF = {
  action_sequences: 'action_sequences',
  belief: 'action_sequences',
  belief_sequences: 'action_sequences',
  policy_seeds: 'random',
} as const;

/** Checks the number of rollouts, and that the fields agree. @throws InvalidRequestError. */
function checkRequest(request: RolloutRequest): void {
  const { seeds, group_size, policy, action_sequences: sequences, belief_sequences: beliefs } = request;
  checkRows(seeds.length, { profile_modes: request.profile_modes });
  const rollouts = seeds.length * group_size;
  const max = isStudent(policy) ? MAX_STUDENT_ROLLOUTS : MAX_ROLLOUTS;
  if (rollouts > max) {
    const expected = `at most ${max} rollouts${isStudent(policy) ? ` of ${policy}` : ''}`;
    throw fieldError('group_size', expected, rollouts, 'Send fewer at a time.');
  }
  for (const [field, only] of Object.entries(POLICY_OF)) {
    if (request[field as keyof typeof POLICY_OF] === undefined || policy === only) continue;
    throw fieldError(field, `${field} with policy "${only}" only`, `it with "${policy}"`, 'Leave it out.');
  }
  if (policy === 'action_sequences' && sequences === undefined) {
    const expected = 'action_sequences with policy "action_sequences"';
    throw fieldError('action_sequences', expected, 'none', `Send ${NUM_STEPS} actions for every rollout.`);
  }
  if (request.belief !== undefined && beliefs !== undefined) {
    const remedy = 'Leave out one of these fields.';
    throw fieldError('belief_sequences', 'belief or belief_sequences', 'both', remedy);
  }
  for (const [field, column] of Object.entries({ action_sequences: sequences, belief_sequences: beliefs })) {
    if (column === undefined || column.length === rollouts) continue;
    const expected = `${rollouts} ${field.replace('_', ' ')} (one for each rollout)`;
    throw fieldError(field, expected, column.length, 'Send one for each rollout.');
  }
}

async function optionsOf(request: RolloutRequest, turn: () => Promise<void>): Promise<RolloutOptions> {
  const { seeds, group_size, policy_seeds, gamma, profile_modes: modes, grader } = request;
  const profiles: string[] = [];
  if (modes instanceof Column)
    await modes.forEach(turn, (mode, row) =>
      profiles.push(checkName(`profile_modes[${row}]`, mode, PROFILE_CHOICES)),
    );
  const parsedSeeds: number[] = [];
  await seeds.forEach(turn, (seed, row) => parsedSeeds.push(checkSeed(seed as number, `seeds[${row}]`)));
  return {
    groupSize: group_size,
    gamma,
    seeds: parsedSeeds,
    policy: await policyOf(request, turn),
    policySeeds: policy_seeds,
    profiles: modes instanceof Column ? profiles : modes,
    grader: graderOf(grader),
  };
}

async function policyOf(
  request: RolloutRequest,
  turn: () => Promise<void>,
): Promise<RolloutOptions['policy']> {
  const { policy } = request;
  if (policy === 'action_sequences') return sequencePolicy(request, turn);
  return isStudent(policy) ? loadStudent(policy) : policy;
}

/** The number of a belief's numbers in an episode. */
const EPISODE_BELIEFS = NUM_STEPS * NUM_BELIEFS;

/** Returns the policy that plays the sequences of a request. @throws InputError for an invalid row. */
async function sequencePolicy(
  { action_sequences: sequences = Column.EMPTY, belief, belief_sequences }: RolloutRequest,
  turn: () => Promise<void>,
): Promise<RolloutPolicy> {
  const codes = new Uint8Array(sequences.length * NUM_STEPS);
  await sequences.forEach(turn, (sequence, row) => {
    const place = new Place('action_sequences', row);
    for (const [t, action] of stepsOf(place, sequence, 'actions').entries())
      codes[row * NUM_STEPS + t] = actionCode(action, () => place.plus(`[${t}]`));
  });
  const given = belief !== undefined || belief_sequences !== undefined;
  const beliefs = given ? new Float32Array(sequences.length * EPISODE_BELIEFS).fill(Number.NaN) : undefined;
  for (let at = 0; belief !== undefined && at < beliefs!.length; at += NUM_BELIEFS) beliefs!.set(belief, at);
  await belief_sequences?.forEach(turn, (sequence, row) => {
    const place = new Place('belief_sequences', row);
    for (const [t, each] of stepsOf(place, sequence, 'beliefs').entries())
      if (each !== null) writeBelief(beliefs!, row * NUM_STEPS + t, each, () => place.plus(`[${t}]`));
  });
  return ({ steps }) => ({
    // An episode that is over has step 28. Its action is ignored.
    actions: Array.from(steps, (step, i) => (step < NUM_STEPS ? codes[i * NUM_STEPS + step] : 0)),
    beliefs:
      beliefs &&
      Float32Array.from({ length: steps.length * NUM_BELIEFS }, (_, k) => {
        const i = Math.floor(k / NUM_BELIEFS);
        const at = i * EPISODE_BELIEFS + steps[i] * NUM_BELIEFS + (k % NUM_BELIEFS);
        return steps[i] < NUM_STEPS ? beliefs[at] : Number.NaN;
      }),
  });
}

/** Returns a row's list with an entry for each step. @throws InputError. */
function stepsOf(place: Place, sequence: unknown, what: string): unknown[] {
  if (Array.isArray(sequence) && sequence.length === NUM_STEPS) return sequence;
  throw wrongType(place, `${NUM_STEPS} ${what}`, sequence, `Send one of the ${what} for each step.`);
}
