/** Converts an evaluation to the object of its JSON file. */
import { storedField } from '../shared/letter-case.js';
import { SCHEMAS } from '../shared/schemas.js';
import type { Evaluation } from './evaluate.js';

/** Returns a deep copy with the field names that files use. */
export function toSnakeCase(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toSnakeCase);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [storedField(name), toSnakeCase(field)]),
  );
}

/** Returns the object that `eval --json` writes: the evaluation with its schema, without `backendReason`. */
export function evaluationToJson({ backendReason: _, ...evaluation }: Evaluation): unknown {
  return toSnakeCase({ schema: SCHEMAS.evaluation, ...evaluation });
}
