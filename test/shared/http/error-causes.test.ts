/** causesOf: the order of causes, cycles, and values that are not errors. */
import { expect, it } from 'vitest';
import { causesOf } from '../../../src/shared/http/error-texts.js';

const messagesOf = (error: unknown) => causesOf(error).map(({ message }) => message);

it('causesOf lists an error, its cause, and the members of an AggregateError with their causes, each once', () => {
  const error = new Error('third');
  const refused = new AggregateError([new Error('second', { cause: error }), new Error('fourth')], 'first');
  error.cause = refused;
  expect(messagesOf(new TypeError('zeroth', { cause: refused }))).toEqual([
    'zeroth',
    'first',
    'second',
    'third',
    'fourth',
  ]);
  for (const thrown of [undefined, null, 'text', 7]) expect(causesOf(thrown)).toEqual([]);
});
