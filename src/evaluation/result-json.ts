/** Converts evaluations and audits to the objects of their JSON files. */
import { storedField } from '../shared/names.js';
import { SCHEMAS } from '../shared/schemas.js';
import type { Audit } from './audit/audit.js';
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

/** Returns the JSON of an audit, without `meanEpisodes` and `backendReason`. */
export const auditToJson = ({ meanEpisodes: _, backendReason: __, ...audit }: Audit): object =>
  toSnakeCase({ schema: SCHEMAS.audit, ...audit }) as object;

/** Returns the JSON without machine, backend and time: the part that is the same on every machine. */
export function reproducibleJson(audit: Audit): object {
  const fields = Object.entries(auditToJson(audit));
  return Object.fromEntries(fields.filter(([name]) => !MACHINE_FIELDS.has(name)));
}

const MACHINE_FIELDS: ReadonlySet<string> = new Set([
  'backend',
  'kernel',
  'threads',
  'device',
  'machine',
  'seconds',
]);
