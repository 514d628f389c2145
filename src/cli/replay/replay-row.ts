/** Parses a row of `rhythm-vec replay`: an episode, as a seed and actions. */
import { z } from 'zod';
import { type GraderLike, graderWeights } from '../../engine/graders/grader.js';
import { RhythmError } from '../../shared/errors.js';
import {
  BadRow,
  conform,
  expect,
  isU32,
  list,
  notAnObject,
  oneOf,
  parseJson,
  text,
  unknownKeys,
} from '../../shared/row-schemas.js';
import { follows, otherSchema, otherWorld, SCHEMAS, type Schema } from '../../shared/schemas.js';
import { ACTION_NAMES, MAX_U32, NUM_BELIEFS, NUM_STEPS } from '../../world/fields.js';
import { resolveProfile } from '../../world/resolve-names.js';
import { createWorld } from '../../world/world.js';

type Belief = [number, number, number] | null;

export interface ReplayRow {
  readonly seed: number;
  /** 'sampled', 'discrete' or a profile's name. */
  readonly profile: string;
  /** f32 [8]: weights of the grade's components. */
  readonly grader: Float32Array;
  /** 1 to 28 names of ACTION_NAMES: the first steps of the episode, or all. */
  readonly actions: readonly string[];
  /** A belief, or null, for each action; undefined without beliefs. */
  readonly beliefs?: readonly Belief[];
}

const KEYS = ['seed', 'profile', 'actions', 'beliefs', 'grader', 'schema', 'world_digest'];
const world = createWorld();

const isBelief = (value: unknown) =>
  value === null || (Array.isArray(value) && value.length === NUM_BELIEFS && value.every(Number.isFinite));

const action = oneOf(ACTION_NAMES);
const belief = expect<Belief>('null or three finite numbers', isBelief);

const ACTIONS = `a list of 1 to ${NUM_STEPS} action names`;
const schema = z
  .strictObject(
    {
      seed: expect<number>(`an integer from 0 to ${MAX_U32}`, isU32),
      profile: text('"sampled", "discrete" or a profile\'s name').default('sampled'),
      actions: list(action, ACTIONS)
        .min(1, { error: `Expected ${ACTIONS}, got none.` })
        .max(NUM_STEPS, { error: ({ input }) => `Expected ${ACTIONS}, got ${(input as unknown[]).length}.` }),
      beliefs: list(belief, 'a list of beliefs, one for each action').optional(),
      grader: expect<GraderLike>(
        "a grader's name, eight weights or a grader",
        (value) => typeof value === 'string' || (typeof value === 'object' && value !== null),
      ).default('v2'),
      schema: z
        .custom<Schema>((value) => follows(SCHEMAS.episode, value), {
          error: ({ input }) => otherSchema(SCHEMAS.episode, input),
        })
        .optional(),
      world_digest: z
        .custom<string>((value) => value === world.digest, {
          error: ({ input }) => otherWorld(world.digest, input),
        })
        .optional(),
    },
    {
      error: (issue) =>
        issue.code === 'unrecognized_keys' ? unknownKeys(issue.keys, KEYS) : notAnObject(issue.input, KEYS),
    },
  )
  .refine(({ actions, beliefs }) => beliefs === undefined || beliefs.length === actions.length, {
    path: ['beliefs'],
    error: ({ input }) => {
      const { actions, beliefs } = input as { readonly actions: unknown[]; readonly beliefs: unknown[] };
      return `Expected ${actions.length} beliefs, one for each action, got ${beliefs.length}. Pass null for no belief.`;
    },
  });

/** Parses a row. @param line one line of JSON. @throws BadRow for an invalid row. */
export function parseRow(line: string): ReplayRow {
  const { grader, ...row } = conform(schema, parseJson(line));
  try {
    resolveProfile(world, row.profile);
    return { ...row, grader: graderWeights(grader) };
  } catch (error) {
    throw error instanceof RhythmError ? new BadRow(error.message) : error;
  }
}
