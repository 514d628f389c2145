/** A chat completion, as endpoints of many makers send it. */
import { z } from 'zod';
import type { Redact } from '../http/secrets.js';

/** Tokens of one request. */
export interface Tokens {
  readonly prompt: number;
  /** Of the prompt's, those that are cheaper. */
  readonly cached: number;
  readonly completion: number;
}

export interface Reply {
  readonly completion: string;
  readonly reasoning?: string;
  readonly finish: string;
  readonly refused: boolean;
  /** Null where the endpoint does not count. */
  readonly tokens: Tokens | null;
}

const count = z.number().int().nonnegative();
const text = z.string().nullish().catch(null);

const COMPLETION = z.object({
  choices: z
    .array(
      z.object({
        finish_reason: text,
        message: z.object({
          content: z.string().nullish(),
          refusal: text,
          // What vLLM and DeepSeek, and newer vLLM, call what was thought.
          reasoning_content: text,
          reasoning: text,
        }),
      }),
    )
    .min(1),
  usage: z
    .object({
      prompt_tokens: count,
      completion_tokens: count,
      prompt_tokens_details: z.object({ cached_tokens: count.nullish() }).nullish().catch(null),
      /** DeepSeek's. */
      prompt_cache_hit_tokens: count.nullish().catch(null),
    })
    .nullish()
    .catch(null),
});

type Completion = z.infer<typeof COMPLETION>;

/** @returns null for what is no chat completion. */
export function readReply(body: unknown, redact: Redact): Reply | null {
  const parsed = COMPLETION.safeParse(body);
  if (!parsed.success) return null;
  const [{ message, finish_reason }] = parsed.data.choices;
  const { content, refusal, reasoning_content, reasoning } = message;
  const said = redact(content || refusal || '');
  const thought = reasoning_content || reasoning;
  const told = thought ? { completion: said, reasoning: redact(thought) } : apart(said);
  const finish = redact(finish_reason ?? 'stop');
  const refused = Boolean(refusal) || finish === 'content_filter';
  return { ...told, finish, refused, tokens: tokensOf(parsed.data.usage) };
}

/** What a filter let nobody answer. */
export const FILTERED: Reply = {
  completion: '',
  finish: 'content_filter',
  refused: true,
  tokens: null,
};

const OPENING = '<think>';
const CLOSING = '</think>';

/**
 * The thoughts of models that servers without a reasoning parser leave at the head of the answer. One that was cut off
 * among them has not answered: a line there is no action.
 */
function apart(said: string): Pick<Reply, 'completion' | 'reasoning'> {
  const head = said.trimStart();
  if (!head.startsWith(OPENING)) return { completion: said };
  const end = head.indexOf(CLOSING);
  if (end < 0) return { completion: '', reasoning: head.slice(OPENING.length).trim() };
  const completion = head.slice(end + CLOSING.length).trimStart();
  return { completion, reasoning: head.slice(OPENING.length, end).trim() };
}

function tokensOf(usage: Completion['usage']): Tokens | null {
  if (!usage) return null;
  const { prompt_tokens: prompt, completion_tokens: completion } = usage;
  const cached = usage.prompt_tokens_details?.cached_tokens ?? usage.prompt_cache_hit_tokens ?? 0;
  return { prompt, completion, cached: Math.min(cached, prompt) };
}
