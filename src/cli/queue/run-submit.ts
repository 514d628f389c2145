/** Runs `rhythm-vec queue submit`. */
import { basename } from 'node:path';
import { checkModelName } from '../../agents/llm/language-model.js';
import { playersOf } from '../../evaluation/choose-policies.js';
import { counted } from '../../evaluation/format-results.js';
import { MODEL_PREFIX } from '../../evaluation/user-policy.js';
import { piecesOf } from '../../server/jobs/audit-shards.js';
import { jobDigest, type RunnableJob } from '../../server/jobs/job.js';
import { shardConditions } from '../../server/jobs/shard-conditions.js';
import type { JobRecord } from '../../server/queue/job-store.js';
import type { SharedLimits } from '../../server/queue/shared-ledger.js';
import { type Submission, submitJob } from '../../server/queue/submit.js';
import { checkName } from '../../shared/values.js';
import { type DatasetOptions, toPlan } from '../../training/datasets/state-sampler.js';
import { DEFAULT_TEACHER, teacherNamed } from '../../training/teaching/policy-teacher.js';
import { type ConditionOptions, episodesOf, type SeedRange } from '../../world/conditions.js';
import { PROFILE_CHOICES } from '../../world/resolve-names.js';
import { type AuditJobOptions, auditJob } from '../audit/audit-shard.js';
import { UsageError } from '../command-errors.js';
import { grpoJob } from '../dataset/grpo-shard.js';
import { evalJob } from '../eval/eval-shard.js';
import { checkModels, modelsIn } from '../eval/models.js';
import { readGrader } from '../files/grader-file.js';
import { isPolicyFile, readPolicies } from '../files/policy-file.js';
import { checkLlmOptions, checkNoModelFlags, type ModelFlags, samplingOf } from '../llm/llm-options.js';
import { teachJob } from '../teach/teach-job.js';
import { addressOf, type QueueOptions, releaseHere } from './queue-options.js';
import { changedSettings, settingsOf } from './run-settings.js';
import { SHARD_SIZES } from './shard-sizes.js';

interface SubmitOptions extends QueueOptions {
  readonly shardSize: number;
  readonly priority: number;
  readonly requestsPerMinute?: number;
  readonly again?: boolean;
}

export interface TeachSubmitOptions extends SubmitOptions, ModelFlags {
  readonly policy?: string;
  readonly seeds: SeedRange;
  readonly profiles: string;
  readonly grader: string;
}

export interface EvalSubmitOptions extends SubmitOptions, ModelFlags, ConditionOptions {
  readonly policies?: readonly string[];
  readonly grader: string;
}

export interface GrpoSubmitOptions extends SubmitOptions, Omit<DatasetOptions, 'grader'> {
  readonly grader: string;
}

export interface AuditSubmitOptions
  extends SubmitOptions,
    Omit<AuditJobOptions, 'grader' | 'paths' | 'policies'> {
  readonly grader: string;
}

/** The minimum and maximum of --priority, chosen by hand. */
const PRIORITIES = [1, 1000] as const;
/** The minimum and maximum of --requests-per-minute. The maximum is chosen by hand. */
const RATES = [1, 100_000] as const;
/** The number of digits of a job's digest in the job's name: 48 bits, so that different jobs hardly ever share a name. */
const DIGITS = 12;

/** Submits a job that does what `teach` does. */
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
  await submit(job, seeds.last - seeds.first + 1, 1, options);
}

/** Submits a job that does what `eval --trajectories` does. */
export async function submitEval(options: EvalSubmitOptions): Promise<void> {
  const { policies } = options;
  for (const policy of policies ?? []) checkNoFile(policy);
  const models = modelsIn(policies);
  checkModels(models, options);
  if (models.length > 1) {
    throw new UsageError(
      `Expected at most one language model in a job, got ${models.join(' and ')}. Submit a job for each.`,
    );
  }
  checkLlmOptions(options);
  const grader = await readGrader(options.grader);
  const players = playersOf(await readPolicies(policies));
  // A job of the queue stores trajectories. Their path is not part of the job.
  const job = evalJob({ ...options, trajectories: '-' }, players, grader);
  const { conditions } = job.options;
  const episodes = conditions.reduce((sum, condition) => sum + episodesOf(condition), 0);
  // Refuses more shards than distinct episodes.
  shardConditions(conditions, { index: 0, count: Math.ceil(episodes / options.shardSize) });
  await submit(job, episodes, players.length, options);
}

/** Submits a job that does what `dataset grpo` does. */
export async function submitGrpo(options: GrpoSubmitOptions): Promise<void> {
  const plan = toPlan({ ...options, grader: await readGrader(options.grader) });
  await submit(grpoJob(plan, basename(options.grader)), plan.rows, 1, options);
}

