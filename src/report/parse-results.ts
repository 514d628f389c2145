/** Validates result files for a report. Ignores unknown keys. */
import { z } from 'zod';
import { isModelName, isPrintable, MODEL_NAME, PRINTABLE, toPrintable } from '../shared/names.js';
import { BadRow, conform, expect, flag, list, object, printableName } from '../shared/row-schemas.js';
import { otherSchema, SCHEMAS, type Schema } from '../shared/schemas.js';
import { describe } from '../shared/values.js';
import { ACTION_NAMES, COMPONENT_NAMES, NUM_STEPS } from '../world/fields.js';

const number = expect<number>('a finite number', Number.isFinite);
const numberOrNull = expect<number | null>(
  'a finite number or null',
  (value) => value === null || Number.isFinite(value),
);
const digest = expect<string>('64 hexadecimal digits', (value) => /^[0-9a-f]{64}$/.test(String(value)));
/** The name of a policy. 220 characters have room for `llm:` and a model's name of 200 characters. */
const policyText = expect<string>(
  'a policy of 1 to 220 printable characters',
  (value) => typeof value === 'string' && value !== '' && value.length <= 220 && toPrintable(value) === value,
);
/** The name of a processor or a device. The limit is chosen by hand. */
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
/** Returns the schema of a value for each component. */
const byComponent = <T extends z.ZodType>(of: T) =>
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

/** The fields of the version and the world. */
const ORIGIN = { version: printableName, world_digest: digest };

/** The fields of the engine and machine. */
const ENGINE = {
  backend: printableName,
  kernel: printableName,
  threads: count,
  device: machineText.nullable(),
  machine: object({ cpu: machineText, cores: count, arch: machineText, node: machineText }),
};

const EVALUATION = object({
  ...ORIGIN,
  ...ENGINE,
  grader: printableName,
  grader_weights: byComponent(number),
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
      early_mean: number,
      late_mean: number,
      unparsed: numberOrNull,
      usage: usage.nullable(),
      verdict: object({
        reference: printableName,
        difference: interval,
        missing: list(printableName, 'a list of policies'),
      })
        .nullable()
        .default(null),
    }),
  ),
});

const REEVALUATION = object({
  ...ORIGIN,
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
  ...ORIGIN,
  // The audits in docs/audits have no engine and machine.
  ...z.object(ENGINE).partial().shape,
  grader: printableName,
  grader_weights: byComponent(number),
  seeds: object({ fresh: printableName, profiles: printableName }),
  verdict: expect<string>('a text', (value) => typeof value === 'string'),
  rows: rowsOf(
    object({
      policy: printableName,
      role: printableName,
      episodes: count,
      final_score: interval,
      gain: interval,
      belief_mae: number,
      early_mean: number,
      late_mean: number,
      components: byComponent(object({ mean: number })),
    }),
  ),
  sequences: list(
    object({
      policy: printableName,
      actions: list(
        expect<string>('an action', (value) => ACTION_NAMES.includes(value as string), ACTION_NAMES),
        'a list of actions',
      ).length(NUM_STEPS, {
        error: ({ input }) => `Expected ${NUM_STEPS} actions, got ${(input as unknown[]).length}.`,
      }),
    }),
    'a list of action sequences',
  ),
});

const TRAINING = object({
  ...ORIGIN,
  curves: list(
    object({
      name: printableName,
      unit: printableName,
      points: list(object({ x: number, y: number }), 'a list of points').min(1, {
        error: () => 'Expected at least one point, got none.',
      }),
    }),
    'a list of curves',
  ).min(1, { error: () => 'Expected at least one curve, got none.' }),
  costs: list(object({ stage: printableName, seconds: number, dollars: number }), 'a list of costs'),
});

/** The fields of the result files that a report reads. */
export type EvaluationResult = z.output<typeof EVALUATION>;
export type ReevaluationResult = z.output<typeof REEVALUATION>;
export type AuditResult = z.output<typeof AUDIT>;
export type TrainingResult = z.output<typeof TRAINING>;
/** The backend, kernel, threads, device and machine of a result. */
export type Engine = Pick<EvaluationResult, keyof typeof ENGINE>;

/** A validated result file. */
export type Result =
  | { readonly kind: 'evaluation'; readonly value: EvaluationResult }
  | { readonly kind: 'reevaluation'; readonly value: ReevaluationResult }
  | { readonly kind: 'audit'; readonly value: AuditResult }
  | { readonly kind: 'training'; readonly value: TrainingResult };

/** Returns the engine of a result, or null if it is incomplete. */
export function engineOf({ value }: Result): Engine | null {
  const { backend, kernel, threads, device, machine } = value as Partial<Engine>;
  const hasEngine = backend !== undefined && kernel !== undefined && threads !== undefined;
  if (!hasEngine || device === undefined || machine === undefined) return null;
  return { backend, kernel, threads, device, machine };
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
  {
    schema: SCHEMAS.training,
    read: (value) => ({ kind: 'training', value: conform(TRAINING, value) as TrainingResult }),
  },
];

/** The inputs of a report, for messages. */
export const RESULT_KINDS =
  "the JSON of eval, reeval or audit (each by --json) or of the recipe's pipeline, or trajectories of teach or eval --trajectories";

/**
 * Validates a result by the schema that it names.
 * @throws BadRow for an unknown schema or version, or an invalid value.
 */
export function parseResult(value: unknown): Result {
  const { schema } = Object(value) as { schema?: Partial<Schema> };
  const reader = READERS.find((candidate) => candidate.schema.name === schema?.name);
  if (reader === undefined) {
    const got = schema === undefined ? 'a value without "schema"' : describe(schema?.name ?? schema);
    throw new BadRow(`Expected ${RESULT_KINDS}, got ${got}.`);
  }
  if (schema?.version !== reader.schema.version) throw new BadRow(otherSchema(reader.schema, schema));
  return reader.read(value);
}
