/**
 * Shards of an audit. Each shard computes some of the audit's pieces (searches and recorded episodes); a merge puts them
 * together.
 */

import type { PolicyLike } from '../../engine/policy/policy.js';
import { type Audit, auditByPieces } from '../../evaluation/audit/audit.js';
import {
  type AuditOptions,
  type AuditRequest,
  type Piece,
  toAuditRequest,
} from '../../evaluation/audit/audit-options.js';
import { PLANNED_TOGETHER } from '../../evaluation/audit/recordings.js';
import { neutralPlannerEpisodes, pushableComponents } from '../../evaluation/audit/searches.js';
import { decodeArrays, encodeArrays } from '../../shared/array-json.js';
import type { AuditJob } from './job.js';
import { partOf, type Shard } from './shard.js';

/** What an audit needs besides the job. */
export type AuditContext = Pick<AuditOptions, 'backend' | 'kernel' | 'threads' | 'onProgress' | 'signal'> & {
  /** The policies from files, by name. */
  readonly policies: Readonly<Record<string, PolicyLike>>;
};

/**
 * Computes every piece of a shard, and the searches `open-loop` and `neutral`, whose results other pieces need.
 * @returns the lines of the shard's file. @throws InputError `out_of_range` for more shards than pieces; as `audit`.
 */
export async function auditShard(job: AuditJob, shard: Shard, context: AuditContext): Promise<string[]> {
  const request = requestOf(job, context);
  // Throws an error if there are more shards than pieces.
  partOf(countPieces(request), shard, 'pieces of the audit');
  const lines: string[] = [];
  let index = 0;
  await auditByPieces({
    ...request,
    async piece<Result>({ name, compute, ifSkipped }: Piece<Result>): Promise<Result> {
      // The shards take the pieces in turn.
      const isOwn = index++ % shard.count === shard.index;
      if (!isOwn && ifSkipped !== null) return ifSkipped();
      const result = await compute();
      if (isOwn) lines.push(`${JSON.stringify({ piece: name, result: encodeArrays(result) })}\n`);
      return result;
    },
  });
  return lines;
}

/** Returns the audit of the whole job. @param lines of all shards. @throws Error for a missing piece. */
export async function mergeAudit(
  job: AuditJob,
  lines: readonly string[],
  context: Omit<AuditContext, 'policies'>,
): Promise<Audit> {
  const results = new Map<string, unknown>();
  for (const line of lines) {
    const { piece, result } = JSON.parse(line);
    results.set(piece, decodeArrays(result));
  }
  // Policies from files are never called, because their episodes are pieces.
  const stored = { open: () => Promise.reject(new Error('Expected no call of a policy in a merge.')) };
  const policies = Object.fromEntries(job.options.policies.map((name) => [name, stored]));
  return auditByPieces({
    ...requestOf(job, { ...context, policies }),
    async piece<Result>({ name }: Piece<Result>): Promise<Result> {
      if (results.has(name)) return results.get(name) as Result;
      throw new Error(
        `Expected the piece "${name}" in a shard, got none. Run the shards again, and merge them.`,
      );
    },
  });
}

/** Returns the number of pieces of a job, without those of policies from files. */
export const piecesOf = (job: AuditJob): number => countPieces(requestOf(job, { policies: {} }));

function countPieces(request: AuditRequest): number {
  const { weights, policies, plannerEpisodes } = request;
  const parts = (episodes: number): number => Math.ceil(episodes / PLANNED_TOGETHER);
  // Searches: open-loop, open-loop-honest, reactive, one for all single profiles together, one for discrete profiles, and two
  // for the neutral profile; then one for each component that has a weight and depends on actions.
  const searches = 7 + pushableComponents(weights).length;
  // Recordings: each policy; three planners for sampled profiles and one for discrete profiles; two for the neutral profile.
  return searches + policies.length + 4 * parts(plannerEpisodes) + 2 * parts(neutralPlannerEpisodes(request));
}

function requestOf({ grader, options }: AuditJob, context: AuditContext): AuditRequest {
  const { seed, evaluations, episodes, profiles, planner_episodes: plannerEpisodes } = options;
  return toAuditRequest({ ...context, grader, seed, evaluations, episodes, profiles, plannerEpisodes });
}
