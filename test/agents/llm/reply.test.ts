/** Parsing of chat completions. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readReply } from '../../../src/agents/llm/reply.js';
import { parseCompletion } from '../../../src/index.js';
import { DRAWS, drawsOf } from '../../support/random.js';

const redact = (text: string) => text.replaceAll('secret', '***');
const reply = (message: object, usage?: object, finish?: unknown) =>
  readReply({ choices: [{ message, finish_reason: finish }], usage }, redact);
/** Returns the tokens of an answer with text. */
const tokensOf = (usage: object) => reply({ content: 'SLEEP' }, usage)!.tokens;

describe('tokens', () => {
  const counted = { prompt_tokens: 400, completion_tokens: 9 };
  const details = (cached_tokens: unknown) => ({ ...counted, prompt_tokens_details: { cached_tokens } });

  it.each([
    ['none from a cache', counted, 0],
    ["OpenAI's cached tokens", details(384), 384],
    ["DeepSeek's cached tokens", { ...counted, prompt_cache_hit_tokens: 128 }, 128],
    ["OpenAI's override DeepSeek's", { ...details(3), prompt_cache_hit_tokens: 128 }, 3],
    ["DeepSeek's if OpenAI's are null", { ...details(null), prompt_cache_hit_tokens: 128 }, 128],
    ['more cached than prompt tokens', details(401), 400],
    ['an invalid number of cached tokens', details(-1), 0],
    ["an invalid number of DeepSeek's cached tokens", { ...counted, prompt_cache_hit_tokens: '9' }, 0],
    ["more of DeepSeek's cached than prompt tokens", { ...counted, prompt_cache_hit_tokens: 1e9 }, 400],
  ])('are read: %s', (_, usage, cached) => {
    expect(tokensOf(usage)).toEqual({ prompt: 400, completion: 9, cached });
  });

  it('are valid up to 10^9', () => {
    const largest = { prompt_tokens: 1e9, completion_tokens: 1e9 };
    expect(tokensOf(largest)).toEqual({ prompt: 1e9, completion: 1e9, cached: 0 });
    expect(tokensOf({ ...largest, prompt_tokens: 1e9 + 1 })).toBeNull();
    expect(tokensOf({ ...largest, completion_tokens: 1e9 + 1 })).toBeNull();
  });

  it('are invalid if the prompt has 0, or a completion with text or reasoning has 0', () => {
    const none = { prompt_tokens: 400, completion_tokens: 0 };
    expect(tokensOf({ prompt_tokens: 0, completion_tokens: 9 })).toBeNull();
    expect(tokensOf(none)).toBeNull();
    expect(reply({ content: '', reasoning: 'Tired.' }, none)!.tokens).toBeNull();
    expect(reply({ content: '' }, none)!.tokens).toEqual({ prompt: 400, completion: 0, cached: 0 });
  });

  it('are null or integers of at least 0, whatever the usage is', () => {
    const any = fc.oneof(fc.double(), fc.integer(), fc.constantFrom(null, true, '9', [], {}, -0, 2 ** 53));
    const usages = fc.record({
      prompt_tokens: any,
      completion_tokens: any,
      prompt_tokens_details: fc.oneof(any, fc.record({ cached_tokens: any })),
      prompt_cache_hit_tokens: any,
    });
    fc.assert(
      fc.property(usages, (usage) => {
        const tokens = tokensOf(usage);
        if (tokens === null) return;
        const { prompt, completion, cached } = tokens;
        expect([prompt, completion, cached].every(Number.isInteger)).toBe(true);
        expect(Math.min(cached, completion, prompt - cached)).toBeGreaterThanOrEqual(0);
      }),
      { ...DRAWS, numRuns: drawsOf(1000) },
    );
  });
});

