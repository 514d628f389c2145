/** Options of commands that ask language models, and the models that they name. */
import { type Command, InvalidArgumentError } from 'commander';
import type { ChatModel } from '../../llm/chat-model.js';
import type { LedgerOptions, Prices } from '../../llm/ledger.js';
import type { Tally } from '../../llm/tally.js';
import type { Sampling } from '../../trajectory/episode.js';
import { MAX_U32 } from '../../world/fields.js';
import { UsageError } from '../failure.js';
import { parseDecimal, parseInteger } from '../options.js';

export interface ModelFlags {
  readonly baseUrl?: string;
  readonly concurrency?: number;
  readonly maxTokens?: number;
  readonly temperature?: number;
  readonly topP?: number;
  readonly samplingSeed?: number;
  /** Seconds. */
  readonly timeout?: number;
  readonly retries?: number;
  readonly prices?: Prices;
  readonly budget?: number;
}

export const LLM_DEFAULTS = { concurrency: 4, maxTokens: 512, timeout: 120, retries: 6 } as const;

/** Adds `--base-url` and what else is said of a language model, but for its name. */
export function addLlmOptions(command: Command): Command {
  const { concurrency, maxTokens, timeout, retries } = LLM_DEFAULTS;
  return command
    .option('--base-url <url>', 'of an endpoint that speaks as OpenAI does (default: OPENAI_BASE_URL)')
    .option('--concurrency <n>', `weeks at once, a request each (default: ${concurrency})`, parseInteger)
    .option('--max-tokens <n>', `of an answer (default: ${maxTokens})`, parseInteger)
    .option('--temperature <t>', "0 to 2 (default: the endpoint's)", parseDecimal)
    .option('--top-p <p>', "above 0 to 1 (default: the endpoint's)", parseDecimal)
    .option('--sampling-seed <n>', 'for endpoints that take one (default: none)', parseInteger)
    .option('--timeout <s>', `seconds for a whole answer (default: ${timeout})`, parseInteger)
    .option('--retries <n>', `further tries of a request that failed (default: ${retries})`, parseInteger)
    .option(
      '--prices <p,c[,h]>',
      'dollars per million tokens: prompt, completion, cached prompt',
      parsePrices,
    )
    .option('--budget <dollars>', 'stops before more than that is spent; needs --prices', parseDecimal);
}

/** The options' names as a caller wrote them. */
export const LLM_FLAGS: Readonly<Record<keyof ModelFlags, string>> = {
  baseUrl: '--base-url',
  concurrency: '--concurrency',
  maxTokens: '--max-tokens',
  temperature: '--temperature',
  topP: '--top-p',
  samplingSeed: '--sampling-seed',
  timeout: '--timeout',
  retries: '--retries',
  prices: '--prices',
  budget: '--budget',
};

/** "2.5,10" or "2.5,10,1.25". */
function parsePrices(text: string): Prices {
  const amounts = text
    .split(',')
    .map((word) => (/^(\d+\.?\d*|\.\d+)$/.test(word.trim()) ? Number(word) : Number.NaN));
  if ((amounts.length === 2 || amounts.length === 3) && amounts.every(Number.isFinite)) {
    const [prompt, completion, cached = prompt] = amounts;
    return { prompt, completion, cached };
  }
  throw new InvalidArgumentError(
    'Expected dollars per million tokens: prompt,completion or prompt,completion,cached, such as 2.5,10,1.25.',
  );
}

/** Within the bounds that hold for every endpoint. @throws UsageError. */
function checkLlmOptions(options: ModelFlags): void {
  check(options, 'concurrency', 1, 1024);
  check(options, 'maxTokens', 1, 1_000_000);
  check(options, 'temperature', 0, 2);
  check(options, 'topP', Number.MIN_VALUE, 1);
  check(options, 'samplingSeed', 0, MAX_U32);
  // Node's fetch waits no longer for anything.
  check(options, 'timeout', 1, 300);
  check(options, 'retries', 0, 100);
  check(options, 'budget', 0, Number.MAX_VALUE);
  if (options.budget !== undefined && options.prices === undefined) {
    throw new UsageError(
      'Expected --prices with --budget, got none: without them nobody knows what is spent. ' +
        'Pass them, --prices 2.5,10 for instance: dollars per million prompt and completion tokens.',
    );
  }
}

type NumberOption = Exclude<keyof ModelFlags, 'baseUrl' | 'prices'>;

function check(options: ModelFlags, name: NumberOption, low: number, high: number): void {
  const value = options[name];
  if (value === undefined || (value >= low && value <= high)) return;
  const least = low === Number.MIN_VALUE ? 'above 0' : `from ${low}`;
  const most = high === Number.MAX_VALUE ? ' on' : ` to ${high}`;
  throw new UsageError(`Expected ${LLM_FLAGS[name]} ${least}${most}, got ${value}. Pass another.`);
}

/** As files keep it. */
export function samplingOf({ maxTokens, temperature, topP, samplingSeed }: ModelFlags): Sampling {
  return {
    max_tokens: maxTokens ?? LLM_DEFAULTS.maxTokens,
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { top_p: topP }),
    ...(samplingSeed === undefined ? {} : { seed: samplingSeed }),
  };
}

/** What a run has spent before. */
export type Spending = Pick<LedgerOptions, 'spent' | 'finished' | 'onSpend'>;

/** A model that is asked as the options and the environment say, and what counts its requests. */
export interface OpenedModel {
  readonly model: ChatModel;
  readonly tally: Tally;
}

/**
 * Checks all that can be checked before anything is asked. @returns what opens the model, once it is known what was spent
 * before. @throws UsageError; InputError `missing_setting` for the environment; LibraryError.
 */
export async function prepareModel(
  name: string,
  options: ModelFlags,
): Promise<(spending?: Spending) => OpenedModel> {
  checkLlmOptions(options);
  const [{ toEndpoint }, { openClient }, { ChatModel }, { Ledger }, { Tally }] = await Promise.all([
    import('../../llm/endpoint.js'),
    import('../../llm/client.js'),
    import('../../llm/chat-model.js'),
    import('../../llm/ledger.js'),
    import('../../llm/tally.js'),
  ]);
  const { baseUrl, prices = null, budget = null } = options;
  const { timeout = LLM_DEFAULTS.timeout, retries = LLM_DEFAULTS.retries } = options;
  const endpoint = toEndpoint({ baseUrl });
  const timeoutMs = timeout * 1000;
  const client = await openClient(endpoint, timeoutMs);
  const sampling = samplingOf(options);
  return (spending = {}) => {
    const ledger = new Ledger({ prices, budget, ...spending });
    const tally = new Tally();
    const model = new ChatModel({ name, endpoint, client, sampling, timeoutMs, retries, ledger, tally });
    return { model, tally };
  };
}
