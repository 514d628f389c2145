/** The choice between the two names of the token limit. */
import { expect, it } from 'vitest';
import { LimitNames } from '../../../src/agents/llm/limit-name.js';

it('a refusal changes max_completion_tokens to max_tokens; after a second refusal no other name is left', () => {
  const names = new LimitNames();
  expect(names.current).toBe('max_completion_tokens');
  expect([names.refuse('max_completion_tokens'), names.current]).toEqual([true, 'max_tokens']);
  expect(names.refuse('max_tokens')).toBe(false);
});

it('a refused max_tokens is never used again, even if an answer exceeds its limit', () => {
  const names = new LimitNames();
  // An answer longer than its limit: the endpoint ignores max_completion_tokens.
  names.exceeded();
  expect(names.current).toBe('max_tokens');
  expect([names.refuse('max_tokens'), names.current]).toEqual([true, 'max_completion_tokens']);
  names.exceeded();
  expect(names.current).toBe('max_completion_tokens');
});
