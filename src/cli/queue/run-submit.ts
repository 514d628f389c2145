/** Runs `rhythm-vec queue submit`. */
import { createHash } from 'node:crypto';
import { submitJob } from '../../server/queue/submit.js';
import { DEFAULT_TEACHER, teacherNamed } from '../../training/teaching/planner-teacher.js';
import type { SeedRange } from '../../world/conditions.js';
import { UsageError } from '../command-errors.js';
import { readGrader } from '../files/grader-file.js';
import { addressOf, type QueueOptions, releaseHere } from './queue-options.js';

interface SubmitOptions extends QueueOptions {
  readonly shardSize: number;
  readonly priority: number;
}

export interface TeachSubmitOptions extends SubmitOptions {
  readonly policy?: string;
  readonly seeds: SeedRange;
  readonly profiles: string;
  readonly grader: string;
}

const SHARD_SIZES = [8, 64] as const;
const PRIORITIES = [1, 1000] as const;

export async function submitTeach(options: TeachSubmitOptions): Promise<void> {
  checkRange('--shard-size', options.shardSize, ...SHARD_SIZES);
  checkRange('--priority', options.priority, ...PRIORITIES);
  const { policy = DEFAULT_TEACHER, seeds, profiles } = options;
  teacherNamed(policy);
  const grader = await readGrader(options.grader);
  const release = releaseHere();
  const job = JSON.stringify({ kind: 'teach', ...release, policy, grader, profiles, seeds });
  const digest = createHash('sha256').update(job).digest('hex');
  const episodes = seeds.last - seeds.first + 1;
  const name = `teach-${digest.slice(0, 12)}`;
  const record = { name, job, kind: 'teach', episodes, priority: options.priority };
  const shards = Math.ceil(episodes / options.shardSize);
  const { before, retried } = await submitJob(addressOf(options), release, { ...record, shards });
  if (before === 'open') {
    process.stderr.write(
      `The job was submitted before. ${retried === 0 ? 'Nothing changes.' : `${retried} failed shards are tried again.`}\n`,
    );
  }
  process.stdout.write(`${name}\n`);
}

function checkRange(option: string, value: number, low: number, high: number): void {
  if (value >= low && value <= high) return;
  throw new UsageError(`Expected ${option} from ${low} to ${high}, got ${value}. Pass another.`);
}
