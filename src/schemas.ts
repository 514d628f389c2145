/** What the JSON that this package writes and reads is called: rules in docs/compatibility.md. */
import { describe } from './validate/values.js';

export interface Schema {
  readonly name: string;
  /** Rises when a key is renamed or removed or means something else; not when one is added. */
  readonly version: number;
}

export const SCHEMAS = {
  /** `eval --json`. */
  evaluation: { name: 'rhythm-vec/evaluation', version: 1 },
  /** `npm run bench -- --json`. */
  bench: { name: 'rhythm-vec/bench', version: 1 },
  /** A row that `replay` reads. */
  episode: { name: 'rhythm-vec/episode', version: 1 },
  /** A grader's file, `--grader FILE`. */
  grader: { name: 'rhythm-vec/grader', version: 1 },
  /** The first line of `eval --components`, which `regrade` reads. */
  components: { name: 'rhythm-vec/components', version: 1 },
  /** `audit --json`. */
  audit: { name: 'rhythm-vec/audit', version: 1 },
  /** `regrade --json`. */
  regrade: { name: 'rhythm-vec/regrade', version: 1 },
  /** Rows of `dataset grpo`; its card and a Parquet file's metadata say so. */
  grpoDataset: { name: 'rhythm-vec/grpo-dataset', version: 1 },
  /** A line of stored trajectories: an episode with all that was seen, said and done. */
  trajectory: { name: 'rhythm-vec/trajectory', version: 1 },
  /** `reeval --json`. */
  reevaluation: { name: 'rhythm-vec/reevaluation', version: 1 },
  /** Rows of `dataset sft`; its card and a Parquet file's metadata say so. */
  sftDataset: { name: 'rhythm-vec/sft-dataset', version: 1 },
} as const satisfies Record<string, Schema>;

/** Whether data says that it follows a schema. */
export function follows(schema: Schema, said: unknown): boolean {
  const { name, version } = (said ?? {}) as Partial<Schema>;
  return name === schema.name && version === schema.version;
}

/** Why what data says of its schema is refused. @param place where it says so: " at schema of FILE". */
export const otherSchema = (schema: Schema, said: unknown, place = ''): string =>
  `Expected ${schemaName(schema)}${place}, got ${show(said)}. Use the release that wrote it.`;

/** A schema as errors call it. */
export const schemaName = ({ name, version }: Schema): string =>
  `${describe(name)} version ${describe(version)}`;

/** A schema by name; what has none as it is. */
const show = (said: unknown): string =>
  (said as Schema | null)?.name === undefined ? describe(said) : schemaName(said as Schema);
