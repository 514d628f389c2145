/** POST /v1/rollout: plays whole episodes in groups, with built-in policies or given action sequences. */
import { z } from 'zod';
import { loadStudent, STUDENT_NAMES, type StudentName } from '../../agents/student/shipped-students.js';
import { checkSeed } from '../../engine/validate/seeds.js';
import type { RolloutOptions } from '../../rollouts/groups/group-options.js';
import type { RolloutGroups } from '../../rollouts/groups/group-recorder.js';
import { rolloutGroups } from '../../rollouts/node.js';
import { storedField } from '../../shared/letter-case.js';
import { didYouMean } from '../../shared/suggest.js';
import { checkName, describe } from '../../shared/values.js';
import { BELIEF_NAMES, MAX_U32, NUM_BELIEFS, NUM_STEPS, OBSERVATION_SIZE } from '../../world/fields.js';
import type { Route } from '../http/route.js';
import { PROFILES } from '../protocol/reset-request.js';
import { columnsText } from './array-text.js';
import { BATCH_FAILURES, type BatchRunner } from './batch-runner.js';
import {
  ACTION,
  BELIEF,
  checkRows,
  column,
  GRADER,
  graderOf,
  invalidFieldError,
  nullAsAbsent,
  PROFILE_MODES,
  SEED,
} from './batch-schemas.js';
import { allRows, Column } from './column.js';
import { sequencePolicy } from './rollout-sequences.js';

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
  action_sequences: column(z.array(ACTION).length(NUM_STEPS))
    .nullish()
    .transform(nullAsAbsent)
    .describe('for policy "action_sequences": the actions of every rollout, group by group'),
  belief: z
    .array(z.number().min(0).max(1))
    .length(NUM_BELIEFS)
    .nullish()
    .transform(nullAsAbsent)
    .describe(`with action_sequences: ${BELIEF_NAMES.join(', ')}, given at every step`),
  belief_sequences: column(z.array(BELIEF).length(NUM_STEPS))
    .nullish()
    .transform(nullAsAbsent)
    .describe('with action_sequences, instead of belief: the belief given with each action, null for none'),
  policy_seeds: z
    .union([z.literal('member'), z.int().min(0).max(MAX_U32)])
    .nullish()
    .transform(nullAsAbsent)
    .describe('for policy "random": "member", the index in the group (default), or one seed for all'),
  gamma: z
    .number()
    .min(0)
    .max(1)
    .nullish()
    .transform(nullAsAbsent)
    .describe('the discount of returns; by default 1'),
  profile_modes: PROFILE_MODES,
  grader: GRADER,
  arrays: z
    .array(z.enum(ARRAY_NAMES))
    .max(ARRAY_NAMES.length)
    .nullish()
    .transform(nullAsAbsent)
    .describe(`the arrays to return; by default ${DEFAULT_ARRAYS.join(', ')}`),
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

function checkRequest({
  seeds,
  group_size,
  policy,
  action_sequences: sequences,
  belief,
  belief_sequences: beliefs,
  policy_seeds,
  profile_modes,
}: RolloutRequest): void {
  checkRows(seeds.length, { profile_modes });
  const rollouts = seeds.length * group_size;
  if (rollouts > MAX_ROLLOUTS) {
    throw invalidFieldError(
      'group_size',
      `Expected at most ${MAX_ROLLOUTS} rollouts, got ${rollouts}. Send fewer at a time.`,
    );
  }
  if (isStudent(policy) && rollouts > MAX_STUDENT_ROLLOUTS) {
    throw invalidFieldError(
      'group_size',
      `Expected at most ${MAX_STUDENT_ROLLOUTS} rollouts of ${policy}, got ${rollouts}. Send fewer at a time.`,
    );
  }
  if ((policy === 'action_sequences') !== (sequences !== undefined)) {
    throw invalidFieldError(
      'action_sequences',
      sequences === undefined ? NO_SEQUENCES : onlyWith('action_sequences', 'action_sequences', policy),
    );
  }
  if (sequences !== undefined && sequences.length !== rollouts) {
    throw invalidFieldError(
      'action_sequences',
      `Expected ${rollouts} action sequences (one for each rollout), got ${sequences.length}. Send one for each rollout.`,
    );
  }
  if (belief !== undefined && sequences === undefined) {
    throw invalidFieldError('belief', onlyWith('belief', 'action_sequences', policy));
  }
  if (beliefs !== undefined) checkBeliefSequences(beliefs.length, rollouts, belief !== undefined, policy);
  if (policy_seeds !== undefined && policy !== 'random') {
    throw invalidFieldError('policy_seeds', onlyWith('policy_seeds', 'random', policy));
  }
}

function checkBeliefSequences(count: number, rollouts: number, hasBelief: boolean, policy: string): void {
  const field = 'belief_sequences';
  if (policy !== 'action_sequences')
    throw invalidFieldError(field, onlyWith(field, 'action_sequences', policy));
  if (hasBelief) {
    throw invalidFieldError(
      field,
      'Expected belief or belief_sequences, got both. Leave out one of these fields.',
    );
  }
  if (count !== rollouts) {
    throw invalidFieldError(
      field,
      `Expected ${rollouts} belief sequences (one for each rollout), got ${count}. Send one for each rollout.`,
    );
  }
}

const NO_SEQUENCES = `Expected action_sequences with policy "action_sequences", got none. Send ${NUM_STEPS} actions for every rollout.`;

/** Returns the error message for a field that only policy `expected` accepts. @param got the policy of the request. */
const onlyWith = (field: string, expected: string, got: string): string =>
  `Expected ${field} with policy "${expected}" only, got it with "${got}". Leave it out.`;

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
    yield `${head.slice(0, -1)},"arrays":{`;
    yield* columnsText(arrays, turn);
    yield '}}';
  })();
}

async function optionsOf(request: RolloutRequest, turn: () => Promise<void>): Promise<RolloutOptions> {
  const { seeds, group_size, policy_seeds, gamma, profile_modes, grader } = request;
  return {
    groupSize: group_size,
    gamma,
    seeds: await allRows(seeds, turn, seedOf),
    policy: await policyOf(request, turn),
    policySeeds: policy_seeds,
    profiles: profile_modes instanceof Column ? await allRows(profile_modes, turn, profileOf) : profile_modes,
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

const seedOf = (seed: unknown, i: number): number => checkSeed(seed as number, `seeds[${i}]`);

const profileOf = (mode: unknown, i: number): string => checkName(`profile_modes[${i}]`, mode, PROFILES);
