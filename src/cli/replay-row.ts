/** A row of stored episodes: what it may say, and what is wrong with one that does not. */
import { z } from 'zod';
import { RhythmError } from '../errors.js';
import { follows, SCHEMAS, type Schema } from '../schemas.js';
import { didYouMean } from '../suggest.js';
import { describe } from '../validate/values.js';
import { ACTION_NAMES, MAX_U32, NUM_BELIEFS, NUM_STEPS } from '../world/fields.js';
import { resolveGrader, resolveProfile } from '../world/resolve.js';
import { createWorld } from '../world/world.js';

type Belief = [number, number, number] | null;

export interface ReplayRow {
  readonly seed: number;
  /** 'sampled', 'discrete' or a profile's name. */
  readonly profile: string;
  /** f32 [6]: weights of the grade's components. */
  readonly grader: Float32Array;
  /** 1 to 28 names of ACTION_NAMES. */
  readonly actions: readonly string[];
  /** One for each action, or undefined for none at all. */
  readonly beliefs?: readonly Belief[];
}

/** Why a line is no row. */
export class BadRow extends Error {}

const KEYS = ['seed', 'profile', 'actions', 'beliefs', 'grader', 'schema', 'world_digest'];
const world = createWorld();

const got = (value: unknown): string => (value === undefined ? 'got none.' : `got ${describe(value)}.`);
const guess = (value: unknown, known: readonly string[]): string =>
  typeof value === 'string' && known.length > 0 ? didYouMean(value, known, '') : '';

const isU32 = (value: unknown) => typeof value === 'number' && value >>> 0 === value;
const isBelief = (value: unknown) =>
  value === null || (Array.isArray(value) && value.length === NUM_BELIEFS && value.every(Number.isFinite));

/** A value that passes `test`; otherwise what was expected is said, and what came. */
const expect = <T>(expected: string, test: (value: unknown) => boolean, known: readonly string[] = []) =>
  z.custom<T>(test, {
    error: ({ input }) => `Expected ${expected}, ${got(input)}${guess(input, known)}`,
  });

const action = expect<string>(
  `one of ${ACTION_NAMES.join(', ')}`,
  (value) => ACTION_NAMES.includes(value as string),
  ACTION_NAMES,
);
const belief = expect<Belief>('null or three finite numbers', isBelief);
const list = <T extends z.ZodType>(of: T, expected: string) =>
  z.array(of, { error: ({ input }) => `Expected ${expected}, ${got(input)}` });
const text = (expected: string) => expect<string>(expected, (value) => typeof value === 'string');

const isOurs = (value: unknown) => follows(SCHEMAS.episode, value);
const schemaName = ({ name, version }: Schema): string => `${describe(name)} version ${describe(version)}`;
/** A schema by name; what has none as it is. */
const said = (value: unknown): string =>
  (value as Schema | null)?.name === undefined ? describe(value) : schemaName(value as Schema);

const steps = `a list of 1 to ${NUM_STEPS} action names`;
const schema = z
  .strictObject(
    {
      seed: expect<number>(`an integer from 0 to ${MAX_U32}`, isU32),
      profile: text('"sampled", "discrete" or a profile\'s name').default('sampled'),
      actions: list(action, steps)
        .min(1, { error: `Expected ${steps}, got none.` })
        .max(NUM_STEPS, { error: ({ input }) => `Expected ${steps}, got ${(input as unknown[]).length}.` }),
      beliefs: list(belief, 'a list of beliefs, one for each action').optional(),
      grader: expect<string | number[]>(
        "a grader's name or six weights that sum to 1",
        (value) => typeof value === 'string' || Array.isArray(value),
      ).default('v2'),
      schema: z
        .custom<Schema>(isOurs, {
          error: ({ input }) =>
            `Expected ${schemaName(SCHEMAS.episode)}, got ${said(input)}. Use the release that wrote it.`,
        })
        .optional(),
      world_digest: expect<string>(
        `${world.digest}, the world that rows are played in`,
        (value) => value === world.digest,
      ).optional(),
    },
    {
      error: (issue) =>
        issue.code === 'unrecognized_keys' ? unknownKeys(issue.keys) : notAnObject(issue.input),
    },
  )
  .refine(({ actions, beliefs }) => beliefs === undefined || beliefs.length === actions.length, {
    path: ['beliefs'],
    error: 'Expected as many beliefs as actions (null where none is given).',
  });

const notAnObject = (value: unknown): string =>
  `Expected an object with the keys ${KEYS.join(', ')}, ${got(value)}`;

function unknownKeys(keys: readonly string[]): string {
  return `Expected no keys but ${KEYS.join(', ')}; got ${JSON.stringify(keys[0])}.${didYouMean(keys[0], KEYS, ' Remove it.')}`;
}

/** @param line one line of JSON. @throws BadRow that says what was expected and what came. */
export function parseRow(line: string): ReplayRow {
  const parsed = schema.safeParse(parseJson(line));
  if (!parsed.success) throw new BadRow(explain(parsed.error.issues[0]));
  const { grader, ...row } = parsed.data;
  try {
    resolveProfile(world, row.profile);
    // Twice: the batch will see the weights as float32s, and a refusal there would cost it all its rows.
    return { ...row, grader: resolveGrader(world, resolveGrader(world, grader)) };
  } catch (error) {
    throw error instanceof RhythmError ? new BadRow(error.message) : error;
  }
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch (error) {
    throw new BadRow(`Expected one JSON object, got text that is none: ${(error as Error).message}.`);
  }
}

function explain({ path, message }: { path: PropertyKey[]; message: string }): string {
  const where = path.map((key) => (typeof key === 'number' ? `[${key}]` : `${String(key)}`)).join('');
  return where === '' ? message : `${where}: ${message}`;
}
