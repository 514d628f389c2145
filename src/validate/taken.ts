/** Arguments as they are when a call is made: for calls that wait for their turn, while callers go on with their arrays. */
import { kindOf, lengthOf } from './values.js';

const KINDS: Readonly<Record<string, new (entries: ArrayLike<never> | number) => ArrayLike<unknown>>> = {
  Int8Array,
  Uint8Array,
  Uint8ClampedArray,
  Int16Array,
  Uint16Array,
  Int32Array,
  Uint32Array,
  Float32Array,
  Float64Array,
  BigInt64Array,
  BigUint64Array,
};

/**
 * A copy of an array or a typed array, of what it is by its making; anything else as it is. Nothing is refused here.
 * @param most entries that any such argument has: longer ones will be refused by their length, and are not copied.
 */
export function taken<T>(value: T, most: number): T {
  const kind = kindOf(value);
  if (kind === undefined && !Array.isArray(value)) return value;
  const list = value as ArrayLike<never>;
  const length = lengthOf(list);
  if (length > most) return value;
  if (kind === undefined) return Array.from(list) as T;
  const Kind = KINDS[kind];
  // Memory that was transferred away cannot be copied from, and has no length.
  return (Kind === undefined ? value : new Kind(length === 0 ? 0 : list)) as T;
}

/** Options with copies of their arrays, each option read once. What is no object of options is left for its refusal. */
export function takenOptions<Options extends object>(
  options: Options,
  known: readonly (keyof Options & string)[],
  most: number,
): Options {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) return options;
  // Those that are not known are kept for their refusal; those of a class's instance may be no keys of it.
  const names = new Set<string>([...known, ...Object.keys(options)]);
  const values = Array.from(names, (name) => [name, taken(options[name as keyof Options], most)]);
  return Object.fromEntries(values) as Options;
}
