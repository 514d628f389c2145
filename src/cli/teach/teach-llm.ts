/** Runs `rhythm-vec teach --policy llm:MODEL`. A journal stores each paid episode, so that none is lost or requested twice. */

import { checkModelName, modelPlayer } from '../../agents/llm/llm-player.js';
import type { Grader } from '../../engine/graders/grader.js';
import { counted } from '../../evaluation/format-results.js';
import { MODEL_PREFIX } from '../../evaluation/user-policy.js';
import { checkName } from '../../shared/values.js';
import { keysOf, teachByModel } from '../../training/teaching/llm-teacher.js';
import type { SeedRange } from '../../world/conditions.js';
import { NUM_STEPS } from '../../world/fields.js';
import { PROFILE_CHOICES } from '../../world/resolve-names.js';
import { UsageError } from '../command-errors.js';
import { checkSameRun } from '../llm/check-same-run.js';
import { checkJournal, Journal, keptText } from '../llm/journal.js';
import {
  LLM_DEFAULTS,
  type ModelFlags,
  type OpenedModel,
  prepareModel,
  samplingOf,
} from '../llm/llm-options.js';
import { LlmSummary } from '../llm/summary.js';
import { createProgress } from '../progress.js';
import type { EngineOptions } from '../shared-options.js';

export interface LlmTeachOptions extends EngineOptions, ModelFlags {
  /** The model's name at its endpoint. */
  readonly model: string;
  readonly seeds: SeedRange;
  readonly profiles: string;
  readonly output: string;
}

/** Plays the missing episodes with a language model. @throws UsageError; InputError; EndpointError; BudgetError; the signal's reason. */
export async function teachByLlm(
  options: LlmTeachOptions,
  grader: Grader,
  signal: AbortSignal,
): Promise<void> {
  check(options);
  const { model: name } = options;
  const openModel = await prepareModel(name, options);
  const journal = await Journal.open({
    path: options.output,
    check: checkSameRun({ player: modelPlayer(name), grader, sampling: samplingOf(options) }),
  });
  try {
    const { spent, finished } = journal;
    const onSpend =
      options.prices === undefined ? undefined : (dollars: number) => journal.noteSpent(dollars);
    await play(options, grader, openModel({ spent, finished, onSpend }), journal, signal);
  } finally {
    await journal.close();
  }
}

/** Plays the missing episodes, and prints a summary even after an error. */
async function play(
  options: LlmTeachOptions,
  grader: Grader,
  { model, tally }: OpenedModel,
  journal: Journal,
  signal: AbortSignal,
): Promise<void> {
  const { seeds, profiles, output, concurrency = LLM_DEFAULTS.concurrency } = options;
  const keys = keysOf(seeds, profiles, model.name);
  const storedCount = (): number => keys.filter((key) => journal.has(key)).length;
  const before = storedCount();
  const summary = new LlmSummary(tally, model.ledger, journal.spent);
  const progress = createProgress('steps');
  let steps = before * NUM_STEPS;
  const onStep = (): void => progress.update(++steps, keys.length * NUM_STEPS, summary.money());
  try {
    const work = { ...options, model, grader, concurrency, signal, onStep };
    for await (const episode of teachByModel(work, (key) => journal.has(key))) {
      await journal.append(episode);
      summary.add(episode);
    }
    await journal.finish(keys);
    progress.stop();
    const earlier = before === 0 ? '' : `, ${before} of them from earlier runs`;
    process.stderr.write(`${counted(keys.length, 'episode')} in ${output}${earlier}.\n${summary.text()}`);
  } catch (error) {
    progress.stop();
    const kept = keptText(journal.partialPath, storedCount(), counted(keys.length, 'episode'));
    process.stderr.write(`${summary.text()}${kept}`);
    throw error;
  }
}

/** The maximum number of episodes. Their keys are kept in memory. */
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
