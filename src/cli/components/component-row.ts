/** Parses a line of stored components. */
import { z } from 'zod';
import type { BeliefKind } from '../../agents/policies/policies.js';
import { floatsOf, validateGrader } from '../../engine/graders/grader.js';
import { finalScore } from '../../engine/reference/grade.js';
import { MODEL_PREFIX } from '../../evaluation/choose-policies.js';
import { RhythmError } from '../../shared/errors.js';
import { currentPolicy } from '../../shared/former-names.js';
import { isPrintable, PRINTABLE } from '../../shared/printable-names.js';
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
import { follows, otherSchema, SCHEMAS, schemaName } from '../../shared/schemas.js';
import { COMPONENT_NAMES, MAX_U32 } from '../../world/fields.js';
import { PROFILE_CHOICES } from '../../world/resolve-names.js';
import { createWorld } from '../../world/world.js';

/** One episode of a policy. */
export interface ComponentsRow {
  readonly condition: string;
  readonly policy: string;
  readonly belief: BeliefKind;
  /** The grader whose action sequence was played; null for a policy that plays none. */
  readonly sequenceGrader: string | null;
  /** Whether the policy used hidden state. */
  readonly oracle: boolean;
  readonly profile: string;
  readonly seed: number;
  /** f32 [6]. */
  readonly components: Float32Array;
  readonly beliefMae: number;
  /** Mean rewards of each half; NaN if the line lacks them. */
  readonly firstHalfMean: number;
  readonly secondHalfMean: number;
}

const NUMBERS = [...COMPONENT_NAMES, 'belief_mae', 'final_score'];
const KEYS = ['condition', 'policy', 'belief', 'profile', 'seed', ...NUMBERS];
const BELIEFS: readonly string[] = ['none', 'constant', 'own'] satisfies BeliefKind[];
const withoutPrefix = (name: string): string =>
  name.startsWith(MODEL_PREFIX) ? name.slice(MODEL_PREFIX.length) : name;
/** A language model's name is checked without its prefix. */
const policyText = expect<string>(`a name of ${PRINTABLE}`, (value) =>
  isPrintable(typeof value === 'string' ? withoutPrefix(value) : value),
).transform(currentPolicy);
const world = createWorld();

const isFloat = (value: unknown) =>
  typeof value === 'number' && value >= 0 && value <= 1 && Math.fround(value) === value;
const isAnyFloat = (value: unknown) => typeof value === 'number' && Math.fround(value) === value;

// Unknown keys are ignored.
const rowSchema = z.object(
  {
    condition: printableName,
    policy: policyText,
    belief: oneOf<BeliefKind>(BELIEFS),
    tape: printableName.optional(),
    early_mean: expect<number>('a float32', isAnyFloat).optional(),
    late_mean: expect<number>('a float32', isAnyFloat).optional(),
    oracle: flag.optional(),
    profile: oneOf<string>(PROFILE_CHOICES),
    seed: expect<number>(`an integer from 0 to ${MAX_U32}`, isU32),
    ...Object.fromEntries(NUMBERS.map((key) => [key, expect<number>('a float32 from 0 to 1', isFloat)])),
  },
  { error: ({ input }) => notAnObject(input, KEYS) },
);

const headerSchema = z.object({
  schema: z.custom((value) => follows(SCHEMAS.components, value), {
    error: ({ input }) => otherSchema(SCHEMAS.components, input),
  }),
  world_digest: expect<string>(
    `${world.digest}, the world of this release`,
    (value) => value === world.digest,
  ),
  grader: text("a grader's name"),
  grader_weights: z.unknown().optional(),
});

/** Parses lines in order: the header before a row determines how the row is checked. */
export class ComponentsParser {
  #grader: { readonly name: string; readonly weights: Float32Array } | null = null;

  /**
   * Parses a line. @returns its episode; null for a header. @throws BadRow for an invalid line.
   */
  parse(line: string): ComponentsRow | null {
    const value = parseJson(line);
    if (typeof value === 'object' && value !== null && 'schema' in value) {
      this.#grader = graderOf(value);
      return null;
    }
    if (this.#grader === null) {
      throw new BadRow(
        `Expected a first line with the schema ${schemaName(SCHEMAS.components)}, got one without a schema. ` +
          'Pass a file that eval --components wrote.',
      );
    }
    return rowOf(value, this.#grader);
  }
}

function graderOf(value: object): { name: string; weights: Float32Array } {
  const { grader, grader_weights: weights } = conform(headerSchema, value);
  try {
    return { name: grader, weights: floatsOf(validateGrader({ name: grader, weights }, 'the line').weights) };
  } catch (error) {
    throw error instanceof RhythmError ? new BadRow(error.message) : error;
  }
}

function rowOf(value: unknown, grader: { name: string; weights: Float32Array }): ComponentsRow {
  const {
    condition,
    policy,
    belief,
    tape: sequenceGrader = null,
    oracle = false,
    profile,
    seed,
    ...rest
  } = conform(rowSchema, value);
  const numbers = rest as Record<string, number>;
  const components = Float32Array.from(COMPONENT_NAMES, (component) => numbers[component]);
  const graded = finalScore(grader.weights, components);
  if (graded !== numbers.final_score) {
    throw new BadRow(
      `final_score: Expected ${graded}, the score of the components under grader ${grader.name}, ` +
        `got ${numbers.final_score}. The numbers in the file were changed; write it again.`,
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
    firstHalfMean: numbers.early_mean ?? Number.NaN,
    secondHalfMean: numbers.late_mean ?? Number.NaN,
  };
}
