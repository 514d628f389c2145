/** Parses chat completions, which differ between endpoints. */
import { toUSVString } from 'node:util';
import { z } from 'zod';
import { lineInJson, lineOfCall } from '../../rollouts/text/chat.js';
import { nextThought } from '../../rollouts/text/parse-completions.js';
import type { Redact } from '../../shared/http/redactor.js';

/** Token counts of one request. */
export interface Tokens {
  readonly prompt: number;
  /** Prompt tokens from the endpoint's cache, which are cheaper. */
  readonly cached: number;
  readonly completion: number;
}

/** A parsed chat completion. `Answer` (language-model.ts) describes the first four fields. */
export interface Reply {
  readonly completion: string;
  readonly reasoning?: string;
  readonly finish: string;
  readonly refused: boolean;
  /** Null if the endpoint reports no counts, or impossible counts. */
  readonly tokens: Tokens | null;
}

/** A token count, at most 10^9 (chosen by hand): no request has more. */
const count = z.number().int().nonnegative().max(1e9);
/** A text; null or undefined if it is missing or of another type. */
const text = z.string().nullish().catch(null);

const PART = z.object({
  type: text,
  text,
  thinking: z
    .union([z.string(), z.array(z.object({ text }))])
    .nullish()
    .catch(null),
});

/** The maximum number of parts of a message. Checking hundreds of thousands would take seconds. */
const MAX_PARTS = 1000;

const CALL = z.object({
  function: z.object({ arguments: z.union([z.string(), z.record(z.string(), z.unknown())]) }),
});

const CHOICE = z.object({
  finish_reason: text,
  message: z.object({
    // Mistral's models send parts, some of which contain reasoning.
    content: z.union([z.string(), z.array(z.unknown()).max(MAX_PARTS).pipe(z.array(PART))]).nullish(),
    refusal: text,
    // Reasoning: the first name is that of DeepSeek and older vLLM, the second that of newer vLLM.
    reasoning_content: text,
    reasoning: text,
    // Only the first call is read.
    tool_calls: z.tuple([CALL], z.unknown()).nullish().catch(null),
  }),
});

const COMPLETION = z.object({
  // One choice is requested. Only the first is read.
  choices: z.tuple([CHOICE], z.unknown()),
  usage: z
    .object({
      prompt_tokens: count,
      completion_tokens: count,
      prompt_tokens_details: z.object({ cached_tokens: count.nullish() }).nullish().catch(null),
      /** DeepSeek's name of the cached tokens. */
      prompt_cache_hit_tokens: count.nullish().catch(null),
    })
    .nullish()
    .catch(null),
});

type Completion = z.infer<typeof COMPLETION>;
type Message = z.infer<typeof CHOICE>['message'];

/**
 * Parses a response body.
 * @param redact applied to all texts.
 * @param inThought whether content without separate reasoning begins inside a thought that the chat template opened.
 * @param withTools whether the request offered the tool `act`: the completion is then the line that a call, or JSON, stands for.
 * @returns null if the body is not a chat completion.
 */
export function readReply(body: unknown, redact: Redact, inThought = false, withTools = false): Reply | null {
  const parsed = COMPLETION.safeParse(body);
  if (!parsed.success) return null;
  const [{ message, finish_reason }] = parsed.data.choices;
  const { refusal, reasoning_content, reasoning } = message;
  const { content, thoughts } = textsOf(message.content);
  // Replaces unpaired surrogates, which UTF-8 files cannot contain.
  const clean = (words: string): string => toUSVString(redact(words));
  const answer = clean(content || refusal || '');
  const separateReasoning = reasoning_content || reasoning || thoughts;
  const texts = separateReasoning
    ? afterThought(answer, clean(separateReasoning))
    : splitThought(answer, inThought && Boolean(content));
  const line = withTools ? lineIn(message.tool_calls, texts.completion) : null;
  const finish = clean(finish_reason ?? 'stop');
  const refused = Boolean(refusal) || finish === 'content_filter';
  return {
    ...(line === null ? texts : withLine(texts, clean(line))),
    finish,
    refused,
    tokens: tokensOf(parsed.data.usage, Boolean(answer || separateReasoning || line !== null)),
  };
}

