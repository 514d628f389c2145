/** Runs `rhythm-vec teach --policy llm:MODEL`. A journal stores each paid episode, so that none is lost or requested twice. */

import { type AnswerLog, checkModelName, modelPlayer } from '../../agents/llm/language-model.js';
import type { Grader } from '../../engine/graders/grader.js';
import { counted } from '../../evaluation/format-results.js';
import { MODEL_PREFIX } from '../../evaluation/user-policy.js';
import type { RowFormat } from '../../shared/row-files/file-formats.js';
import { checkName } from '../../shared/values.js';
import { keysOf, teachByModel } from '../../training/teaching/policy-teacher.js';
import type { SeedRange } from '../../world/conditions.js';
import { NUM_STEPS } from '../../world/fields.js';
import { PROFILE_CHOICES } from '../../world/resolve-names.js';
import { UsageError } from '../command-errors.js';
import type { Context } from '../context.js';
import { checkSameRun } from '../llm/check-same-run.js';
import { checkJournal, Journal, keptText } from '../llm/journal.js';
import {
  LLM_DEFAULTS,
  type ModelFlags,
  type OpenedModel,
  prepareModel,
  samplingOf,
} from '../llm/llm-options.js';
import { LlmSummary } from '../llm/models.js';
import { createProgress } from '../progress.js';
import type { TeachJob } from '../shards/job.js';
import { type Shard, seedsOf, WHOLE } from '../shards/shard.js';
import { beginShard, endShard } from '../shards/shard-file.js';
import type { EngineOptions } from '../shared-options.js';
import { teachJob, teachShard } from './teach-job.js';

export interface LlmTeachOptions extends EngineOptions, ModelFlags {
  /** The model's name at its endpoint. */
  readonly model: string;
  readonly seeds: SeedRange;
  readonly profiles: string;
  readonly output: string;
  readonly shard?: Shard;
}

/** With a language model, plays the episodes that the journal lacks, and writes the file. */
export async function teachByLlm(
  options: LlmTeachOptions,
  grader: Grader,
  format: RowFormat,
  { signal, model: shared }: Context,
): Promise<void> {
  check(options);
  const { model: name, shard } = options;
  const job = jobOf(options, grader);
  const file = teachShard(job, shard ?? WHOLE, options.output);
  const openModel = await prepareModel(name, options);
  const isComplete = shard !== undefined && (await beginShard(file));
  if (isComplete) return;
  const journal = await Journal.open({
    path: options.output,
    format,
    grader,
    sampling: samplingOf(options),
    check: checkSameRun({ player: modelPlayer(name), grader, sampling: samplingOf(options) }),
  });
  try {
    const { spent, finished } = journal;
    const onSpend =
      options.prices === undefined ? undefined : (dollars: number) => journal.noteSpent(dollars);
    const answers = (await shared?.answers()) ?? journal.answers;
    await play(
      options,
      grader,
      openModel({ spent, finished, onSpend }, shared),
      { journal, answers },
      signal,
    );
  } finally {
    await journal.close();
  }
  if (shard !== undefined) await endShard(file);
}

const jobOf = ({ model, seeds, profiles, ...flags }: LlmTeachOptions, grader: Grader): TeachJob =>
  teachJob(grader, {
    policy: `${MODEL_PREFIX}${model}`,
    policy_file: null,
    seeds,
    profiles,
    model: { sampling: samplingOf(flags), prices: flags.prices ?? null },
  });

/** Plays the missing episodes, and prints a summary even after an error. */
async function play(
  options: LlmTeachOptions,
  grader: Grader,
  { model, tally }: OpenedModel,
  { journal, answers }: { readonly journal: Journal; readonly answers: AnswerLog },
  signal: AbortSignal,
): Promise<void> {
  const { profiles, output, shard, concurrency = LLM_DEFAULTS.concurrency } = options;
  const keys = keysOf(seedsOf(options.seeds, shard ?? WHOLE), profiles, model.name);
  const has = (key: string): boolean => journal.has(key);
  const storedCount = (): number => keys.filter(has).length;
  const before = storedCount();
  if (shard !== undefined) checkOwnEpisodes(journal.size - before, output);
  const summary = new LlmSummary(tally, model.ledger, journal.spent);
  const progress = createProgress('steps');
  let steps = before * NUM_STEPS;
  const onStep = (): void => progress.update(++steps, keys.length * NUM_STEPS, summary.spentText());
  try {
    const { backend, kernel, threads } = options;
    const seeds = seedsOf(options.seeds, shard ?? WHOLE);
    const work = {
      model,
      grader,
      seeds,
      profiles,
      concurrency,
      answers,
      backend,
      kernel,
      threads,
      signal,
      onStep,
    };
    for await (const episode of teachByModel(work, has)) {
      await journal.append(episode);
      summary.add(episode);
    }
    await journal.finish(keys);
    await journal.commit();
    progress.stop();
    const earlier = before === 0 ? '' : `, ${before} of them from earlier runs`;
    process.stderr.write(`${counted(keys.length, 'episode')} in ${output}${earlier}.\n${summary.text()}`);
  } catch (error) {
    progress.stop();
    const kept = keptText(
      journal.partialPath,
      storedCount(),
      counted(keys.length, 'episode'),
      journal.answers.size > 0,
    );
    process.stderr.write(`${summary.text()}${kept}`);
    throw error;
  }
}

/** Refuses a file that also has episodes of other seeds, because the merged file would have them twice. @throws UsageError. */
function checkOwnEpisodes(others: number, path: string): void {
  if (others === 0) return;
  throw new UsageError(
    `Expected ${path} to hold episodes of this shard alone, got ${counted(others, 'other episode')}. Pass another --output.`,
  );
}

/** The maximum number of episodes. Chosen by hand, because their keys are kept in memory. */
const MAX_EPISODES = 1_000_000;

function check({ model, output, ...options }: LlmTeachOptions): void {
  const { first, last } = options.seeds;
  if (last - first >= MAX_EPISODES) {
    throw new UsageError(
      `Expected at most ${MAX_EPISODES} episodes of --seeds, got ${last - first + 1}. Split the seeds over several runs.`,
    );
  }
  checkName('profiles', options.profiles, PROFILE_CHOICES);
  checkModelName(model, `after ${MODEL_PREFIX}`);
  checkJournal('--output', output, `--policy ${MODEL_PREFIX}${model}`);
}
