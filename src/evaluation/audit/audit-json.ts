/** Converts an audit to the object of its JSON file. */

import { SCHEMAS } from '../../shared/schemas.js';
import { toSnakeCase } from '../evaluation-json.js';
import type { Audit } from './audit.js';

/**
 * Returns the JSON of an audit, without `meanEpisodes` and `backendReason`. Some fields keep the names that they had in files
 * of earlier releases.
 */
export function auditToJson({ meanEpisodes: _, backendReason: __, ...audit }: Audit): object {
  const { seeds, rows, gains } = audit;
  return toSnakeCase({
    schema: SCHEMAS.audit,
    ...audit,
    seeds: withNames(seeds, { perProfile: 'luck', profiles: 'persons' }),
    rows: rows.map((row) => withNames(row, { gain: 'price' })),
    gains: withNames(gains, {
      profile: 'person',
      profileBelief: 'personBelief',
      profileActions: 'personActions',
    }),
  }) as object;
}

/** Returns a copy with some properties renamed, in the same order. */
const withNames = (value: object, names: Readonly<Record<string, string>>): object =>
  Object.fromEntries(Object.entries(value).map(([name, field]) => [names[name] ?? name, field]));

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
