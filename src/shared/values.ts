/** Checks of arguments that all APIs share: option names, single values, lengths. */
import { InputError, type Where } from './errors.js';
import { didYouMean } from './names.js';

/**
 * A name: one of the known ones, which editors suggest, or another string, which the call checks. `{}` keeps the names from
 * becoming `string`.
 */
export type NameAmong<Known extends string> = Known | (string & {});

/** Checks that all options are known. @throws InputError `wrong_type` or `unknown_option`. */
export function checkOptions(what: string, options: unknown, known: readonly string[]): void {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw wrongType(what, 'an object', options, `Pass { ${known[0]}: ... }.`);
  }
  // Each step calls this function. Object.keys would allocate.
  for (const name in options) {
    if (known.includes(name) || !Object.hasOwn(options, name)) continue;
    throw new InputError('unknown_option', {
      expected: `${what} among ${known.join(', ')}`,
      got: `"${name}"`,
      remedy: didYouMean(name, known, ' Remove it.'),
      at: name,
    });
  }
}

/** Checks that all options are known, and returns a copy of them. @throws InputError `wrong_type` or `unknown_option`. */
export function readOptions<Options extends object>(
  what: string,
  options: Options,
  known: readonly (keyof Options & string)[],
): Options {
  checkOptions(what, options, known);
  return Object.fromEntries(known.map((name) => [name, options[name]])) as Options;
}

/** The maximum number of characters of a string that an error quotes. Chosen by hand, to keep errors short. */
const MAX_TEXT = 100;

/** Describes any value in an error message. */
export function describe(value: unknown): string {
  if (typeof value === 'string')
    return JSON.stringify(value.length > MAX_TEXT ? `${value.slice(0, MAX_TEXT)}...` : value);
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value === 'function') return 'a function';
  if (value === null || typeof value !== 'object') return String(value);
  if (Array.isArray(value)) return `an array of ${value.length}`;
  if (value instanceof DataView) return 'a DataView';
  return ArrayBuffer.isView(value) ? `a ${kindOf(value)}` : 'an object';
}

/** Returns the type of a typed array, such as 'Float32Array', and undefined for anything else. */
export const kindOf = (value: unknown): string | undefined =>
  ArrayBuffer.isView(value) && !(value instanceof DataView)
    ? (value as Uint8Array)[Symbol.toStringTag]
    : undefined;

/** Returns whether a value is a Float32Array. */
export const isFloats = (value: unknown): value is Float32Array => kindOf(value) === 'Float32Array';

/** Builds the error for a value of the wrong type. */
export const wrongType = (what: Where, expected: string, value: unknown, remedy: string): InputError =>
  new InputError('wrong_type', {
    expected: `${what} to be ${expected}`,
    got: describe(value),
    remedy,
    at: what,
  });

/** Validates an integer from `low` to `high`. @throws InputError `wrong_type` or `out_of_range`. */
export function checkInteger(what: Where, value: unknown, low: number, high: number): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= low && value <= high) return value;
  const code = typeof value === 'number' ? 'out_of_range' : 'wrong_type';
  throw new InputError(code, {
    expected: `${what} to be an integer from ${low} to ${high}`,
    got: describe(value),
    remedy: 'Pass an integer in that range.',
    at: what,
  });
}

/** Validates a finite number. @throws InputError `wrong_type` or `out_of_range`. */
export function checkFinite(what: Where, value: unknown): number {
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  const code = typeof value === 'number' ? 'out_of_range' : 'wrong_type';
  throw new InputError(code, {
    expected: `${what} to be a finite number`,
    got: describe(value),
    remedy: 'Pass a finite number.',
    at: what,
  });
}

/** Validates a name: any string. @throws InputError `wrong_type`. */
export function checkString(what: Where, value: unknown): string {
  if (typeof value === 'string') return value;
  throw wrongType(what, 'a name', value, 'Pass a string.');
}

/** Validates true or false. @throws InputError `wrong_type`. */
export function checkBoolean(what: Where, value: unknown): boolean {
  if (typeof value === 'boolean') return value;
  throw wrongType(what, 'true or false', value, 'Pass true or false.');
}

/** Validates an option that defaults to false. @throws InputError `wrong_type`. */
export const toFlag = (what: Where, value = false): boolean => checkBoolean(what, value);

/** Checks a length. @param unit says what the expected length counts, such as 'numEnvs'. @throws InputError `wrong_length`. */
export function checkLength(what: string, got: number, expected: number, unit: string): void {
  if (got === expected) return;
  throw new InputError('wrong_length', {
    expected: `${expected} ${what} (${unit})`,
    got: `${got}`,
    remedy: `Pass exactly ${expected}.`,
  });
}

/** Returns whether a value is an array or a typed array. */
export function isList(value: unknown): value is ArrayLike<number> {
  return Array.isArray(value) || kindOf(value) !== undefined;
}

/** Validates a name among several. @throws InputError `wrong_type` or `unknown_name`. */
export function checkName<Name extends string>(what: Where, value: unknown, names: readonly Name[]): Name {
  const name = checkString(what, value);
  if (names.includes(name as Name)) return name as Name;
  throw new InputError('unknown_name', {
    expected: `${what} to be one of ${names.join(', ')}`,
    got: describe(name),
    remedy: didYouMean(name, names),
    at: what,
  });
}

/** Validates that a value is an object and not a list. @param example a key for the error. @throws InputError `wrong_type`. */
export function checkRecord<T extends object>(what: Where, value: T, example: keyof T & string): T {
  if (typeof value === 'object' && value !== null && !isList(value)) return value;
  throw wrongType(what, 'an object', value, `Pass { ${example}: ... }.`);
}
