/** causesOf: the order of causes, cycles, and values that are not errors. */
import { expect, it } from 'vitest';
import { causesOf } from '../../../src/shared/http/error-causes.js';

const messagesOf = (error: unknown) => causesOf(error).map(({ message }) => message);

it('causesOf lists an error, its cause, and the members of an AggregateError with their causes, in this order', () => {
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

it('causesOf lists each error of a cycle of causes once', () => {
  const error = new Error('first');
  error.cause = new Error('second', { cause: error });
  expect(messagesOf(error)).toEqual(['first', 'second']);
});

it.each([undefined, null, 'text', 7])('causesOf finds no causes of %s', (thrown) => {
  expect(causesOf(thrown)).toEqual([]);
});