describe('the completion', () => {
  it('is the content, or the refusal', () => {
    expect(reply({ content: 'SLEEP', refusal: 'No.' })).toMatchObject({ completion: 'SLEEP', refused: true });
    expect(reply({ content: '', refusal: 'No.' })).toMatchObject({ completion: 'No.', refused: true });
    expect(reply({})).toMatchObject({ completion: '', refused: false, finish: 'stop' });
    expect(reply({}, undefined, 'content_filter')).toMatchObject({ refused: true });
  });

  it('is the text of the text parts', () => {
    const content = [
      { type: 'thinking', thinking: 'Tired.', text: 'no' },
      { type: 'image', text: 'no' },
      { type: 'text', text: 'SLEEP' },
    ];
    expect(reply({ content })).toMatchObject({ completion: 'SLEEP', reasoning: 'Tired.' });
  });

  it('comes with the reasoning of reasoning_content, else of reasoning, else of the parts', () => {
    const content = [{ type: 'thinking', thinking: 'parts' }];
    const reasoningOf = (message: object) => reply({ content, ...message })!.reasoning;
    expect(reasoningOf({ reasoning_content: 'older', reasoning: 'newer' })).toBe('older');
    expect(reasoningOf({ reasoning_content: null, reasoning: 'newer' })).toBe('newer');
    expect(reasoningOf({})).toBe('parts');
  });

  it.each([
    [' \n<think> Tired. </think>\n SLEEP', 'SLEEP', 'Tired.'],
    ['<think> Tired. ', '', 'Tired.'],
    ['<Thinking>Tired.</THINKING>SLEEP', 'SLEEP', 'Tired.'],
    ['[THINK]Tired.[/THINK]SLEEP', 'SLEEP', 'Tired.'],
    ['Tired.\n</think>\nSLEEP', 'SLEEP', 'Tired.'],
    ['<think>Tired.</think>SLEEP\n<think>Or ', 'SLEEP', 'Tired.\nOr'],
    ['<think>Tired.</think>SLEEP\n<reasoning>Or', 'SLEEP', 'Tired.\nOr'],
    ['SLEEP <think>Tired.</think>', 'SLEEP <think>Tired.</think>', undefined],
    ['<reasoning>Tired.</reasoning>SLEEP', '<reasoning>Tired.</reasoning>SLEEP', undefined],
  ])('excludes reasoning in tags at the start, not after text: %j', (content, completion, reasoning) => {
    expect(reply({ content })).toMatchObject({ completion, ...(reasoning && { reasoning }) });
  });

  it('excludes a thought that the chat template opened, and is empty if it was cut off there', () => {
    const open = (message: object) => readReply({ choices: [{ message }] }, redact, true);
    const cutOff = 'hm\n1 2 3 LEARN\nwould';
    expect(open({ content: cutOff })).toMatchObject({ completion: '', reasoning: cutOff });
    expect(reply({ content: cutOff })).toMatchObject({ completion: cutOff });
    expect(open({ content: 'hm\n</think>\nSLEEP' })).toMatchObject({ completion: 'SLEEP', reasoning: 'hm' });
    expect(open({ content: 'SLEEP', reasoning: 'hm' })).toMatchObject({
      completion: 'SLEEP',
      reasoning: 'hm',
    });
    expect(open({ content: '', refusal: 'No.' })).toMatchObject({ completion: 'No.', refused: true });
  });

  it('has the answer that training parses from the same text', () => {
    const words = ['<think>', '</think>', '<reasoning>', '</Reasoning>', '[THINK]', '[/THINK]'];
    const texts = fc
      .array(fc.constantFrom(...words, '1 2 3 SLEEP', '4 5 6 LEARN', 'hm', '\n', ' '), { maxLength: 9 })
      .map((parts) => parts.join(''));
    const property = fc.property(texts, fc.constantFrom('closed', 'open'), (content, thought) => {
      const { completion } = readReply({ choices: [{ message: { content } }] }, redact, thought === 'open')!;
      expect(parseCompletion(completion)).toEqual(parseCompletion(content, { thought }));
    });
    fc.assert(property, { ...DRAWS, numRuns: drawsOf(5000) });
  });

  it('has no secret and no unpaired surrogate, like all other texts', () => {
    const dirty = 'secret\ud800';
    const message = { content: dirty, reasoning: dirty };
    expect(reply(message, undefined, dirty)).toEqual({
      completion: '***\ufffd',
      reasoning: '***\ufffd',
      finish: '***\ufffd',
      refused: false,
      tokens: null,
    });
  });
});

it('only the first choice is read, with at most a thousand parts; tool calls are an empty text', () => {
  const others = Array(5000).fill({ message: 7 });
  expect(readReply({ choices: [{ message: { content: 'SLEEP' } }, ...others] }, redact)).not.toBeNull();
  expect(readReply({ choices: others }, redact)).toBeNull();
  const parts = (count: number) => Array(count).fill({ type: 'text', text: '5' });
  expect(reply({ content: parts(1000) })!.completion).toBe('5'.repeat(1000));
  expect(reply({ content: parts(1001) })).toBeNull();
  const toolCalls = reply({ content: null, tool_calls: [{}] }, { prompt_tokens: 400, completion_tokens: 9 });
  expect(toolCalls).toMatchObject({ completion: '', refused: false, tokens: { completion: 9 } });
});

describe('with tools', () => {
  const lineOf = (args: unknown, content: string | null = null, ...others: unknown[]) => {
    const message = { content, tool_calls: [{ function: { arguments: args } }, ...others] };
    return readReply({ choices: [{ message }] }, redact, false, true)!.completion;
  };
  const digits = { social: 4, morning: '6', work: 5 };

  it('the first call is read, whatever the others are', () => {
    expect(lineOf({ action: 'SLEEP', ...digits }, null, 7, { function: {} })).toBe('4 6 5 SLEEP');
    expect(lineOf({ name: 'act', parameters: { action: 'SLEEP' } })).toBe('SLEEP');
  });

  it('no arguments are too odd', () => {
    expect(lineOf({ action: 'SLEEP', ...digits, work: { toString: 5 } })).toBe('SLEEP');
    expect(lineOf({ action: 'SLEEP', ...digits, work: [5] })).toBe('SLEEP');
    let deep: object = { action: 'SLEEP' };
    for (let depth = 0; depth < 50_000; depth++) deep = { arguments: deep };
    expect(lineOf(deep)).toBe('');
  });

  it('what is said before JSON is reasoning, and takes little time to find among many braces', () => {
    const content = `Rest. <tool_call>{"action":"SLEEP"}</tool_call>`;
    const { completion, reasoning } = readReply(
      { choices: [{ message: { content } }] },
      redact,
      false,
      true,
    )!;
    expect([completion, reasoning]).toEqual(['SLEEP', 'Rest.']);
    const from = performance.now();
    expect(lineOf('{"action":"SLEEP"}', '{'.repeat(100_000))).toBe('SLEEP');
    expect(performance.now() - from).toBeLessThan(1000);
  });
});

it.each([
  null,
  7,
  'text',
  [],
  {},
  { choices: [] },
  { choices: [{}] },
  { choices: [{ message: { content: 7 } }] },
])('an invalid body is parsed as null: %j', (body) => {
  expect(readReply(body, redact)).toBeNull();
});