/** Submits a job that does what `audit` does. */
export async function submitAudit(options: AuditSubmitOptions): Promise<void> {
  const job = auditJob({ ...options, policies: {}, grader: await readGrader(options.grader) });
  await submit(job, piecesOf(job), 1, options);
}

/** Refuses unknown policies, files, and options of language models. */
function checkPolicy(policy: string, options: ModelFlags): void {
  checkNoFile(policy);
  teacherNamed(policy);
  checkNoModelFlags(policy, options);
}

/** Refuses the path of a policy's file. @throws UsageError. */
function checkNoFile(policy: string): void {
  if (!isPolicyFile(policy)) return;
  throw new UsageError(
    `Expected a policy of this package or ${MODEL_PREFIX}MODEL, got the file ${policy}, which workers on other machines lack. ` +
      'Use --shard of the command itself.',
  );
}

/**
 * Submits a job and prints its name.
 * @param units the number of units that are divided among shards: episodes of each policy, rows, or pieces of an audit
 *   (audit-shards.ts).
 * @param rowsOfUnit the number of rows of the result for each unit.
 */
async function submit(
  job: RunnableJob,
  units: number,
  rowsOfUnit: number,
  options: SubmitOptions & ModelFlags,
): Promise<void> {
  const { shardSize, priority } = options;
  const { kind } = job;
  const { least, most } = SHARD_SIZES[kind];
  checkRange('--shard-size', shardSize, least, most);
  checkRange('--priority', priority, ...PRIORITIES);
  const name = `${kind}-${jobDigest(job).slice(0, DIGITS)}`;
  checkStoredUrl(options.baseUrl);
  const record: JobRecord = {
    name,
    kind,
    priority,
    rows: units * rowsOfUnit,
    shards: Math.ceil(units / shardSize),
    job: JSON.stringify(job),
    settings: JSON.stringify(settingsOf(options)),
  };
  const submission = await submitJob(addressOf(options), releaseHere(), record, {
    limits: limitsOf(job, options),
    again: options.again,
  });
  if (submission.before.state === 'open') process.stderr.write(`${changesIn(submission, record)}\n`);
  process.stdout.write(`${name}\n`);
}

/** Describes what a submission changed in a job that was open. */
function changesIn({ before, job, retried, forgotten }: Submission, given: JobRecord): string {
  const settings = changedSettings(before.settings ?? '{}', given.settings);
  const changes = [
    ...(settings === '' ? [] : [`Its next shards run with ${settings}.`]),
    ...(retried === 0 ? [] : [`${counted(retried, 'failed shard')} will be tried again.`]),
    ...(forgotten === 0 ? [] : [`${counted(forgotten, 'collected shard')} will be computed again.`]),
    ...(job.shards === given.shards && job.priority === given.priority
      ? []
      : [`It keeps its ${counted(job.shards, 'shard')} and priority ${job.priority}.`]),
  ];
  return ['The job was submitted before.', ...(changes.length === 0 ? ['Nothing changes.'] : changes)].join(
    ' ',
  );
}

/** Refuses an endpoint's URL that may contain a key, because Redis stores the URL. @throws UsageError. */
function checkStoredUrl(text: string | undefined): void {
  if (text === undefined) return;
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url !== null && /^https?:$/.test(url.protocol) && url.href === `${url.origin}${url.pathname}`) return;
  throw new UsageError(
    'Expected --base-url to be an http or https URL with only a host and a path, got another text. Redis stores it, so it must not contain a key. ' +
      'Set OPENAI_BASE_URL in the environment of the workers instead.',
  );
}

/**
 * Returns the limits of a language model's job; undefined for other jobs.
 * @throws UsageError for --requests-per-minute out of range, or without a language model.
 */
function limitsOf(job: RunnableJob, options: SubmitOptions & ModelFlags): SharedLimits | undefined {
  const { budget = null, requestsPerMinute = null } = options;
  if ('model' in job.options && job.options.model !== null) {
    if (requestsPerMinute !== null) checkRange('--requests-per-minute', requestsPerMinute, ...RATES);
    return { budget, requestsPerMinute };
  }
  if (requestsPerMinute === null) return undefined;
  throw new UsageError(
    `Expected --requests-per-minute with a language model (${MODEL_PREFIX}MODEL), got a job without one. Leave it out.`,
  );
}

function checkRange(option: string, value: number, low: number, high: number): void {
  if (value >= low && value <= high) return;
  throw new UsageError(
    `Expected ${option} to be from ${low} to ${high}, got ${value}. Pass a number in that range.`,
  );
}