type Texts = Pick<Reply, 'completion' | 'reasoning'>;

/** Returns the line that the first call stands for, or the JSON in the answer; null for none. */
function lineIn(calls: Message['tool_calls'], answer: string): string | null {
  const given = calls?.[0]?.function.arguments;
  if (given === undefined) return lineInJson(answer);
  return typeof given === 'string' ? lineInJson(given) : lineOfCall(given);
}

/** Returns texts whose completion is the line of a call. What the model said before it is reasoning. */
function withLine({ completion, reasoning }: Texts, line: string): Texts {
  // A regular expression would take quadratic time for an answer of many braces.
  const [from, to] = [completion.indexOf('{'), completion.lastIndexOf('}')];
  const json = from < 0 ? '' : completion.slice(from, to + 1);
  const said = completion
    .replace(json, '')
    .replaceAll(/<\/?tool_call>/g, '')
    .trim();
  const all = [reasoning, said].filter(Boolean).join('\n');
  return { completion: line, ...(all !== '' && { reasoning: all }) };
}

/** The reply if a content filter refused the request. */
export const FILTERED: Reply = {
  completion: '',
  finish: 'content_filter',
  refused: true,
  tokens: null,
};

/** The tag of the thoughts that the system message asks for. They are part of the completion. */
const ASKED_FOR = 'reasoning';

/**
 * Separates the thought that an answer begins with, which servers without a reasoning parser leave there. If the text was
 * cut off within the thought, the completion is empty: a line of a thought is not an action.
 */
function splitThought(answer: string, inThought: boolean): Texts {
  const head = answer.trimStart();
  const thought = nextThought(head, 0, inThought);
  if (thought === null || thought.start > 0 || thought.name === ASKED_FOR) return { completion: answer };
  const { from, to, end } = thought;
  return afterThought(end === null ? '' : head.slice(end).trimStart(), head.slice(from, to).trim());
}

/**
 * Separates an unfinished thought from the text after the first thought. Otherwise the text before it would not count, because
 * it would be read without the finished thought (docs/world.md, "The text form").
 */
function afterThought(text: string, reasoning: string): Texts {
  const last = nextThought(text, 0, false);
  if (last === null || last.end !== null || last.start === 0) return { completion: text, reasoning };
  return {
    completion: text.slice(0, last.start).trimEnd(),
    reasoning: `${reasoning}\n${text.slice(last.from)}`.trim(),
  };
}

/** Returns the text of a message's content, and the reasoning in its parts; '' for none. */
function textsOf(content: Message['content']): { content: string; thoughts: string } {
  if (!Array.isArray(content)) return { content: content ?? '', thoughts: '' };
  const textOf = (parts: readonly { text?: string | null }[]): string =>
    parts.map((part) => part.text ?? '').join('');
  const thoughts = content.map(({ thinking }) =>
    Array.isArray(thinking) ? textOf(thinking) : (thinking ?? ''),
  );
  return { content: textOf(content.filter(({ type }) => type === 'text')), thoughts: thoughts.join('') };
}

/**
 * Returns the token counts of an answer; null without counts, or if they are impossible: 0 for the prompt, or 0 for an
 * answer with text or reasoning.
 */
function tokensOf(usage: Completion['usage'], hasText: boolean): Tokens | null {
  if (!usage || usage.prompt_tokens === 0 || (usage.completion_tokens === 0 && hasText)) return null;
  const { prompt_tokens: prompt, completion_tokens: completion } = usage;
  const cached = usage.prompt_tokens_details?.cached_tokens ?? usage.prompt_cache_hit_tokens ?? 0;
  return { prompt, completion, cached: Math.min(cached, prompt) };
}
