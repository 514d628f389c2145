/** Parses a line of stored components. */
import { z } from 'zod';
import type { BeliefKind } from '../../agents/policies/fixed-policies.js';
import { floatsOf, validateGrader } from '../../engine/graders/grader.js';
import { finalScore } from '../../engine/reference/grade.js';
import { MODEL_PREFIX } from '../../evaluation/user-policy.js';
import { RhythmError } from '../../shared/errors.js';
import { float32Decimal } from '../../shared/float32-decimal.js';
import { isPrintable, PRINTABLE } from '../../shared/names.js';
import {
  BadRow,
  conform,
  expect,
  flag,
  isU32,
  notAnObject,
  oneOf,
  parseJson,
  printableName,
  text,
} from '../../shared/row-schemas.js';
import { follows, otherSchema, otherWorld, SCHEMAS, schemaName } from '../../shared/schemas.js';
import { COMPONENT_FIELDS, COMPONENT_NAMES, MAX_U32 } from '../../world/fields.js';
import { PROFILE_CHOICES } from '../../world/resolve-names.js';
import { createWorld } from '../../world/world.js';

/** One episode of a policy. */
export interface ComponentsRow {
  readonly condition: string;
  readonly policy: string;
  readonly belief: BeliefKind;
  /** The grader for which the policy's action sequence was found; null for a policy without an action sequence. */
  readonly sequenceGrader: string | null;
  /** Whether the policy used hidden state. */
  readonly oracle: boolean;
  readonly profile: string;
  readonly seed: number;
  /** f32 [8]. */
  readonly components: Float32Array;
  readonly beliefMae: number;
  /** The mean reward of each half of the episode. */
  readonly firstHalfMean: number;
  readonly secondHalfMean: number;
}

/** The keys of numbers from 0 to 1, beside the components. */
const NUMBERS = ['belief_mae', 'final_score'];
/** The other keys that every row has. */
const KEYS = ['condition', 'policy', 'belief', 'early_mean', 'late_mean', 'profile', 'seed'];
const BELIEFS: readonly string[] = ['none', 'constant', 'own'] satisfies BeliefKind[];
const withoutPrefix = (name: string): string =>
  name.startsWith(MODEL_PREFIX) ? name.slice(MODEL_PREFIX.length) : name;
/** A language model's name is checked without its prefix. */
const policyText = expect<string>(`a name of ${PRINTABLE}`, (value) =>
  isPrintable(typeof value === 'string' ? withoutPrefix(value) : value),
);
const world = createWorld();

const isBetween = (value: unknown, low: number) => typeof value === 'number' && value >= low && value <= 1;
const floatFrom = (low: number) =>
  expect<number>(`a float32 from ${low} to 1`, (value) => isBetween(value, low)).transform(Math.fround);
const isFloat = (value: unknown) => typeof value === 'number' && Number.isFinite(Math.fround(value));
const anyFloat = expect<number>('a finite float32', isFloat).transform(Math.fround);

/** The schema of a row. Unknown keys are ignored. */
const ROW = z.object(
  {
    condition: printableName,
    policy: policyText,
    belief: oneOf<BeliefKind>(BELIEFS),
    sequence_grader: printableName.optional(),
    early_mean: anyFloat,
    late_mean: anyFloat,
    oracle: flag.optional(),
    profile: oneOf<string>(PROFILE_CHOICES),
    seed: expect<number>(`an integer from 0 to ${MAX_U32}`, isU32),
    ...Object.fromEntries(NUMBERS.map((key) => [key, floatFrom(0)])),
    ...Object.fromEntries(COMPONENT_FIELDS.map(({ name, low }) => [name, floatFrom(low)])),
  },
  { error: ({ input }) => notAnObject(input, [...KEYS, ...COMPONENT_NAMES, ...NUMBERS]) },
);

const HEADER = z.object({ grader: text("a grader's name"), grader_weights: z.unknown().optional() });

/** The grader of the rows after a header. */
interface Header {
  readonly name: string;
  /** f32 [8]. */
  readonly weights: Float32Array;
}

/** What to do about a line that eval --components did not write. */
const REMEDY = 'Pass a file that eval --components wrote.';

/** Parses lines in order: the header before a row has the grader of its score. */
export class ComponentsParser {
  #header: Header | null = null;

  /** Parses a line. @returns its episode; null for a header. @throws BadRow for an invalid line. */
  parse(line: string): ComponentsRow | null {
    const value = withRemedy(() => parseJson(line));
    if (typeof value === 'object' && value !== null && 'schema' in value) {
      this.#header = headerOf(value);
      return null;
    }
    if (this.#header === null) {
      throw new BadRow(
        `Expected a first line with the schema ${schemaName(SCHEMAS.components)}, got one without a schema. ` +
          REMEDY,
      );
    }
    return rowOf(value, this.#header);
  }
}

/** Returns the result of `read`, whose errors name no remedy. @throws BadRow that ends with the remedy. */
function withRemedy<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof BadRow ? new BadRow(`${error.message} ${REMEDY}`) : error;
  }
}

function headerOf(value: { readonly schema: unknown; readonly world_digest?: unknown }): Header {
  const { schema, world_digest } = value;
  if (!follows(SCHEMAS.components, schema)) {
    throw new BadRow(`schema: ${otherSchema(SCHEMAS.components, schema)}`);
  }
  if (world_digest !== world.digest)
    throw new BadRow(`world_digest: ${otherWorld(world.digest, world_digest)}`);
  const { grader: name, grader_weights: weights } = withRemedy(() => conform(HEADER, value));
  try {
    const grader = validateGrader({ name, weights }, 'the grader (keys grader, grader_weights)');
    return { name, weights: floatsOf(grader.weights) };
  } catch (error) {
    throw error instanceof RhythmError ? new BadRow(error.message) : error;
  }
}

function rowOf(value: unknown, { name, weights }: Header): ComponentsRow {
  const {
    condition,
    policy,
    belief,
    sequence_grader: sequenceGrader = null,
    oracle = false,
    profile,
    seed,
    ...rest
  } = withRemedy(() => conform(ROW, value));
  const numbers = rest as Record<string, number>;
  const components = Float32Array.from(COMPONENT_NAMES, (component) => numbers[component]);
  const graded = finalScore(weights, components);
  if (graded !== numbers.final_score) {
    throw new BadRow(
      `final_score: Expected ${float32Decimal(graded)}, the score of the components under grader ${name}, ` +
        `got ${float32Decimal(numbers.final_score)}. The numbers in the file were changed; write it again.`,
    );
  }
  return {
    condition,
    policy,
    belief,
    sequenceGrader,
    oracle,
    profile,
    seed,
    components,
    beliefMae: numbers.belief_mae,
    firstHalfMean: numbers.early_mean,
    secondHalfMean: numbers.late_mean,
  };
}
