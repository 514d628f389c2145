/** A chat completion, as endpoints of many makers send it. */
import { toUSVString } from 'node:util';
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

/** More than any endpoint takes at once is no count. */
const count = z.number().int().nonnegative().max(1e9);
const text = z.string().nullish().catch(null);

const PART = z.object({
  type: text,
  text,
  thinking: z
    .union([z.string(), z.array(z.object({ text }))])
    .nullish()
    .catch(null),
});

const COMPLETION = z.object({
  choices: z
    .array(
      z.object({
        finish_reason: text,
        message: z.object({
          // In parts, as Mistral's models say what they thought.
          content: z.union([z.string(), z.array(PART)]).nullish(),
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
type Message = Completion['choices'][number]['message'];

/** @returns null for what is no chat completion. */
export function readReply(body: unknown, redact: Redact): Reply | null {
  const parsed = COMPLETION.safeParse(body);
  if (!parsed.success) return null;
  const [{ message, finish_reason }] = parsed.data.choices;
  const { refusal, reasoning_content, reasoning } = message;
  const { content, thoughts } = toldIn(message.content);
  // Half a pair of surrogates is no character: files in UTF-8 and their readers have none.
  const clean = (words: string): string => toUSVString(redact(words));
  const said = clean(content || refusal || '');
  const thought = reasoning_content || reasoning || thoughts;
  const told = thought ? { completion: said, reasoning: clean(thought) } : apart(said);
  const finish = redact(finish_reason ?? 'stop');
  const refused = Boolean(refusal) || finish === 'content_filter';
  return { ...told, finish, refused, tokens: tokensOf(parsed.data.usage, said) };
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

function toldIn(content: Message['content']): { content: string; thoughts: string } {
  if (!Array.isArray(content)) return { content: content ?? '', thoughts: '' };
  const textOf = (parts: readonly { text?: string | null }[]): string =>
    parts.map((part) => part.text ?? '').join('');
  const thoughts = content.map(({ thinking }) =>
    Array.isArray(thinking) ? textOf(thinking) : (thinking ?? ''),
  );
  return { content: textOf(content.filter(({ type }) => type === 'text')), thoughts: thoughts.join('') };
}

/** @returns null, too, for counts that are none: no prompt is without tokens, nor what was said. */
function tokensOf(usage: Completion['usage'], said: string): Tokens | null {
  if (!usage || usage.prompt_tokens === 0 || (usage.completion_tokens === 0 && said !== '')) return null;
  const { prompt_tokens: prompt, completion_tokens: completion } = usage;
  const cached = usage.prompt_tokens_details?.cached_tokens ?? usage.prompt_cache_hit_tokens ?? 0;
  return { prompt, completion, cached: Math.min(cached, prompt) };
}
