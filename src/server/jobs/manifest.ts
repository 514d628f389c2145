/** The manifest of a shard's file, written beside it: the job, and the size and digest of the file. */
import { z } from 'zod';
import { conform, expect, object, parseJson, text } from '../../shared/row-schemas.js';
import { follows, otherSchema, SCHEMAS, type Schema } from '../../shared/schemas.js';
import { type Job, jobDigest } from './job.js';
import type { Shard } from './shard.js';

export interface Manifest {
  readonly schema: Schema;
  readonly job: Job;
  /** SHA-256 of the job, as `jobDigest` returns it. */
  readonly job_digest: string;
  readonly shard: Shard;
  /** The shard's part of the job, such as "seeds 100-129". */
  readonly part: string;
  /** The number of lines of the file. */
  readonly rows: number;
  /** The size of the file in bytes. */
  readonly bytes: number;
  /** SHA-256 of the file, hexadecimal. */
  readonly sha256: string;
}

/** Returns the path of a file's manifest. */
export const manifestPath = (path: string): string => `${path}.manifest.json`;

/** Returns the manifest of a shard's finished file. */
export const manifestOf = (
  job: Job,
  shard: Shard,
  file: Pick<Manifest, 'part' | 'rows' | 'bytes' | 'sha256'>,
): Manifest => {
  const { part, rows, bytes, sha256 } = file;
  return { schema: SCHEMAS.shard, job, job_digest: jobDigest(job), shard, part, rows, bytes, sha256 };
};

const count = expect<number>('a whole number', (value) => Number.isSafeInteger(value) && Number(value) >= 0);
const digest = expect<string>('64 hexadecimal digits', (value) => /^[\da-f]{64}$/.test(String(value)));

const SHAPE = object({
  schema: z.custom<Schema>((value) => follows(SCHEMAS.shard, value), {
    error: ({ input }) => otherSchema(SCHEMAS.shard, input),
  }),
  job: z.looseObject({ kind: text('the kind of a job'), options: z.looseObject({}) }),
  job_digest: digest,
  shard: object({ index: count, count }).refine(({ index, count }) => index < count, {
    error: 'Expected an index below the count.',
  }),
  part: text('the part of the job'),
  rows: count,
  bytes: count,
  sha256: digest,
});

/** Parses a manifest. @throws BadRow for an invalid manifest, and for one whose job was changed later. */
export function parseManifest(json: string): Manifest {
  const manifest = conform(SHAPE, parseJson(json)) as unknown as Manifest;
  const expected = jobDigest(manifest.job);
  conform(
    object({
      job_digest: expect<string>(`${expected}, the digest of the job`, (value) => value === expected),
    }),
    manifest,
  );
  return manifest;
}
