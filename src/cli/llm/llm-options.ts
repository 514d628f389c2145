/** Options of commands that use language models. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { SystemRole } from '../../agents/llm/chat-model.js';
import type { Prices } from '../../agents/llm/ledger.js';
import type { ParseOptions } from '../../rollouts/text/parse-completions.js';
import { THOUGHT_STARTS } from '../../rollouts/text/parse-completions.js';
import { CHAT_FORMS, type ChatForm, type Sampling } from '../../rollouts/trajectories/trajectory-episode.js';
import { MAX_U32 } from '../../world/fields.js';
import { UsageError } from '../command-errors.js';
import { parseDecimal, parseInteger } from '../shared-options.js';

export interface ModelFlags {
  readonly baseUrl?: string;
  readonly concurrency?: number;
  readonly maxTokens?: number;
  readonly temperature?: number;
  readonly topP?: number;
  readonly samplingSeed?: number;
  readonly thought?: ParseOptions['thought'];
  readonly systemRole?: SystemRole;
  readonly form?: ChatForm;
  /** The time limit of an answer in seconds. */
  readonly timeout?: number;
  readonly retries?: number;
  readonly prices?: Prices;
  readonly budget?: number;
}

/** The defaults of the options, chosen by hand. `timeout` is in seconds. */
export const LLM_DEFAULTS = { concurrency: 4, maxTokens: 512, timeout: 120, retries: 6 } as const;

/** Adds the options of language models. */
export function addLlmOptions(command: Command): Command {
  const { concurrency, maxTokens, timeout, retries } = LLM_DEFAULTS;
  const thought = new Option('--thought <start>', 'whether the chat template opens a thought');
  const role = new Option('--system-role <role>', 'role of the rules (default: system, unless refused)');
  const form = new Option('--form <name>', 'how an episode is put to a model (default: single)');
  return command
    .option('--base-url <url>', 'the endpoint (default: from environment variables)')
    .option('--concurrency <n>', `parallel episodes of models (default: ${concurrency})`, parseInteger)
    .option('--max-tokens <n>', `the token limit of an answer (default: ${maxTokens})`, parseInteger)
    .option('--temperature <t>', "temperature, 0 to 2 (default: the endpoint's)", parseDecimal)
    .option('--top-p <p>', "nucleus sampling, (0, 1] (default: the endpoint's)", parseDecimal)
    .option('--sampling-seed <n>', 'for endpoints that accept one (default: none)', parseInteger)
    .addOption(thought.choices(THOUGHT_STARTS))
    .addOption(role.choices(['system', 'user'] satisfies SystemRole[]))
    .addOption(form.choices(CHAT_FORMS))
    .option('--timeout <s>', `seconds to wait for an answer (default: ${timeout})`, parseInteger)
    .option('--retries <n>', `retries of a failed request (default: ${retries})`, parseInteger)
    .option('--prices <p,c[,cached]>', '$ per million tokens: prompt, completion, cached', parsePrices)
    .option('--budget <dollars>', 'stop before spending more; needs --prices', parseDecimal);
}

/** The options on the command line, by key. */
export const LLM_FLAGS: Readonly<Record<keyof ModelFlags, string>> = {
  baseUrl: '--base-url',
  concurrency: '--concurrency',
  maxTokens: '--max-tokens',
  temperature: '--temperature',
  topP: '--top-p',
  samplingSeed: '--sampling-seed',
  thought: '--thought',
  systemRole: '--system-role',
  form: '--form',
  timeout: '--timeout',
  retries: '--retries',
  prices: '--prices',
  budget: '--budget',
};

/** Refuses options of language models for a policy that is no language model. @throws UsageError. */
export function checkNoModelFlags(policy: string, options: ModelFlags): void {
  const flag = Object.entries(LLM_FLAGS).find(([name]) => options[name as keyof ModelFlags] !== undefined);
  if (flag === undefined) return;
  throw new UsageError(
    `Expected no ${flag[1]} with --policy ${policy}, got one. Omit it, or pass --policy llm:MODEL.`,
  );
}

/** Parses prices: "2.5,10" or "2.5,10,1.25". */
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

/** Checks the ranges of the options, and that a budget has prices. All endpoints have the same ranges. @throws UsageError. */
export function checkLlmOptions(options: ModelFlags): void {
  check(options, 'concurrency', 1, 1024);
  check(options, 'maxTokens', 1, 1_000_000);
  check(options, 'temperature', 0, 2);
  check(options, 'topP', Number.MIN_VALUE, 1);
  check(options, 'samplingSeed', 0, MAX_U32);
  check(options, 'timeout', 1, 3600);
  check(options, 'retries', 0, 100);
  check(options, 'budget', 0, Number.MAX_VALUE);
  if (options.budget !== undefined && options.prices === undefined) {
    throw new UsageError(
      'Expected --prices with --budget, got none. The amount spent is unknown without prices. ' +
        'Pass dollars per million prompt and completion tokens, such as --prices 2.5,10.',
    );
  }
}

type NumberOption = Exclude<keyof ModelFlags, 'baseUrl' | 'thought' | 'systemRole' | 'form' | 'prices'>;

function check(options: ModelFlags, name: NumberOption, low: number, high: number): void {
  const value = options[name];
  if (value === undefined || (value >= low && value <= high)) return;
  const least = low === Number.MIN_VALUE ? 'above 0' : `from ${low}`;
  const most = high === Number.MAX_VALUE ? ' on' : ` to ${high}`;
  throw new UsageError(
    `Expected ${LLM_FLAGS[name]} to be ${least}${most}, got ${value}. Pass a number in that range.`,
  );
}

/** Returns the sampling parameters as files store them. */
export function samplingOf({ maxTokens, temperature, topP, samplingSeed, form }: ModelFlags): Sampling {
  return {
    max_tokens: maxTokens ?? LLM_DEFAULTS.maxTokens,
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { top_p: topP }),
    ...(samplingSeed === undefined ? {} : { seed: samplingSeed }),
    ...(form === undefined || form === 'single' ? {} : { form }),
  };
}
