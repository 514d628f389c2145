/** Messages about invalid values in JSON, for code that must not load a schema library. */
import { didYouMean } from './suggest.js';
import { describe } from './values.js';

/** Returns the end of a message: what came. */
export const got = (value: unknown): string =>
  value === undefined ? 'got none.' : `got ${describe(value)}.`;

/** Returns the message for a value that is not an object. @param keys the keys of the expected object. */
export const notAnObject = (value: unknown, keys: readonly string[]): string =>
  `Expected an object with the keys ${keys.join(', ')}, ${got(value)}`;

/** Returns the message for unknown keys, which names the first. @param keys the known keys. */
export const unknownKeys = (unknown: readonly string[], keys: readonly string[]): string =>
  `Expected no keys but ${keys.join(', ')}; got ${describe(unknown[0])}.${didYouMean(unknown[0], keys, ' Remove it.')}`;
