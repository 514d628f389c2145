/** Language models in `rhythm-vec eval`: their options, clients and spending. */

import type { LlmOptions } from '../../evaluation/evaluate-options.js';
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
} from '../llm/llm-options.js';
import { LlmSummary } from '../llm/summary.js';

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
