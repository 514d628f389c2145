/** Checks that a shard has the rows of its part of the job. */

import { counted } from '../../evaluation/format-results.js';
import type { CompactEpisode } from '../../rollouts/trajectories/compact-episode.js';
import { teacherName } from '../../rollouts/trajectories/trajectory-episode.js';
import { type Condition, CUSTOM } from '../../world/conditions.js';
import { piecesOf } from './audit-shards.js';
import type { AuditJob, DatasetJob, EpisodeJob, RunnableJob } from './job.js';
import { partOf, type Shard, seedsOf } from './shard.js';
import { shardConditions } from './shard-conditions.js';

/** The fields that name an episode. */
type EpisodeName = Pick<
  CompactEpisode,
  'version' | 'world_digest' | 'teacher' | 'model' | 'condition' | 'profile_mode' | 'seed'
>;

/** The rows of a shard: episodes of a job of `teach` or `eval`, or the number of lines of a job of another kind. */
export type ShardRows = { readonly episodes: readonly EpisodeName[] } | { readonly lines: number };

/** Returns what is wrong with a shard's rows, such as "8 episodes, got 7"; null if nothing is. Lines are only counted. */
export function rowsProblem(job: RunnableJob, shard: Shard, rows: ShardRows): string | null {
  if (job.kind === 'teach' || job.kind === 'eval') {
    return 'episodes' in rows ? episodesProblem(job, shard, rows.episodes) : 'episodes, got other lines';
  }
  const expected = countLines(job, shard);
  const lines = 'lines' in rows ? rows.lines : rows.episodes.length;
  return lines === expected ? null : `${expected} lines, got ${lines}`;
}

function episodesProblem(job: EpisodeJob, shard: Shard, episodes: readonly EpisodeName[]): string | null {
  const keys = new Set(seedKeys(conditionsOf(job, shard)));
  const players = job.kind === 'teach' ? 1 : job.options.policies.length;
  const expected = keys.size * players;
  if (episodes.length !== expected) return `${expected} episodes, got ${episodes.length}`;
  const seen = new Set<string>();
  const names = new Set<string>();
  for (const episode of episodes) {
    const { version, world_digest, condition, profile_mode, seed } = episode;
    if (version !== job.version || world_digest !== job.world_digest) {
      return `episodes of version ${job.version}, world ${job.world_digest.slice(0, 12)}, got one of version ${version}, world ${world_digest.slice(0, 12)}`;
    }
    const key = keyOf(condition, profile_mode, seed);
    const name = teacherName(episode);
    names.add(name);
    if (!keys.has(key)) return `its own episodes, got one of ${key}`;
    if (seen.has(`${name} ${key}`)) return `each episode once, got two of ${name}, ${key}`;
    seen.add(`${name} ${key}`);
  }
  return names.size === players
    ? null
    : `episodes of ${counted(players, 'player')}, got ${[...names].join(', ')}`;
}

const keyOf = (condition: string, profile: string, seed: number): string =>
  `condition ${condition}, profile ${profile}, seed ${seed}`;

type Parts = Pick<Condition, 'name' | 'parts'>;

function* seedKeys(conditions: readonly Parts[]): Generator<string> {
  for (const { name, parts } of conditions) {
    for (const { profile, seeds } of parts) {
      for (let seed = seeds.first; seed <= seeds.last; seed++) yield keyOf(name, profile, seed);
    }
  }
}

function conditionsOf(job: EpisodeJob, shard: Shard): Parts[] {
  if (job.kind === 'eval') return shardConditions(job.options.conditions, shard);
  const { profiles: profile, seeds } = job.options;
  return [{ name: CUSTOM, parts: [{ profile, seeds: seedsOf(seeds, shard) }] }];
}

function countLines(job: AuditJob | DatasetJob, shard: Shard): number {
  // Shard i of n has the pieces (audit-shards.ts) i, i + n, i + 2n and so on.
  if (job.kind === 'audit') return Math.ceil((piecesOf(job) - shard.index) / shard.count);
  const { first, end } = partOf(job.options.rows, shard, 'rows');
  return end - first;
}
