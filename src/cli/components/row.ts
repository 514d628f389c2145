/** A line of stored components: what it may say, and what is wrong with one that does not. */
import { z } from 'zod';
import { RhythmError } from '../../errors.js';
import { MODEL_PREFIX } from '../../evaluate/choosing.js';
import { floatsOf, validateGrader } from '../../graders/grader.js';
import type { BeliefKind } from '../../policies/policies.js';
import { finalScore } from '../../reference/grade.js';
import { follows, otherSchema, SCHEMAS, schemaName } from '../../schemas.js';
import { isPrintable, PRINTABLE } from '../../validate/names.js';
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
} from '../../validate/rows.js';
import { COMPONENT_NAMES, MAX_U32 } from '../../world/fields.js';
import { PERSON_NAMES } from '../../world/resolve.js';
import { createWorld } from '../../world/world.js';

/** An episode of a policy. */
export interface ComponentsRow {
  readonly condition: string;
  readonly policy: string;
  readonly belief: BeliefKind;
  /** The grader whose tape was played; null for a policy that plays none. */
  readonly tape: string | null;
  /** Whether it was shown who the persons are. */
  readonly oracle: boolean;
  readonly profile: string;
  readonly seed: number;
  /** f32 [6]. */
  readonly components: Float32Array;
  readonly beliefMae: number;
  /** Mean rewards of each half; NaN where the line does not say. */
  readonly earlyMean: number;
  readonly lateMean: number;
}

const NUMBERS = [...COMPONENT_NAMES, 'belief_mae', 'final_score'];
const KEYS = ['condition', 'policy', 'belief', 'profile', 'seed', ...NUMBERS];
const BELIEFS: readonly string[] = ['none', 'constant', 'own'] satisfies BeliefKind[];
const withoutPrefix = (name: string): string =>
  name.startsWith(MODEL_PREFIX) ? name.slice(MODEL_PREFIX.length) : name;
/** That of a language model says so before the model's name. */
const policyText = expect<string>(`a name of ${PRINTABLE}`, (value) =>
  isPrintable(typeof value === 'string' ? withoutPrefix(value) : value),
);
const world = createWorld();

const isFloat = (value: unknown) =>
  typeof value === 'number' && value >= 0 && value <= 1 && Math.fround(value) === value;
const isAnyFloat = (value: unknown) => typeof value === 'number' && Math.fround(value) === value;

// Other keys are for other readers.
const rowSchema = z.object(
  {
    condition: printableName,
    policy: policyText,
    belief: oneOf<BeliefKind>(BELIEFS),
    tape: printableName.optional(),
    early_mean: expect<number>('a float32', isAnyFloat).optional(),
    late_mean: expect<number>('a float32', isAnyFloat).optional(),
    oracle: flag.optional(),
    profile: oneOf<string>(PERSON_NAMES),
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

/** Reads lines in their order: what a row must say depends on the header before it. */
export class ComponentsParser {
  #grader: { readonly name: string; readonly weights: Float32Array } | null = null;

  /** @returns the episode of a line; null for a header. @throws BadRow that says what was expected and what came. */
  parse(line: string): ComponentsRow | null {
    const value = parseJson(line);
    if (typeof value === 'object' && value !== null && 'schema' in value) {
      this.#grader = graderOf(value);
      return null;
    }
    if (this.#grader === null) {
      throw new BadRow(
        `Expected a first line with the schema ${schemaName(SCHEMAS.components)}, got one without a schema. ` +
          'Use what eval --components writes.',
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
    tape = null,
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
      `final_score: Expected ${graded}, which grader ${grader.name} makes of the components, ` +
        `got ${numbers.final_score}. Write the file anew: numbers in it have changed.`,
    );
  }
  return {
    condition,
    policy,
    belief,
    tape,
    oracle,
    profile,
    seed,
    components,
    beliefMae: numbers.belief_mae,
    earlyMean: numbers.early_mean ?? Number.NaN,
    lateMean: numbers.late_mean ?? Number.NaN,
  };
}
