/** An audit as the object that its JSON file holds. */
import { toSnakeCase } from '../evaluate/report.js';
import { SCHEMAS } from '../schemas.js';
import type { Audit } from './audit.js';

/** Schema, version, world digest, seeds, backend and machine travel with the numbers. */
export const auditToJson = ({ weeks: _, backendReason: __, ...audit }: Audit): object =>
  toSnakeCase({ schema: SCHEMAS.audit, ...audit }) as object;

/** The same of any machine: without what computed it, which changes no number, and how long that took. */
export function reproducibleJson(audit: Audit): object {
  const said = Object.entries(auditToJson(audit));
  return Object.fromEntries(said.filter(([name]) => !OF_MACHINES.has(name)));
}

const OF_MACHINES: ReadonlySet<string> = new Set(['backend', 'kernel', 'threads', 'machine', 'seconds']);
