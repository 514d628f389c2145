/** Checks that every door shares: options by name, single values, lengths. One copy for all faces. */
import { InputError } from '../errors.js';
import { didYouMean } from '../suggest.js';

/** Refuses options that are not known, by name. */
export function checkOptions(what: string, options: unknown, known: readonly string[]): void {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw wrongType(what, 'an object', options, `Pass { ${known[0]}: ... }.`);
  }
  // Not Object.keys, which allocates: this runs at every step.
  for (const name in options) {
    if (known.includes(name) || !Object.hasOwn(options, name)) continue;
    throw new InputError(
      'unknown_option',
      `Expected ${what} among ${known.join(', ')}, got "${name}".${didYouMean(name, known, ' Remove it.')}`,
    );
  }
}

/**
 * Known options by name, each read once: a getter may say something else the next time.
 * @throws InputError for options that are not known.
 */
export function readOptions<Options extends object>(
  what: string,
  options: Options,
  known: readonly (keyof Options & string)[],
): Options {
  checkOptions(what, options, known);
  return Object.fromEntries(known.map((name) => [name, options[name]])) as Options;
}

/** More of a name than this helps nobody. */
const MAX_TEXT = 100;

/** A value as an error shows it. */
export function describe(value: unknown): string {
  if (typeof value === 'string')
    return JSON.stringify(value.length > MAX_TEXT ? `${value.slice(0, MAX_TEXT)}...` : value);
  if (value === null || typeof value !== 'object') return String(value);
  if (Array.isArray(value)) return `an array of ${value.length}`;
  if (value instanceof DataView) return 'a DataView';
  return ArrayBuffer.isView(value) ? `a ${kindOf(value)}` : 'an object';
}

/** What every typed array can tell of itself, whatever properties of its own or another prototype say. */
export function typedArrayGetter<T>(name: string | symbol): (this: unknown) => T {
  const shared = Object.getPrototypeOf(Uint8Array.prototype);
  return Object.getOwnPropertyDescriptor(shared, name)?.get as (this: unknown) => T;
}

const typedArrayKind = typedArrayGetter<string | undefined>(Symbol.toStringTag);
const typedArrayLength = typedArrayGetter<number>('length');

/** What a typed array is by its making: 'Float32Array', ...; undefined for anything else. */
export const kindOf = (value: unknown): string | undefined => typedArrayKind.call(value);

/** How many entries a list has; a typed array that lost its memory has none. */
export const lengthOf = (list: ArrayLike<unknown>): number =>
  kindOf(list) === undefined ? list.length : typedArrayLength.call(list);

export const isFloats = (value: unknown): value is Float32Array => kindOf(value) === 'Float32Array';

/** The error for a value of another type than is expected. */
export const wrongType = (what: string, expected: string, value: unknown, remedy: string): InputError =>
  new InputError('wrong_type', `Expected ${what} to be ${expected}, got ${describe(value)}. ${remedy}`);

export function checkInteger(what: string, value: unknown, low: number, high: number): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= low && value <= high) return value;
  const code = typeof value === 'number' ? 'out_of_range' : 'wrong_type';
  throw new InputError(
    code,
    `Expected ${what} to be an integer from ${low} to ${high}, got ${describe(value)}. Pass one.`,
  );
}

export function checkFinite(what: string, value: unknown): number {
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  const code = typeof value === 'number' ? 'out_of_range' : 'wrong_type';
  throw new InputError(code, `Expected ${what} to be a finite number, got ${describe(value)}. Pass one.`);
}

export function checkString(what: string, value: unknown): string {
  if (typeof value === 'string') return value;
  throw wrongType(what, 'a name', value, 'Pass a string.');
}

export function checkBoolean(what: string, value: unknown): boolean {
  if (typeof value === 'boolean') return value;
  throw wrongType(what, 'true or false', value, 'Pass one.');
}

/** An option that is false where it is left out. @throws InputError `wrong_type`. */
export const toFlag = (what: string, value = false): boolean => checkBoolean(what, value);

/** @param unit what the expected number is: 'numEnvs', ... */
export function checkLength(what: string, got: number, expected: number, unit: string): void {
  if (got === expected) return;
  throw new InputError(
    'wrong_length',
    `Expected ${expected} ${what} (${unit}), got ${got}. Pass exactly ${expected}.`,
  );
}

/** An array or a typed array. Only its `lengthOf` and its entries may be read: its other properties may be anything. */
export function isList(value: unknown): value is ArrayLike<number> {
  return Array.isArray(value) || kindOf(value) !== undefined;
}

/** One of a few names. @throws InputError `wrong_type` or `unknown_name`. */
export function checkName<Name extends string>(what: string, value: unknown, names: readonly Name[]): Name {
  const name = checkString(what, value);
  if (names.includes(name as Name)) return name as Name;
  throw new InputError(
    'unknown_name',
    `Expected ${what} to be one of ${names.join(', ')}, got ${describe(name)}.${didYouMean(name, names)}`,
  );
}

/** What is read by the names of its arrays; what else it holds is ignored. @throws InputError `wrong_type`. */
export function checkRecord<T extends object>(what: string, value: T, example: keyof T & string): T {
  if (typeof value === 'object' && value !== null && !isList(value)) return value;
  throw wrongType(what, 'an object', value, `Pass { ${example}: ... }.`);
}
