/** `rhythm-vec teach --teacher llm`: weeks that are paid for, so that none is lost and none asked for twice. */

import type { SeedRange } from '../../conditions.js';
import { counted } from '../../evaluate/figures.js';
import type { Grader } from '../../graders/grader.js';
import { checkModelName, modelPlayer } from '../../llm/player.js';
import { keysOf, teachByModel } from '../../teach/llm.js';
import { checkName } from '../../validate/values.js';
import { NUM_STEPS } from '../../world/fields.js';
import { PERSON_NAMES } from '../../world/resolve.js';
import { UsageError } from '../failure.js';
import { checkJournal, Journal, keptText } from '../llm/journal.js';
import { LLM_DEFAULTS, type ModelFlags, type OpenedModel, prepareModel, samplingOf } from '../llm/options.js';
import { sameRun } from '../llm/same-run.js';
import { LlmSummary } from '../llm/summary.js';
import type { EngineOptions } from '../options.js';
import { createProgress } from '../progress.js';

export interface LlmTeachOptions extends EngineOptions, ModelFlags {
  readonly model?: string;
  readonly seeds: SeedRange;
  readonly profiles: string;
  readonly output: string;
}

/** @throws UsageError; InputError; EndpointError; BudgetError; the signal's reason. */
export async function teachByLlm(
  options: LlmTeachOptions,
  grader: Grader,
  signal: AbortSignal,
): Promise<void> {
  const name = check(options);
  const openModel = await prepareModel(name, options);
  const journal = await Journal.open({
    path: options.output,
    check: sameRun({ player: modelPlayer(name), grader, sampling: samplingOf(options) }),
  });
  try {
    const { spent, finished } = journal;
    const onSpend = options.prices === undefined ? undefined : (most: number) => journal.noteSpent(most);
    await play(options, grader, openModel({ spent, finished, onSpend }), journal, signal);
  } finally {
    await journal.close();
  }
}

/** Plays what is missing, and says what it took, however it ends. */
async function play(
  options: LlmTeachOptions,
  grader: Grader,
  { model, tally }: OpenedModel,
  journal: Journal,
  signal: AbortSignal,
): Promise<void> {
  const { seeds, profiles, output, concurrency = LLM_DEFAULTS.concurrency } = options;
  const keys = keysOf(seeds, profiles, model.name);
  const there = (): number => keys.filter((key) => journal.has(key)).length;
  const before = there();
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
    const earlier = before === 0 ? '' : `, ${before} of them there before`;
    process.stderr.write(`${counted(keys.length, 'episode')} in ${output}${earlier}.\n${summary.text()}`);
  } catch (error) {
    progress.stop();
    const kept = keptText(journal.partialPath, there(), counted(keys.length, 'episode'));
    process.stderr.write(`${summary.text()}${kept}`);
    throw error;
  }
}

/** Nobody pays for more, and what is there of them is known by heart. */
const MAX_WEEKS = 1_000_000;

function check({ model, output, ...options }: LlmTeachOptions): string {
  const { first, last } = options.seeds;
  if (last - first >= MAX_WEEKS) {
    throw new UsageError(
      `Expected at most ${MAX_WEEKS} weeks of --seeds, got ${last - first + 1}. Pass fewer, and the others afterwards.`,
    );
  }
  checkName('profiles', options.profiles, PERSON_NAMES);
  if (model === undefined || model === '') {
    throw new UsageError(
      'Expected --model with --teacher llm, got none. Pass the name by which the endpoint knows it.',
    );
  }
  checkModelName(model, 'for --model');
  checkJournal('--output', output, '--teacher llm');
  return model;
}
