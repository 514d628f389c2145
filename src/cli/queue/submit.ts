/** `rhythm-vec queue submit`: stores a command as a job. */
import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import type { Command } from 'commander';
import { checkModelName } from '../../agents/llm/language-model.js';
import type { Grader } from '../../engine/graders/grader.js';
import { playersOf } from '../../evaluation/choose-policies.js';
import { counted } from '../../evaluation/format-results.js';
import { MODEL_PREFIX } from '../../evaluation/user-policy.js';
import type { JobRecord } from '../../server/queue/jobs.js';
import type { ModelLimits } from '../../server/queue/model-limits.js';
import { type Submission, submitJob } from '../../server/queue/shards.js';
import { checkName } from '../../shared/values.js';
import { type DatasetOptions, toPlan } from '../../training/datasets/state-sampler.js';
import { DEFAULT_TEACHER, teacherNamed } from '../../training/teaching/policy-teacher.js';
import { type ConditionOptions, episodesOf, selectConditions } from '../../world/conditions.js';
import { GRADER_NAMES } from '../../world/fields.js';
import { PROFILE_CHOICES } from '../../world/resolve-names.js';
import { UsageError } from '../command-errors.js';
import { readGrader } from '../files/grader-file.js';
import { isPolicyFile, readPolicies } from '../files/policy-file.js';
import {
  addLlmOptions,
  checkLlmOptions,
  checkNoModelFlags,
  LLM_FLAGS,
  type ModelFlags,
} from '../llm/llm-options.js';
import { checkModels, modelsIn } from '../llm/models.js';
import { canonicalJson } from '../shards/job.js';
import { shardConditions } from '../shards/shard.js';
import { parseInteger } from '../shared-options.js';
import { addQueueOptions, checkRange, type QueueOptions, releaseHere, withQueue } from './queue-options.js';
import { type JobOptions, SETTINGS, SHARDED, textsOf } from './sharded.js';

/** The options of `queue submit`, and those of its command: of teach, or of eval. Those of a dataset are DatasetOptions. */
export interface SubmitOptions extends QueueOptions, ModelFlags, ConditionOptions {
  readonly grader: string;
  readonly shardSize: number;
  readonly priority: number;
  readonly requestsPerMinute?: number;
  readonly again?: boolean;
  readonly policy?: string;
  readonly policies?: readonly string[];
}

/** The minimum and maximum of --priority and of --requests-per-minute, chosen by hand. */
const PRIORITIES = [1, 1000] as const;
const RATES = [1, 100_000] as const;
/** The number of digits of a job's digest in the job's name: 48 bits, so that different jobs hardly ever share a name. */
const DIGITS = 12;

/** Adds the options of a submission to those of the submitted command. @param name a name of SHARDED. */
export function defineSubmit(command: Command, name: string): void {
  const { options, unit, least, most, defaultSize } = SHARDED[name];
  if (options.includes('prices')) {
    addLlmOptions(command).option(
      '--requests-per-minute <n>',
      'requests to a language model in any 60 seconds, of all workers together (default: no limit)',
      parseInteger,
    );
  }
  addQueueOptions(command)
    .option('--shard-size <n>', `${unit} of a shard, ${least} to ${most}`, parseInteger, defaultSize)
    .option('--priority <n>', '1 to 1000; jobs with a lower number go first', parseInteger, 100)
    .option(
      '--again',
      'pay again for the answers of a language model whose job was collected, because its file was lost',
    )
    .addHelpText('after', `\n"rhythm-vec ${name} --help" describes the choices, such as policies.\n`)
    .action((given: SubmitOptions) => runSubmit(name, given));
}

/** Submits a job and prints its name. @param command a name of SHARDED. */
async function runSubmit(command: string, options: SubmitOptions): Promise<void> {
  const { shardSize, priority, again } = options;
  const { least, most, options: names } = SHARDED[command];
  const grader = await readGrader(options.grader);
  const { units, rows, isModel } = await checkJob(command, options, grader);
  checkRange('--shard-size', shardSize, least, most);
  checkRange('--priority', priority, ...PRIORITIES);
  checkStoredUrl(options.baseUrl);
  const limits = limitsOf(options, isModel);
  const isFile = !GRADER_NAMES.includes(options.grader);
  const graderFile = isFile ? JSON.stringify(grader) : null;
  const texts = textsOf({ ...options, grader: basename(options.grader) }, names);
  const release = releaseHere();
  const job = canonicalJson({ texts, graderFile } satisfies JobOptions);
  const digest = createHash('sha256')
    .update(canonicalJson({ ...release, command, job }))
    .digest('hex');
  const record: JobRecord = {
    ...release,
    command,
    priority,
    rows,
    name: `${command.split(' ')[0]}-${digest.slice(0, DIGITS)}`,
    shards: Math.ceil(units / shardSize),
    options: job,
    settings: JSON.stringify(textsOf(options, SETTINGS)),
  };
  const submission = await withQueue(options, (queue) => submitJob(queue, record, { limits, again }));
  if (submission.before?.state === 'open') process.stderr.write(`${changesIn(submission, record)}\n`);
  process.stdout.write(`${record.name}\n`);
}

