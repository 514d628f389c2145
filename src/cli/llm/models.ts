/**
 * Language models of a command: checks of their options, clients and spending, and a summary of their requests, tokens, cost
 * and answers.
 */

import type { ChatModel } from '../../agents/llm/chat-model.js';
import { type CostLedger, dollars, Ledger, type LedgerOptions, UsageTally } from '../../agents/llm/ledger.js';
import type { LlmOptions } from '../../evaluation/evaluate-options.js';
import { grouped } from '../../evaluation/format-results.js';
import { MODEL_PREFIX } from '../../evaluation/user-policy.js';
import type { TrajectoryEpisode } from '../../rollouts/trajectories/trajectory-episode.js';
import { UsageError } from '../command-errors.js';
import type { SharedModel } from '../context.js';
import { checkLlmOptions, LLM_DEFAULTS, LLM_FLAGS, type ModelFlags, samplingOf } from './llm-options.js';

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

/** What earlier runs spent, the episodes that they finished, and the callback for spending: see `LedgerOptions`. */
export type Spending = Pick<LedgerOptions, 'spent' | 'finished' | 'onSpend'>;

/** A model with its client, and the summary of its run. */
export interface OpenedModel {
  readonly model: ChatModel;
  readonly summary: LlmSummary;
}

/** Opens a model. Its arguments: the spending of earlier runs, and what processes share. */
type Opener = (spending?: Spending, shared?: SharedModel) => OpenedModel;

/**
 * Checks everything that can be checked before the first request.
 * @returns a function that opens the model. @throws UsageError; InputError as `toEndpoint`; LibraryError.
 */
export async function prepareModel(name: string, options: ModelFlags): Promise<Opener> {
  checkLlmOptions(options);
  const [{ openClient, toEndpoint }, { ChatModel }] = await Promise.all([
    import('../../agents/llm/endpoint.js'),
    import('../../agents/llm/chat-model.js'),
  ]);
  const { baseUrl, thought, systemRole, prices = null, budget = null } = options;
  const { timeout = LLM_DEFAULTS.timeout, retries = LLM_DEFAULTS.retries } = options;
  const endpoint = toEndpoint({ baseUrl });
  const timeoutMs = timeout * 1000;
  const client = await openClient(endpoint, timeoutMs);
  const sampling = samplingOf(options);
  return ({ onSpend, ...before } = {}, shared) => {
    // Without prices there is no amount to record.
    const spending = prices === null ? before : { ...before, onSpend };
    const ledger = shared?.ledger(prices, timeoutMs) ?? new Ledger({ prices, budget, ...spending });
    const tally = new UsageTally();
    const limits = { timeoutMs, retries, ledger, rateLimiter: shared?.rateLimiter };
    const form = { sampling, thought, systemRole };
    const model = new ChatModel({ name, endpoint, client, ...form, tally, ...limits });
    return { model, summary: new LlmSummary(tally, ledger, before.spent ?? 0) };
  };
}

/** The models of an evaluation. */
export class EvalModels {
  readonly #opened: readonly OpenedModel[];

  constructor(opened: readonly OpenedModel[]) {
    this.#opened = opened;
  }

  /** Returns options of `evaluate`. */
  get options(): Pick<LlmOptions, 'models' | 'onEpisode'> {
    return {
      models: this.#opened.map(({ model }) => model),
      onEpisode: (episode) =>
        this.#opened.find(({ model }) => model.name === episode.model)!.summary.add(episode),
    };
  }

  /** Returns the amount spent, for the progress bar; '' without prices. */
  spentText(): string {
    return this.#opened.map(({ summary }) => summary.spentText()).join('');
  }

  /** Returns a summary of each model that had requests, with line ends. */
  text(): string {
    return this.#opened
      .map(({ model, summary }) => [model.name, summary.text()])
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
