/** What the JSON that this package writes and reads is called: rules in docs/compatibility.md. */

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
} as const satisfies Record<string, Schema>;

/** Whether data says that it follows a schema. */
export function follows(schema: Schema, said: unknown): boolean {
  const { name, version } = (said ?? {}) as Partial<Schema>;
  return name === schema.name && version === schema.version;
}
