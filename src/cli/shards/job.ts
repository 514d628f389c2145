/**
 * A job: a command's options as plain JSON, with all defaults filled in. Equal jobs without a language model have equal
 * results, byte for byte. The manifest beside a shard's file has the job, and the size and digest of the file.
 */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Prices } from '../../agents/llm/ledger.js';
import type { Grader } from '../../engine/graders/grader.js';
import type { Sampling } from '../../rollouts/trajectories/trajectory-episode.js';
import { conform, expect, object, parseJson, text } from '../../shared/row-schemas.js';
import { follows, otherSchema, SCHEMAS, type Schema } from '../../shared/schemas.js';
import { packageVersion } from '../../shared/version.js';
import type { DpoPlan } from '../../training/datasets/dpo/dpo-rows.js';
import type { SftPlan } from '../../training/datasets/sft/sft-rows.js';
import type { Condition, SeedRange } from '../../world/conditions.js';
import { createWorld } from '../../world/world.js';
import type { Shard } from './shard.js';

/** The fields of all jobs. */
interface JobBase {
  /** The version of the package. Results of another version may have other bytes. */
  readonly version: string;
  /** SHA-256 of the world, hexadecimal. */
  readonly world_digest: string;
  readonly grader: Grader;
}

/** The settings of a language model that change its episodes. */
export interface ModelSettings {
  readonly sampling: Sampling;
  /** Dollars per million tokens, to compute the costs of episodes; null if unknown. */
  readonly prices: Prices | null;
}

/** `teach`: an episode of each seed by one policy. */
export interface TeachJob extends JobBase {
  readonly kind: 'teach';
  readonly options: {
    /** A policy's name, or "llm:MODEL". */
    readonly policy: string;
    /** SHA-256 of the policy's file, hexadecimal; null for a policy without a file. */
    readonly policy_file: string | null;
    /** Null unless the policy is a language model. */
    readonly model: ModelSettings | null;
    readonly seeds: SeedRange;
    /** 'sampled', 'discrete' or a profile's name. */
    readonly profiles: string;
  };
}

/** `eval`: an episode of each seed of each condition by each policy. */
export interface EvalJob extends JobBase {
  readonly kind: 'eval';
  readonly options: {
    /** Names of policies, each once. */
    readonly policies: readonly string[];
    /** By policy name: the SHA-256 of its file, hexadecimal. */
    readonly policy_files: Readonly<Record<string, string>>;
    /** Null if no policy is a language model. */
    readonly model: ModelSettings | null;
    readonly conditions: readonly Condition[];
  };
}

/** `dataset grpo`: the rows of a dataset for GRPO. */
export interface DatasetJob extends JobBase {
  readonly kind: 'dataset';
  /** The options of `dataset grpo`. */
  readonly options: {
    readonly dataset: 'grpo';
    readonly rows: number;
    readonly seeds: SeedRange;
    readonly profiles: readonly string[];
    /** The range of `step_index`: steps before a row's state. */
    readonly steps: SeedRange;
    /** The seed of the selection of states. */
    readonly seed: number;
    readonly allow_eval_seeds: boolean;
    /** The value of --grader without its folder, for the card. */
    readonly grader: string;
  };
}

/** `dataset sft` and `dataset dpo`: rows of recorded episodes. */
export interface SelectionJob extends JobBase {
  readonly kind: 'selection';
  readonly options: {
    /** The options that select the episodes and make their rows, without the grader. */
    readonly plan:
      | ({ readonly dataset: 'sft' } & Omit<SftPlan, 'grader'>)
      | ({ readonly dataset: 'dpo' } & Omit<DpoPlan, 'grader'>);
    /** The files of episodes in their order: names without folders, for the card, and SHA-256 of the bytes. */
    readonly files: readonly { readonly name: string; readonly sha256: string }[];
    /** The value of --grader without its folder, for the card. */
    readonly grader: string;
    /** Whether the merge succeeds even if lines were left out. */
    readonly skip_bad: boolean;
  };
}

/** A job of any command. */
export type Job = TeachJob | EvalJob | DatasetJob | SelectionJob;

/** Returns a job of this version and world. */
export function createJob<J extends Job>(kind: J['kind'], grader: Grader, options: J['options']): J {
  const { name, weights } = grader;
  const base = { version: packageVersion(), world_digest: createWorld().digest };
  return { kind, ...base, grader: { name, weights }, options } as J;
}

/** Returns JSON whose objects have sorted keys, so that equal values have equal texts. */
export const canonicalJson = (value: unknown): string =>
  JSON.stringify(value, (_, each: unknown) =>
    typeof each === 'object' && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)))
      : each,
  );

/** Returns the SHA-256 of a job's canonical JSON, hexadecimal. It identifies the job. */
export const jobDigest = (job: Job): string => createHash('sha256').update(canonicalJson(job)).digest('hex');

/** Returns the paths at which two jobs differ, with both values, such as "options.seeds.last: 99 and 199". */
export function jobDifferences(job: unknown, other: unknown, path = ''): string[] {
  const [one, two] = [job, other].map((value) => (isRecord(value) ? value : null));
  if (one === null || two === null) {
    const [a, b] = [job, other].map(canonicalJson);
    return a === b ? [] : [`${path}: ${a} and ${b}`];
  }
  const names = [...new Set([...Object.keys(one), ...Object.keys(two)])];
  return names.flatMap((name) =>
    jobDifferences(one[name] ?? null, two[name] ?? null, path === '' ? name : `${path}.${name}`),
  );
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

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
