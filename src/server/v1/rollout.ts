/** POST /v1/rollout: whole weeks in groups, by the built-in policies or by tapes. */
import { z } from 'zod';
import { snakeCase } from '../../names.js';
import type { RolloutOptions, RolloutPolicy } from '../../rollout/groups/options.js';
import type { RolloutGroups } from '../../rollout/groups/recording.js';
import { rolloutGroups } from '../../rollout.js';
import { describe } from '../../validate/values.js';
import {
  ACTION_NAMES,
  BELIEF_NAMES,
  MAX_U32,
  NUM_BELIEFS,
  NUM_STEPS,
  OBSERVATION_SIZE,
} from '../../world/fields.js';
import type { Route } from '../http/routes.js';
import { BATCH_FAILURES, type Batches } from './batches.js';
import { objectText } from './numbers.js';
import { ACTION, checkRows, column, GRADER, graderOf, PROFILE_MODES, refusing, SEED } from './schemas.js';

type ArrayName = Exclude<keyof RolloutGroups, 'groups' | 'groupSize' | 'steps' | 'logProbs'>;

/** By name on the wire. */
const ARRAYS: Readonly<Record<string, ArrayName>> = Object.fromEntries(
  (
    [
      ...([
        'seeds',
        'finalScores',
        'components',
        'beliefMae',
        'episodeReturns',
        'earlyMeans',
        'lateMeans',
      ] as const),
      ...(['actions', 'rewards', 'returns', 'stateHashes', 'beliefs', 'observations'] as const),
    ] satisfies ArrayName[]
  ).map((name) => [snakeCase(name), name]),
);
const ARRAY_NAMES = Object.keys(ARRAYS);
/** The others are large. */
const USUAL = ARRAY_NAMES.filter((name) => name !== 'observations' && name !== 'beliefs');

/** Rollouts of a request: a step of so many takes some milliseconds. */
const MOST_ROLLOUTS = 16_384;

export const ROLLOUT_REQUEST = z.strictObject({
  seeds: column(SEED).describe("each group's week; at least one"),
  group_size: z.int().min(1).max(MOST_ROLLOUTS).describe(`rollouts of a group; ${MOST_ROLLOUTS} in all`),
  policy: z.enum(['random', 'heuristic', 'tape']),
  tapes: column(z.array(ACTION).length(NUM_STEPS))
    .optional()
    .describe('of policy "tape": the actions of every rollout, group by group'),
  belief: z
    .array(z.number().min(0).max(1))
    .length(NUM_BELIEFS)
    .optional()
    .describe(`with tapes: ${BELIEF_NAMES.join(', ')}, given at every step`),
  policy_seeds: z
    .union([z.literal('member'), z.int().min(0).max(MAX_U32)])
    .optional()
    .describe('of policy "random": "member", the index in the group (default), or one for all'),
  gamma: z.number().min(0).max(1).optional().describe('the discount of returns; 1 if left out'),
  profile_modes: PROFILE_MODES,
  grader: GRADER,
  arrays: z
    .array(z.enum(ARRAY_NAMES))
    .optional()
    .describe(`which are wanted; ${USUAL.join(', ')} if left out`),
});
type RolloutRequest = z.output<typeof ROLLOUT_REQUEST>;

export const ROLLOUT_RESPONSE = z.object({
  groups: z.int(),
  group_size: z.int(),
  steps: z.int(),
  world_digest: z.string(),
  arrays: z
    .object(Object.fromEntries(ARRAY_NAMES.map((name) => [name, z.array(z.unknown()).optional()])))
    .describe('flat, row-major: [groups, group_size] and then as rolloutGroups has them; null for NaN'),
});

export const rolloutRoute = (batches: Batches): Route => ({
  method: 'post',
  path: '/v1/rollout',
  summary: 'Rollouts in groups, with every step, by a built-in policy or by tapes.',
  request: ROLLOUT_REQUEST,
  response: ROLLOUT_RESPONSE,
  failures: BATCH_FAILURES,
  handle: (http) =>
    batches.answer(
      http,
      ROLLOUT_REQUEST,
      (request, turn) => {
        checkRequest(request);
        return play(request, batches, http.signal, turn);
      },
      lengthOf,
    ),
});

