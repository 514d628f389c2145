/** Rows of `rhythm-vec replay`: parses them, and replays batches of them. */

import { z } from 'zod';
import { type GraderLike, graderWeights } from '../engine/graders/grader.js';
import { clampBelief } from '../engine/reference/profile.js';
import type { RunResult } from '../engine/vec-env/vec-env-options.js';
import type { ResizableAnyEnv } from '../rollouts/resizable-env.js';
import { RhythmError } from '../shared/errors.js';
import { float32Decimal, float32Decimals } from '../shared/float32-decimal.js';
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
} from '../shared/row-schemas.js';
import { follows, otherSchema, otherWorld, SCHEMAS, type Schema } from '../shared/schemas.js';
import {
  ACTION_NAMES,
  COMPONENT_NAMES,
  EVENT_NAMES,
  MAX_U32,
  MIN_MAGNITUDE,
  NUM_BELIEFS,
  NUM_COMPONENTS,
  NUM_METERS,
  NUM_STEPS,
} from '../world/fields.js';
import { resolveProfile } from '../world/resolve-names.js';
import { createWorld } from '../world/world.js';

/** Replays rows, and yields their results as JSON texts, in the order of the rows. Read them before the next call. */
export async function* replayRows(envs: ResizableAnyEnv, rows: readonly ReplayRow[]): AsyncGenerator<string> {
  const env = await envs.of(rows.length);
  await env.reset({
    seed: Uint32Array.from(rows, ({ seed }) => seed),
    profiles: rows.map(({ profile }) => profile),
    graders: gradersOf(rows),
  });
  const targets = await env.beliefTargets();
  const result = await env.run(sequenceOf(rows), {
    beliefs: beliefsOf(rows),
    stops: rows.map(({ actions }) => actions.length),
    trajectory: true,
  });
  for (const [i, row] of rows.entries()) yield JSON.stringify(scoredRow(row, i, targets, result));
}

function gradersOf(rows: readonly ReplayRow[]): Float32Array {
  const graders = new Float32Array(rows.length * NUM_COMPONENTS);
  rows.forEach(({ grader }, i) => {
    graders.set(grader, i * NUM_COMPONENTS);
  });
  return graders;
}

/** Returns the actions, u8 [rows, 28], with zeros after a row's last action. */
function sequenceOf(rows: readonly ReplayRow[]): Uint8Array {
  const sequence = new Uint8Array(rows.length * NUM_STEPS);
  rows.forEach(({ actions }, i) => {
    sequence.set(
      actions.map((name) => ACTION_NAMES.indexOf(name)),
      i * NUM_STEPS,
    );
  });
  return sequence;
}

/** Returns the beliefs, f32 [rows, 28, 3], with NaN for no belief. */
function beliefsOf(rows: readonly ReplayRow[]): Float32Array {
  const sequence = new Float32Array(rows.length * NUM_STEPS * NUM_BELIEFS).fill(Number.NaN);
  rows.forEach(({ beliefs }, i) => {
    beliefs?.forEach((belief, t) => {
      // Clamped here, because a number beyond the range of float32 would become infinite.
      if (belief)
        sequence.set(
          belief.map((value) => clampBelief(value, MIN_MAGNITUDE)),
          (i * NUM_STEPS + t) * NUM_BELIEFS,
        );
    });
  });
  return sequence;
}

function scoredRow(
  { seed, profile, actions }: ReplayRow,
  i: number,
  targets: Float32Array,
  result: RunResult,
) {
  return {
    seed,
    profile,
    belief_target: floats(targets, i, NUM_BELIEFS),
    steps: actions.map((action, t) => step(action, i * NUM_STEPS + t, result)),
    final: actions.length === NUM_STEPS ? final(i, result) : null,
  };
}

/** Returns a step of the output. Float32 numbers are written as shortest decimals. @param at row * 28 + step. */
function step(action: string, at: number, { trajectory }: RunResult) {
  const { events, rewards, meters, deltas, anomalies } = trajectory!;
  return {
    action,
    event: EVENT_NAMES[events[at]] ?? null,
    reward: float32Decimal(rewards[at]),
    meters: floats(meters, at, NUM_METERS),
    delta: floats(deltas, at, NUM_METERS),
    anomaly: floats(anomalies, at, NUM_METERS),
  };
}

function final(i: number, { components, beliefMae, finalScores }: RunResult) {
  const graded = floats(components, i, NUM_COMPONENTS);
  return {
    ...Object.fromEntries(COMPONENT_NAMES.map((name, k) => [name, graded[k]])),
    belief_mae: float32Decimal(beliefMae[i]),
    final_score: float32Decimal(finalScores[i]),
  };
}

const floats = (from: Float32Array, row: number, size: number): number[] =>
  float32Decimals(from.subarray(row * size, (row + 1) * size));

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
