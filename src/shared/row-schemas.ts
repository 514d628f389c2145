/** Schemas for rows of JSON lines. Their errors say what was expected and what came. */
import { z } from 'zod';
import { didYouMean, isPrintable, PRINTABLE } from './names.js';
import { got, notAnObject, unknownKeys } from './schemas.js';

export { notAnObject, unknownKeys };

/** The error of an invalid line. */
export class BadRow extends Error {}

const suggestion = (value: unknown, known: readonly string[]): string =>
  typeof value === 'string' && known.length > 0 ? didYouMean(value, known, '') : '';

/** Returns whether a value is an integer from 0 to 2^32 - 1. */
export const isU32 = (value: unknown): boolean => typeof value === 'number' && value >>> 0 === value;

/**
 * A schema of values that pass `test`. The error states what was expected and what came.
 * @param known names of which the error suggests the nearest.
 */
export const expect = <T>(
  expected: string,
  test: (value: unknown) => boolean,
  known: readonly string[] = [],
) =>
  z.custom<T>(test, {
    error: ({ input }) => `Expected ${expected}, ${got(input)}${suggestion(input, known)}`,
  });

/** A schema of one of several names. The error suggests the nearest. */
export const oneOf = <T extends string>(names: readonly string[]) =>
  expect<T>(`one of ${names.join(', ')}`, (value) => names.includes(value as string), names);

/** A schema of names that a terminal can show. */
export const printableName = expect<string>(`a name of ${PRINTABLE}`, isPrintable);

/** A schema of true and false. */
export const flag = expect<boolean>('true or false', (value) => typeof value === 'boolean');

/** A schema of lists. @param expected the list in words, for the error. */
export const list = <T extends z.ZodType>(entry: T, expected: string) =>
  z.array(entry, { error: ({ input }) => `Expected ${expected}, ${got(input)}` });

/** A schema of strings. @param expected the string in words, for the error. */
export const text = (expected: string) => expect<string>(expected, (value) => typeof value === 'string');

/** A schema of objects with these keys. Other keys are ignored. */
export const object = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.object(shape, { error: ({ input }) => notAnObject(input, Object.keys(shape)) });

/** Parses a line of JSON. @throws BadRow for invalid JSON. */
export function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch (error) {
    throw new BadRow(`Expected one JSON object, got invalid JSON: ${(error as Error).message}.`);
  }
}

/** Returns a value parsed by a schema. @throws BadRow that states where, what was expected and what came. */
export function conform<T extends z.ZodType>(schema: T, value: unknown): z.output<T> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const { path, message } = parsed.error.issues[0];
  const where = path
    .map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`))
    .join('')
    .slice(1);
  throw new BadRow(where === '' ? message : `${where}: ${message}`);
}
