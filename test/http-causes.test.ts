/** What stands behind an error, whatever somebody threw. */
import { expect, it } from 'vitest';
import { causesOf } from '../src/http/causes.js';

const messagesOf = (error: unknown) => causesOf(error).map(({ message }) => message);

it('a cause comes before what an error is made of', () => {
  const refused = new AggregateError(
    [new Error('::1'), new Error('127.0.0.1', { cause: new Error('deep') })],
    'both',
  );
  expect(messagesOf(new TypeError('fetch failed', { cause: refused }))).toEqual([
    'fetch failed',
    'both',
    '::1',
    '127.0.0.1',
    'deep',
  ]);
});

it('an error that causes itself is told once', () => {
  const error = new Error('round');
  error.cause = new Error('and round', { cause: error });
  expect(messagesOf(error)).toEqual(['round', 'and round']);
});

it.each([undefined, null, 'text', 7])('%s has none', (thrown) => {
  expect(causesOf(thrown)).toEqual([]);
});
