/** POST /v1/rollout: plays whole episodes in groups, with built-in policies or given action sequences. */

import { z } from 'zod';
import { loadStudent, STUDENT_NAMES, type StudentName } from '../../agents/student/student.js';
import { checkSeed } from '../../engine/validate/seeds.js';
import type { RolloutGroups } from '../../rollouts/groups/group-recorder.js';
import type { RolloutOptions, RolloutPolicy } from '../../rollouts/groups/group-start.js';
import { rolloutGroups } from '../../rollouts/node.js';
import { didYouMean, storedField } from '../../shared/names.js';
import { checkName, describe } from '../../shared/values.js';
import {
  ACTION_NAMES,
  BELIEF_NAMES,
  MAX_U32,
  NUM_ACTIONS,
  NUM_BELIEFS,
  NUM_STEPS,
  OBSERVATION_SIZE,
} from '../../world/fields.js';
import { PROFILE_CHOICES } from '../../world/resolve-names.js';
import { arraysPieces } from '../http/json-response.js';
import type { Route } from '../http/openapi.js';
import { fieldError } from '../protocol/errors.js';
import { BATCH_FAILURES, type BatchRunner } from './batch-runner.js';
import { Column } from './json-columns.js';
import {
  ACTION,
  BELIEF,
  checkRows,
  column,
  GRADER,
  graderOf,
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

const policyFault = (got: unknown): string =>
  `Expected one of ${POLICIES.join(', ')}, got ${describe(got)}.${typeof got === 'string' ? didYouMean(got, POLICIES) : ''}`;

export const ROLLOUT_REQUEST = z.strictObject({
  seeds: column(SEED).describe("each group's seed; at least one"),
  group_size: z.int().min(1).max(MAX_ROLLOUTS).describe(`rollouts per group; at most ${MAX_ROLLOUTS} in all`),
  policy: z.enum(POLICIES, { error: ({ input }) => policyFault(input) }),
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
type RolloutRequest = z.output<typeof ROLLOUT_REQUEST>;

export const ROLLOUT_RESPONSE = z.object({
  groups: z.int(),
  group_size: z.int(),
  steps: z.int(),
  world_digest: z.string(),
  arrays: z
    .object(Object.fromEntries(ARRAY_NAMES.map((name) => [name, z.array(z.unknown()).optional()])))
    .describe('flat, row-major: [groups, group_size, ...] as in rolloutGroups; null for NaN'),
});

export const rolloutRoute = (runner: BatchRunner): Route => ({
  method: 'post',
  path: '/v1/rollout',
  summary: 'Rollouts in groups, with every step, by a built-in policy or by action sequences.',
  request: ROLLOUT_REQUEST,
  response: ROLLOUT_RESPONSE,
  failures: BATCH_FAILURES,
  handle: (http) =>
    runner.answer(
      http,
      ROLLOUT_REQUEST,
      (request, turn) => {
        checkRequest(request);
        return play(request, runner, http.signal, turn);
      },
      lengthOf,
    ),
});

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
    throw fieldError('group_size', { expected, got: `${rollouts}`, remedy: 'Send fewer at a time.' });
  }
  for (const [field, expected] of Object.entries(POLICY_OF)) {
    if (request[field as keyof typeof POLICY_OF] === undefined || policy === expected) continue;
    throw fieldError(field, {
      expected: `${field} with policy "${expected}" only`,
      got: `it with "${policy}"`,
      remedy: 'Leave it out.',
    });
  }
  if (policy === 'action_sequences' && sequences === undefined) {
    throw fieldError('action_sequences', {
      expected: 'action_sequences with policy "action_sequences"',
      got: 'none',
      remedy: `Send ${NUM_STEPS} actions for every rollout.`,
    });
  }
  if (request.belief !== undefined && beliefs !== undefined) {
    throw fieldError('belief_sequences', {
      expected: 'belief or belief_sequences',
      got: 'both',
      remedy: 'Leave out one of these fields.',
    });
  }
  for (const [field, column] of Object.entries({ action_sequences: sequences, belief_sequences: beliefs })) {
    if (column === undefined || column.length === rollouts) continue;
    throw fieldError(field, {
      expected: `${rollouts} ${field.replace('_', ' ')} (one for each rollout)`,
      got: `${column.length}`,
      remedy: 'Send one for each rollout.',
    });
  }
}

/** Returns the pieces of the JSON answer. */
async function play(
  request: RolloutRequest,
  runner: BatchRunner,
  signal: AbortSignal,
  turn: () => Promise<void>,
): Promise<AsyncIterable<string>> {
  const options = await optionsOf(request, turn);
  const rollouts = await rolloutGroups({ ...options, ...runner.engine, signal });
  const { groups, groupSize, steps } = rollouts;
  runner.count('rollouts', groups * groupSize);
  const arrays = Object.fromEntries(
    (request.arrays ?? DEFAULT_ARRAYS).map((name) => [name, rollouts[ARRAYS[name]]]),
  );
  const head = JSON.stringify({ groups, group_size: groupSize, steps, world_digest: runner.worldDigest });
  return (async function* () {
    yield `${head.slice(0, -1)},"arrays":`;
    yield* arraysPieces(arrays, turn);
    yield '}';
  })();
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

/** Returns the policy that plays the sequences of a request. @throws InvalidRequestError for an invalid row. */
async function sequencePolicy(
  { action_sequences: sequences = Column.EMPTY, belief, belief_sequences }: RolloutRequest,
  turn: () => Promise<void>,
): Promise<RolloutPolicy> {
  const codes = new Uint8Array(sequences.length * NUM_STEPS);
  await sequences.forEach(turn, (sequence, row) => {
    for (const [t, action] of stepsOf('action_sequences', sequence, row, 'actions', 'an action').entries())
      codes[row * NUM_STEPS + t] = codeOf(action, row, t);
  });
  const given = belief !== undefined || belief_sequences !== undefined;
  const beliefs = given ? new Float32Array(sequences.length * EPISODE_BELIEFS).fill(Number.NaN) : undefined;
  for (let at = 0; belief !== undefined && at < beliefs!.length; at += NUM_BELIEFS) beliefs!.set(belief, at);
  await belief_sequences?.forEach(turn, (sequence, row) => {
    for (const [t, each] of stepsOf(
      'belief_sequences',
      sequence,
      row,
      'beliefs',
      'a belief, or null,',
    ).entries())
      if (each !== null) beliefs!.set(checkBelief(each, row, t), row * EPISODE_BELIEFS + t * NUM_BELIEFS);
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

/** Returns a row's list with an entry for each step. @throws InvalidRequestError. */
function stepsOf(field: string, sequence: unknown, row: number, what: string, entry: string): unknown[] {
  if (Array.isArray(sequence) && sequence.length === NUM_STEPS) return sequence;
  throw fieldError(field, {
    expected: `${NUM_STEPS} ${what} at ${field}[${row}]`,
    got: describe(sequence),
    remedy: `Send ${entry} for each step.`,
  });
}

function codeOf(action: unknown, row: number, t: number): number {
  const code = typeof action === 'string' ? ACTION_NAMES.indexOf(action) : action;
  if (typeof code === 'number' && code in ACTION_NAMES) return code;
  throw fieldError('action_sequences', {
    expected: `an action's name or code at action_sequences[${row}][${t}]`,
    got: describe(action),
    remedy: `Send a name, or a code from 0 to ${NUM_ACTIONS - 1}.`,
  });
}

function checkBelief(belief: unknown, row: number, t: number): number[] {
  const isBelief = Array.isArray(belief) && belief.length === NUM_BELIEFS;
  if (isBelief && belief.every((level) => typeof level === 'number')) return belief;
  throw fieldError('belief_sequences', {
    expected: `${NUM_BELIEFS} numbers, or null, at belief_sequences[${row}][${t}]`,
    got: describe(belief),
    remedy: 'Send null for no belief.',
  });
}