/** What is known of a job before it runs. */
interface JobSize {
  /** The number of units that are divided among shards: episodes of each policy, or rows. */
  readonly units: number;
  readonly rows: number;
  readonly isModel: boolean;
}

/** Checks the options of a command as the command does. @throws UsageError; InputError. */
function checkJob(command: string, options: SubmitOptions, grader: Grader): JobSize | Promise<JobSize> {
  checkLlmOptions(options);
  if (command === 'teach') return checkTeach(options);
  if (command === 'eval') return checkEval(options);
  const { rows } = toPlan({ ...(options as unknown as DatasetOptions), grader });
  return { units: rows, rows, isModel: false };
}

function checkTeach(options: SubmitOptions): JobSize {
  const { policy = DEFAULT_TEACHER, seeds, profiles } = options;
  checkName('profiles', profiles, PROFILE_CHOICES);
  checkNoFile(policy);
  const isModel = policy.startsWith(MODEL_PREFIX);
  if (isModel) checkModelName(policy.slice(MODEL_PREFIX.length), `after ${MODEL_PREFIX}`);
  else {
    teacherNamed(policy);
    checkNoModelFlags(policy, options);
  }
  const episodes = seeds!.last - seeds!.first + 1;
  return { units: episodes, rows: episodes, isModel };
}

async function checkEval(options: SubmitOptions): Promise<JobSize> {
  const { policies, shardSize } = options;
  for (const policy of policies ?? []) checkNoFile(policy);
  const models = modelsIn(policies);
  checkModels(models, options);
  if (models.length > 1) {
    throw new UsageError(
      `Expected at most one language model in a job, got ${models.join(' and ')}. Submit a job for each.`,
    );
  }
  const players = playersOf(await readPolicies(policies));
  const conditions = selectConditions(options);
  const episodes = conditions.reduce((sum, condition) => sum + episodesOf(condition), 0);
  // Refuses more shards than distinct episodes.
  shardConditions(conditions, { index: 0, count: Math.ceil(episodes / shardSize) });
  return { units: episodes, rows: episodes * players.length, isModel: models.length > 0 };
}

/** Refuses the path of a policy's file. @throws UsageError. */
function checkNoFile(policy: string): void {
  if (!isPolicyFile(policy)) return;
  throw new UsageError(
    `Expected a policy of this package or ${MODEL_PREFIX}MODEL, got the file ${policy}, which workers on other machines lack. ` +
      'Use --shard of the command itself.',
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

/** Returns the limits of a language model's job; undefined for other jobs. @throws UsageError. */
function limitsOf({ budget, requestsPerMinute }: SubmitOptions, isModel: boolean): ModelLimits | undefined {
  if (isModel) {
    if (requestsPerMinute !== undefined) checkRange('--requests-per-minute', requestsPerMinute, ...RATES);
    return { budget: budget ?? null, requestsPerMinute: requestsPerMinute ?? null };
  }
  if (requestsPerMinute === undefined) return undefined;
  throw new UsageError(
    `Expected --requests-per-minute with a language model (${MODEL_PREFIX}MODEL), got a job without one. Leave it out.`,
  );
}

/** Describes what a submission changed in a job that was open. */
function changesIn({ before, job, retried }: Submission, given: JobRecord): string {
  const [old, now] = [before!.settings, given.settings].map(
    (text) => JSON.parse(text) as Record<string, string>,
  );
  const settings = SETTINGS.filter((name) => old[name] !== now[name]).map(
    (name) => `${LLM_FLAGS[name]} ${now[name] ?? '(the default)'} instead of ${old[name] ?? '(the default)'}`,
  );
  const changes = [
    ...(settings.length === 0 ? [] : [`Its next shards run with ${settings.join(', ')}.`]),
    ...(retried === 0 ? [] : [`${counted(retried, 'failed shard')} will be tried again.`]),
    ...(job.shards === given.shards && job.priority === given.priority
      ? []
      : [`It keeps its ${counted(job.shards, 'shard')} and priority ${job.priority}.`]),
  ];
  return `The job was submitted before. ${changes.length === 0 ? 'Nothing changes.' : changes.join(' ')}`;
}
