/** The language models of `rhythm-vec eval`: asked as its options say, and what they took. */
import { MODEL_PREFIX } from '../../evaluate/choosing.js';
import type { LlmOptions } from '../../evaluate/options.js';
import type { TrajectoryEpisode } from '../../trajectory/episode.js';
import { UsageError } from '../failure.js';
import {
  LLM_DEFAULTS,
  LLM_FLAGS,
  type ModelFlags,
  type OpenedModel,
  prepareModel,
  type Spending,
} from '../llm/options.js';
import { LlmSummary } from '../llm/summary.js';

/** The models that policies name, each once. */
export const modelsIn = (policies: readonly string[] = []): string[] =>
  [...new Set(policies)]
    .filter((name) => name.startsWith(MODEL_PREFIX))
    .map((name) => name.slice(MODEL_PREFIX.length));

/** Refuses what is said of language models where there is none, and prices where there are several. @throws UsageError. */
export function checkModels(names: readonly string[], options: ModelFlags): void {
  const said = Object.entries(LLM_FLAGS).find(([name]) => options[name as keyof ModelFlags] !== undefined);
  if (names.length === 0 && said !== undefined) {
    throw new UsageError(
      `Expected no ${said[1]} without a language model, got one. Leave it out, or pass --policies ${MODEL_PREFIX}MODEL.`,
    );
  }
  if (names.length < 2 || options.prices === undefined) return;
  throw new UsageError(
    `Expected one language model with --prices, which are one model's, got ${names.join(' and ')}. Evaluate them one by one.`,
  );
}

type Opener = (spending?: Spending) => OpenedModel;

/** Checks all that can be checked before anything is asked. @throws as `prepareModel`. */
export function prepareModels(names: readonly string[], options: ModelFlags): Promise<Opener[]> {
  return Promise.all(names.map((name) => prepareModel(name, options)));
}

/** Models that are asked, and counted. */
export class EvalModels {
  readonly #opened: readonly { readonly opened: OpenedModel; readonly summary: LlmSummary }[];
  readonly #concurrency: number;

  /** @param spending what was spent before. */
  constructor(
    openers: readonly Opener[],
    { onSpend, ...before }: Spending,
    { concurrency, prices }: ModelFlags,
  ) {
    this.#concurrency = concurrency ?? LLM_DEFAULTS.concurrency;
    // Without prices nothing is spent that could be noted.
    const spending = prices === undefined ? before : { ...before, onSpend };
    this.#opened = openers.map((open) => {
      const opened = open(spending);
      const { model, tally } = opened;
      return { opened, summary: new LlmSummary(tally, model.ledger, spending.spent ?? 0) };
    });
  }

  /** As `evaluate` takes them. @param played the weeks that are there. */
  asked(played: LlmOptions['played']): LlmOptions {
    return {
      models: this.#opened.map(({ opened }) => opened.model),
      concurrency: this.#concurrency,
      played,
      onEpisode: (episode) => this.#count(episode),
    };
  }

  #count(episode: TrajectoryEpisode): void {
    this.#opened.find(({ opened }) => opened.model.name === episode.model)!.summary.add(episode);
  }

  /** What was spent, for a line of progress; '' where nothing is known to cost anything. */
  money(): string {
    return this.#opened.map(({ summary }) => summary.money()).join('');
  }

  /** What each took, in lines with their ends. */
  text(): string {
    return this.#opened
      .map(({ opened, summary }) => [opened.model.name, summary.text()] as const)
      .map(([name, text]) => (text === '' ? '' : `${MODEL_PREFIX}${name}: ${text}`))
      .join('');
  }
}
