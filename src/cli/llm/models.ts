/**
 * Language models of a command: checks of their options, clients and spending, and a summary of their requests, tokens, cost
 * and answers.
 */

import { type CostLedger, dollars, type UsageTally } from '../../agents/llm/ledger.js';
import type { LlmOptions } from '../../evaluation/evaluate-options.js';
import { grouped } from '../../evaluation/format-results.js';
import { MODEL_PREFIX } from '../../evaluation/user-policy.js';
import type { TrajectoryEpisode } from '../../rollouts/trajectories/trajectory-episode.js';
import { UsageError } from '../command-errors.js';
import type { SharedModel } from '../context.js';
import {
  LLM_DEFAULTS,
  LLM_FLAGS,
  type ModelFlags,
  type OpenedModel,
  prepareModel,
  type Spending,
} from './llm-options.js';

/** Returns the models that policies name, each once. */
export const modelsIn = (policies: readonly string[] = []): string[] =>
  [...new Set(policies)]
    .filter((name) => name.startsWith(MODEL_PREFIX))
    .map((name) => name.slice(MODEL_PREFIX.length));

/** Checks the options of language models: they need a model, and --prices needs a single one. @throws UsageError. */
export function checkModels(names: readonly string[], options: ModelFlags): void {
  const flag = Object.entries(LLM_FLAGS).find(([name]) => options[name as keyof ModelFlags] !== undefined);
  if (names.length === 0 && flag !== undefined) {
    throw new UsageError(
      `Expected a language model for ${flag[1]}, got none. Omit the option, or pass --policies ${MODEL_PREFIX}MODEL.`,
    );
  }
  if (names.length < 2 || options.prices === undefined) return;
  throw new UsageError(
    `Expected one language model with --prices, because prices are per model, got ${names.join(' and ')}. ` +
      'Evaluate them one by one.',
  );
}

type Opener = (spending?: Spending, shared?: SharedModel) => OpenedModel;

/**
 * Checks everything that can be checked before the first request.
 * @returns for each model a function that opens it.
 */
export function prepareModels(names: readonly string[], options: ModelFlags): Promise<Opener[]> {
  return Promise.all(names.map((name) => prepareModel(name, options)));
}

/** The models of an evaluation and the summaries of their answers. */
export class EvalModels {
  readonly #opened: readonly { readonly opened: OpenedModel; readonly summary: LlmSummary }[];
  readonly #concurrency: number;

  /**
   * @param spending what earlier runs spent, the episodes that they finished, and the callback `onSpend`: see `LedgerOptions`.
   * @param shared what the models share with other processes.
   */
  constructor(
    openers: readonly Opener[],
    { onSpend, ...before }: Spending,
    { concurrency, prices }: ModelFlags,
    shared?: SharedModel,
  ) {
    this.#concurrency = concurrency ?? LLM_DEFAULTS.concurrency;
    // Without prices there is no amount to record.
    const spending = prices === undefined ? before : { ...before, onSpend };
    this.#opened = openers.map((open) => {
      const opened = open(spending, shared);
      const { model, tally } = opened;
      return { opened, summary: new LlmSummary(tally, model.ledger, spending.spent ?? 0) };
    });
  }

  /** Returns the `llm` options of `evaluate`. @param stored the stored episodes and answers. */
  llmOptions(stored: Pick<LlmOptions, 'played' | 'answers'>): LlmOptions {
    return {
      models: this.#opened.map(({ opened }) => opened.model),
      concurrency: this.#concurrency,
      played: stored.played,
      answers: stored.answers,
      onEpisode: (episode) => this.#count(episode),
    };
  }

  #count(episode: TrajectoryEpisode): void {
    this.#opened.find(({ opened }) => opened.model.name === episode.model)!.summary.add(episode);
  }

  /** Returns the amount spent, for the progress bar; '' without prices. */
  spentText(): string {
    return this.#opened.map(({ summary }) => summary.spentText()).join('');
  }

  /** Returns a summary of each model that had requests, with line ends. */
  text(): string {
    return this.#opened
      .map(({ opened, summary }) => [opened.model.name, summary.text()] as const)
      .map(([name, text]) => (text === '' ? '' : `${MODEL_PREFIX}${name}: ${text}`))
      .join('');
  }
}

/** Above this share of answers without an action, the summary has a note. Chosen by hand: a few such answers need none. */
const MANY_UNPARSED = 0.05;

/** The summary of one model's run. */
export class LlmSummary {
  readonly #tally: UsageTally;
  readonly #ledger: CostLedger;
  readonly #before: number;
  #answers = 0;
  #unparsed = 0;
  #cost = 0;

  /** @param before dollars spent by earlier runs. */
  constructor(tally: UsageTally, ledger: CostLedger, before: number) {
    this.#tally = tally;
    this.#ledger = ledger;
    this.#before = before;
  }

  /** Counts a finished episode. */
  add({ steps, usage }: Pick<TrajectoryEpisode, 'steps' | 'usage'>): void {
    this.#answers += steps.length;
    this.#unparsed += steps.filter(({ parsed }) => !parsed).length;
    this.#cost += usage?.cost_usd ?? 0;
  }

  /** Returns the amount that this and earlier runs spent, for the progress bar; '' without prices. */
  spentText(): string {
    const { prices, spent, budget } = this.#ledger;
    if (prices === null) return '';
    return budget === null ? dollars(spent) : `${dollars(spent)} of ${dollars(budget)}`;
  }

  /** Returns the summary as lines with line ends; '' if there were no requests. */
  text(): string {
    const { requests, unanswered, promptTokens, completionTokens } = this.#tally;
    if (requests === 0) return '';
    const unansweredText = unanswered === 0 ? '' : `, ${grouped(unanswered)} of them retries or failures`;
    const tokens = `${grouped(promptTokens)} prompt and ${grouped(completionTokens)} completion tokens`;
    return `${grouped(requests)} requests${unansweredText}; ${tokens}${this.#costText()}.\n${this.#shares()}${this.#hint()}`;
  }

  #costText(): string {
    const { prices, spent } = this.#ledger;
    if (prices === null) return '';
    const spentNow = spent - this.#before;
    const earlier = this.#before === 0 ? '' : `, after ${dollars(this.#before)} in earlier runs`;
    return `; ${dollars(spentNow)}, ${dollars(this.#cost)} of it for whole episodes${earlier}`;
  }

  #shares(): string {
    const { answers, cutOff, refused } = this.#tally;
    if (answers === 0) return '';
    const unparsed = this.#answers === 0 ? '' : `${share(this.#unparsed, this.#answers)} without an action, `;
    return `Of the answers ${unparsed}${share(cutOff, answers)} cut off, ${share(refused, answers)} refused.\n`;
  }

  #hint(): string {
    if (this.#unparsed <= MANY_UNPARSED * this.#answers) return '';
    const { answers, cutOff } = this.#tally;
    // If more than MANY_UNPARSED / 2 of all answers were cut off, the note names this cause. The half is chosen by hand.
    const remedy =
      cutOff > (MANY_UNPARSED / 2) * answers
        ? 'Many were cut off: raise --max-tokens.'
        : 'See the completions in the output: an answer must end with a line such as 4 6 5 SLEEP.';
    return `note: ${share(this.#unparsed, this.#answers)} of the answers named no action; sleep was played instead. ${remedy}\n`;
  }
}

const share = (part: number, whole: number): string => `${((100 * part) / whole).toFixed(1)} %`;
