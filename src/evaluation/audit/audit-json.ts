/** Converts an audit to the object of its JSON file. */

import { SCHEMAS } from '../../shared/schemas.js';
import { toSnakeCase } from '../evaluation-json.js';
import type { Audit } from './audit.js';

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
