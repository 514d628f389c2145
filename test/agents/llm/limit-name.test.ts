/** The choice between the two names of the token limit. */
import { expect, it } from 'vitest';
import { LimitNames } from '../../../src/agents/llm/limit-name.js';

it('the name is the newer one, then the older one, then none', () => {
  const names = new LimitNames();
  expect(names.current).toBe('max_completion_tokens');
  expect([names.refuse('max_completion_tokens'), names.current]).toEqual([true, 'max_tokens']);
  expect(names.refuse('max_tokens')).toBe(false);
});

it('the name is the newer one again once the older one is refused, even if answers exceed the limit', () => {
  const names = new LimitNames();
  names.exceeded();
  expect(names.current).toBe('max_tokens');
  expect([names.refuse('max_tokens'), names.current]).toEqual([true, 'max_completion_tokens']);
  names.exceeded();
  expect(names.current).toBe('max_completion_tokens');
});
