/** Runs `rhythm-vec queue submit`. */
import { checkModelName } from '../../agents/llm/llm-player.js';
import { MODEL_PREFIX } from '../../evaluation/user-policy.js';
import { type Job, jobDigest } from '../../server/jobs/job.js';
import { submitJob } from '../../server/queue/submit.js';
import { checkName } from '../../shared/values.js';
import { DEFAULT_TEACHER, teacherNamed } from '../../training/teaching/planner-teacher.js';
import type { SeedRange } from '../../world/conditions.js';
import { PROFILE_CHOICES } from '../../world/resolve-names.js';
import { UsageError } from '../command-errors.js';
import { readGrader } from '../files/grader-file.js';
import { isPolicyFile } from '../files/policy-file.js';
import { checkLlmOptions, checkNoModelFlags, type ModelFlags, samplingOf } from '../llm/llm-options.js';
import { teachJob } from '../teach/teach-job.js';
import { addressOf, type QueueOptions, releaseHere } from './queue-options.js';
import { settingsOf } from './run-settings.js';

interface SubmitOptions extends QueueOptions {
  readonly shardSize: number;
  readonly priority: number;
}

export interface TeachSubmitOptions extends SubmitOptions, ModelFlags {
  readonly policy?: string;
  readonly seeds: SeedRange;
  readonly profiles: string;
  readonly grader: string;
}

const SHARD_SIZES = [8, 64] as const;
const PRIORITIES = [1, 1000] as const;
/** The digits of a job's digest in its name. */
const DIGITS = 12;

/** Submits what `teach` does. @throws UsageError; InputError for names; QueueError. */
export async function submitTeach(options: TeachSubmitOptions): Promise<void> {
  const { policy = DEFAULT_TEACHER, seeds, profiles } = options;
  checkName('profiles', profiles, PROFILE_CHOICES);
  const model = policy.startsWith(MODEL_PREFIX)
    ? { sampling: samplingOf(options), prices: options.prices ?? null }
    : null;
  if (model === null) checkPolicy(policy, options);
  else checkModelName(policy.slice(MODEL_PREFIX.length), `after ${MODEL_PREFIX}`);
  checkLlmOptions(options);
  const grader = await readGrader(options.grader);
  const job = teachJob(grader, { policy, policy_file: null, model, seeds, profiles });
  await submit(job, seeds.last - seeds.first + 1, options);
}

/** Checks a policy of this package. @throws UsageError; InputError for names. */
function checkPolicy(policy: string, options: ModelFlags): void {
  if (isPolicyFile(policy)) {
    throw new UsageError(
      `Expected a policy of this package or ${MODEL_PREFIX}MODEL, got the file ${policy}, which workers on other machines lack. ` +
        'Use "teach --shard" for policies of files.',
    );
  }
  teacherNamed(policy);
  checkNoModelFlags(policy, options);
}

async function submit(job: Job, episodes: number, options: SubmitOptions & ModelFlags): Promise<void> {
  const { shardSize, priority, budget } = options;
  checkRange('--shard-size', shardSize, ...SHARD_SIZES);
  checkRange('--priority', priority, ...PRIORITIES);
  const { kind } = job;
  const name = `${kind}-${jobDigest(job).slice(0, DIGITS)}`;
  const { before, retried } = await submitJob(
    addressOf(options),
    releaseHere(),
    {
      ...{ name, kind, episodes, priority, shards: Math.ceil(episodes / shardSize) },
      ...{ job: JSON.stringify(job), settings: JSON.stringify(settingsOf(options)) },
    },
    job.options.model === null ? undefined : (budget ?? null),
  );
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
