/** Files of results: what of them a report takes, checked before anything is drawn. Keys that it does not know are let be. */
import { z } from 'zod';
import { otherSchema, SCHEMAS, type Schema } from '../schemas.js';
import { isModelName, isPrintable, MODEL_NAME, madePrintable, PRINTABLE } from '../validate/names.js';
import { BadRow, conform, expect, flag, list, notAnObject, printableName } from '../validate/rows.js';
import { describe } from '../validate/values.js';
import { ACTION_NAMES, COMPONENT_NAMES, NUM_STEPS } from '../world/fields.js';

const number = expect<number>('a finite number', Number.isFinite);
const numberOrNull = expect<number | null>(
  'a finite number or null',
  (value) => value === null || Number.isFinite(value),
);
const digest = expect<string>('64 hexadecimal digits', (value) => /^[0-9a-f]{64}$/.test(String(value)));
/** "llm:" and a model's name, which has the length of a name. */
const policyText = expect<string>(
  'a policy of 1 to 220 printable characters',
  (value) =>
    typeof value === 'string' && value !== '' && value.length <= 220 && madePrintable(value) === value,
);
/** What a processor calls itself. */
const machineText = expect<string>(
  'a text of at most 200 characters',
  (value) => typeof value === 'string' && value.length <= 200,
);
const count = expect<number>('a count', (value) => Number.isInteger(value) && Number(value) >= 0);
const nameOrNull = expect<string | null>(
  `null or a name of ${PRINTABLE}`,
  (value) => value === null || isPrintable(value),
);
const modelOrNull = expect<string | null>(
  `null or a name of ${MODEL_NAME}`,
  (value) => value === null || isModelName(value),
);
const object = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.object(shape, { error: ({ input }) => notAnObject(input, Object.keys(shape)) });
const each = <T extends z.ZodType>(of: T) =>
  object(Object.fromEntries(COMPONENT_NAMES.map((name) => [name, of])) as Record<string, T>);

const usage = object({
  requests: number.optional(),
  prompt_tokens: number.optional(),
  completion_tokens: number.optional(),
  cost_usd: number.optional(),
});
const interval = object({ mean: number, low: numberOrNull, high: numberOrNull });
const rowsOf = <T extends z.ZodType>(row: T) =>
  list(row, 'a list of rows').min(1, { error: () => 'Expected at least one row, got none.' });

/** Which release made it, of which world. */
const MADE = { version: printableName, world_digest: digest };

/** What computed it, and where. */
const ENGINE = {
  backend: printableName,
  kernel: printableName,
  threads: count,
  machine: object({ cpu: machineText, cores: count, arch: machineText, node: machineText }),
};

const EVALUATION = object({
  ...MADE,
  ...ENGINE,
  grader: printableName,
  rows: rowsOf(
    object({
      condition: printableName,
      policy: policyText,
      belief: expect<'none' | 'constant' | 'own'>('none, constant or own', (value) =>
        ['none', 'constant', 'own'].includes(value as string),
      ),
      oracle: flag,
      seeds: printableName,
      profiles: printableName,
      episodes: count,
      final_score: interval,
      belief_mae: number,
      early_mean: numberOrNull,
      late_mean: numberOrNull,
      unparsed: numberOrNull.optional(),
      usage: usage.nullish(),
    }),
  ),
});

const REEVALUATION = object({
  ...MADE,
  ...ENGINE,
  mismatched_episodes: count,
  rows: rowsOf(
    object({
      condition: printableName,
      profiles: printableName,
      seeds: printableName,
      grader: printableName,
      baseline: nameOrNull,
      teacher: nameOrNull,
      model: modelOrNull,
      objective: nameOrNull,
      oracle: flag,
      episodes: count,
      final_score: interval,
      belief_mae: number,
      early_mean: number,
      late_mean: number,
    }),
  ),
});

const AUDIT = object({
  ...MADE,
  // Those of docs/audits are the same on any machine, and name none.
  ...z.object(ENGINE).partial().shape,
  grader: printableName,
  grader_weights: each(number),
  seeds: object({ fresh: printableName, persons: printableName }),
  verdict: expect<string>('a text', (value) => typeof value === 'string'),
  rows: rowsOf(
    object({
      policy: printableName,
      role: printableName,
      episodes: count,
      final_score: interval,
      price: interval,
      belief_mae: number,
      early_mean: number,
      late_mean: number,
      components: each(object({ mean: number })),
    }),
  ),
  tapes: list(
    object({
      policy: printableName,
      actions: list(
        expect<string>('an action', (value) => ACTION_NAMES.includes(value as string), ACTION_NAMES),
        'a list of actions',
      ).length(NUM_STEPS, { error: () => `Expected ${NUM_STEPS} actions.` }),
    }),
    'a list of tapes',
  ),
});

export type EvaluationResult = z.output<typeof EVALUATION>;
export type ReevaluationResult = z.output<typeof REEVALUATION>;
export type AuditResult = z.output<typeof AUDIT>;
export type Engine = Pick<EvaluationResult, keyof typeof ENGINE>;

/** A file of one value. */
export type Result =
  | { readonly kind: 'evaluation'; readonly value: EvaluationResult }
  | { readonly kind: 'reevaluation'; readonly value: ReevaluationResult }
  | { readonly kind: 'audit'; readonly value: AuditResult };

/** What computed a result; null for one that does not say all of it. */
export function engineOf({ value: { backend, kernel, threads, machine } }: Result): Engine | null {
  const said = backend !== undefined && kernel !== undefined && threads !== undefined;
  return said && machine !== undefined ? { backend, kernel, threads, machine } : null;
}

interface Reader {
  readonly schema: Schema;
  readonly read: (value: unknown) => Result;
}

const READERS: readonly Reader[] = [
  {
    schema: SCHEMAS.evaluation,
    read: (value) => ({ kind: 'evaluation', value: conform(EVALUATION, value) as EvaluationResult }),
  },
  {
    schema: SCHEMAS.reevaluation,
    read: (value) => ({ kind: 'reevaluation', value: conform(REEVALUATION, value) as ReevaluationResult }),
  },
  {
    schema: SCHEMAS.audit,
    read: (value) => ({ kind: 'audit', value: conform(AUDIT, value) as AuditResult }),
  },
];

/** What a report takes, for people. */
export const RESULT_KINDS =
  'the JSON of eval, reeval or audit (each by --json), or trajectories of teach or eval --trajectories';

/**
 * A value as one of the results, by its schema.
 * @throws BadRow for a value of none, of another version, or that is not as its schema has it.
 */
export function parseResult(value: unknown): Result {
  const { schema } = Object(value) as { schema?: Partial<Schema> };
  const reader = READERS.find((known) => known.schema.name === schema?.name);
  if (reader === undefined) {
    const got = schema === undefined ? 'a value without "schema"' : describe(schema?.name ?? schema);
    throw new BadRow(`Expected ${RESULT_KINDS}, got ${got}.`);
  }
  if (schema?.version !== reader.schema.version) throw new BadRow(otherSchema(reader.schema, schema));
  return reader.read(value);
}