/** About how many characters the answer has. */
function lengthOf({ seeds, group_size, arrays = USUAL }: RolloutRequest): number {
  const numbers = arrays.includes('observations') ? OBSERVATION_SIZE : arrays.length;
  return seeds.length * group_size * NUM_STEPS * numbers * 10;
}

function checkRequest({
  seeds,
  group_size,
  policy,
  tapes,
  belief,
  policy_seeds,
  profile_modes,
}: RolloutRequest): void {
  checkRows(seeds.length, { profile_modes });
  const rollouts = seeds.length * group_size;
  if (rollouts > MOST_ROLLOUTS) {
    throw refusing(
      'group_size',
      `Expected at most ${MOST_ROLLOUTS} rollouts, got ${rollouts}. Send fewer at a time.`,
    );
  }
  if ((policy === 'tape') !== (tapes !== undefined)) {
    throw refusing('tapes', 'Expected tapes with policy "tape" and with no other.');
  }
  if (tapes !== undefined && tapes.length !== rollouts) {
    throw refusing('tapes', `Expected ${rollouts} tapes (one for each rollout), got ${tapes.length}.`);
  }
  if (belief !== undefined && tapes === undefined) {
    throw refusing('belief', 'Expected a belief with tapes only, got one with another policy.');
  }
  if (policy_seeds !== undefined && policy !== 'random') {
    throw refusing('policy_seeds', 'Expected policy_seeds with policy "random" only, got some with another.');
  }
}

async function play(
  request: RolloutRequest,
  batches: Batches,
  signal: AbortSignal,
  turn: () => Promise<void>,
): Promise<string> {
  const played = await rolloutGroups({ ...optionsOf(request), ...batches.engine, signal });
  const { groups, groupSize, steps } = played;
  batches.count('rollouts', groups * groupSize);
  const arrays = Object.fromEntries((request.arrays ?? USUAL).map((name) => [name, played[ARRAYS[name]]]));
  const text = await objectText(arrays, turn);
  const head = JSON.stringify({ groups, group_size: groupSize, steps, world_digest: batches.worldDigest });
  return `${head.slice(0, -1)},"arrays":${text}}`;
}

function optionsOf(request: RolloutRequest): RolloutOptions {
  const { seeds, group_size, policy, policy_seeds, gamma, profile_modes, grader } = request;
  return {
    ...{ seeds: seeds as number[], groupSize: group_size, gamma },
    policy: policy === 'tape' ? tapePolicy(request) : policy,
    policySeeds: policy_seeds,
    profiles: profile_modes as string | string[] | undefined,
    grader: graderOf(grader),
  };
}

function tapePolicy({ tapes = [], belief }: RolloutRequest): RolloutPolicy {
  const codes = tapes.map(codesOf);
  return ({ steps }) => ({
    actions: Array.from(steps, (step, i) => codes[i][step] ?? 0),
    beliefs:
      belief && Float32Array.from({ length: steps.length * NUM_BELIEFS }, (_, k) => belief[k % NUM_BELIEFS]),
  });
}

function codesOf(tape: unknown, i: number): readonly number[] {
  if (!Array.isArray(tape) || tape.length !== NUM_STEPS) {
    throw refusing('tapes', `Expected ${NUM_STEPS} actions at tapes[${i}], got ${describe(tape)}.`);
  }
  return tape.map((action: unknown, t) => {
    const code = typeof action === 'string' ? ACTION_NAMES.indexOf(action) : action;
    if (typeof code === 'number' && code in ACTION_NAMES) return code;
    throw refusing(
      'tapes',
      `Expected an action's name or code at tapes[${i}][${t}], got ${describe(action)}.`,
    );
  });
}
