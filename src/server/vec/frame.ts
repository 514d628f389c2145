/**
 * Encodes and decodes binary frames, which docs/server.md describes: the length of a JSON header (u32); the header, padded
 * with spaces; then the arrays that the header lists, each padded with zeros. Numbers are little-endian. The header and each
 * array end at a multiple of eight bytes.
 */
import { z } from 'zod';
import { InputError } from '../../shared/errors.js';
import { describe, kindOf } from '../../shared/values.js';
import { NUM_BELIEFS } from '../../world/fields.js';
import { type KnownBytes, SLICE } from '../http/json-response.js';
import { hasTooManyValues, MAX_VALUES } from '../protocol/json.js';

/** The classes of arrays, by type. */
const ARRAY_CLASSES = {
  float32: Float32Array,
  uint32: Uint32Array,
  int32: Int32Array,
  uint8: Uint8Array,
  int8: Int8Array,
} as const;
type Dtype = keyof typeof ARRAY_CLASSES;
export type FrameArray = Float32Array | Uint32Array | Int32Array | Uint8Array | Int8Array;

const DTYPES = Object.keys(ARRAY_CLASSES) as Dtype[];
/** The header and each array end at a multiple of this many bytes. */
const ALIGNMENT = 8;
/** The number of bytes of the header's length, which begins a frame. */
const PREFIX = 4;
/** The maximum number of arrays in a message, chosen by hand. A body of /v1/score has at most nine. */
const MAX_ARRAYS = 16;
/** The maximum number of dimensions of an array: `belief_histories` of /v1/score has three. */
const MAX_DIMENSIONS = 3;
/** The maximum size of the header and its length together, in bytes: parsing more JSON would delay other clients. */
const MAX_HEADER = 2 ** 20;

/** Returns a list schema that checks the length first, because each invalid entry would give an error of its own. */
export const atMost = <Entry extends z.ZodType>(max: number, entry: Entry) =>
  z.array(z.unknown()).max(max).pipe(z.array(entry));

const HEADER = z.looseObject({
  type: z.string(),
  data: z.unknown(),
  arrays: atMost(
    MAX_ARRAYS,
    z.looseObject({
      name: z.string(),
      dtype: z.enum(DTYPES),
      shape: atMost(MAX_DIMENSIONS, z.int().min(0)),
    }),
  ),
});

/** A message with arrays. */
export interface Frame {
  readonly type: string;
  readonly data: unknown;
  readonly arrays: Readonly<Record<string, FrameArray>>;
  /** Shapes by the arrays' names. */
  readonly shapes: Readonly<Record<string, readonly number[]>>;
}

/** An array of an answer, with its shape. Requests have no 64-bit numbers. */
export interface Shaped {
  readonly name: string;
  readonly values: FrameArray | BigUint64Array;
  readonly shape: readonly number[];
}

/** Returns NumPy's name of an array's type. */
export const dtypeOf = (values: FrameArray | BigUint64Array): string =>
  kindOf(values)!
    .replace(/^Big|Array$/g, '')
    .toLowerCase();

/** Rounds a number of bytes up to a multiple of eight. */
const aligned = (bytes: number): number => Math.ceil(bytes / ALIGNMENT) * ALIGNMENT;

/** Returns the part of a frame before its arrays: the length of the header, and the header. */
function encodeHead(type: string, data: object, arrays: readonly Shaped[]): Buffer {
  const specs = arrays.map(({ name, values, shape }) => ({ name, dtype: dtypeOf(values), shape }));
  const header = Buffer.from(JSON.stringify({ type, data, arrays: specs }));
  const start = aligned(PREFIX + header.length);
  const bytes = Buffer.alloc(start, ' ');
  bytes.writeUInt32LE(start - PREFIX);
  bytes.set(header, PREFIX);
  return bytes;
}

const bytesOf = ({ buffer, byteOffset, byteLength }: Shaped['values']): Uint8Array =>
  new Uint8Array(buffer as ArrayBuffer, byteOffset, byteLength);

const paddingOf = ({ byteLength }: Shaped['values']): Uint8Array =>
  new Uint8Array(aligned(byteLength) - byteLength);

/** Returns a frame with copies of the arrays. */
export const encodeFrame = (type: string, data: object, arrays: readonly Shaped[]): Uint8Array =>
  Buffer.concat([
    encodeHead(type, data, arrays),
    ...arrays.flatMap(({ values }) => [bytesOf(values), paddingOf(values)]),
  ]);

/** Returns the pieces of a frame, which are views of the arrays. @param turn awaited before each slice of an array. */
export function framePieces(
  type: string,
  data: object,
  arrays: readonly Shaped[],
  turn: () => Promise<void>,
): KnownBytes {
  const head = encodeHead(type, data, arrays);
  const length = arrays.reduce((sum, { values }) => sum + aligned(values.byteLength), head.length);
  const pieces = (async function* () {
    yield head;
    for (const { values } of arrays) {
      for (let from = 0; from < values.length; from += SLICE) {
        if (from > 0) await turn();
        yield bytesOf(values.subarray(from, from + SLICE));
      }
      if (values.byteLength % ALIGNMENT > 0) yield paddingOf(values);
    }
  })();
  return { length, pieces };
}

/** How a frame is read. */
interface DecodeOptions {
  /** The number of environments, which limits the entries of lists in the header. Default 0. */
  readonly envs?: number;
  /** Whether arrays are views of the bytes, which must begin at a multiple of eight bytes. Default: they are copies. */
  readonly isShared?: boolean;
}

/** Parses a frame. @throws InputError `wrong_length` or `wrong_type`. */
export function decodeFrame(bytes: Buffer, { envs = 0, isShared = false }: DecodeOptions = {}): Frame {
  const start = bytes.length < PREFIX ? Number.POSITIVE_INFINITY : PREFIX + bytes.readUInt32LE();
  if (start > Math.min(bytes.length, MAX_HEADER) || start % ALIGNMENT !== 0) {
    throw invalidFrame(
      'wrong_length',
      `a header that ends within the frame, within its first ${MAX_HEADER} bytes and at a multiple of ${ALIGNMENT} bytes`,
      `${bytes.length} bytes`,
    );
  }
  const { type, data, arrays } = readHeader(bytes.subarray(PREFIX, start), envs);
  const decoded: Record<string, FrameArray> = {};
  let at = start;
  for (const { name, dtype, shape } of arrays) {
    if (Object.hasOwn(decoded, name))
      throw invalidFrame('wrong_type', 'each array once', `${describe(name)} again`);
    const length = shape.reduce((product, size) => product * size, 1);
    const size = length * ARRAY_CLASSES[dtype].BYTES_PER_ELEMENT;
    if (at + size > bytes.length)
      throw invalidFrame('wrong_length', `${size} bytes of ${name}`, `${bytes.length - at}`);
    const part = bytes.subarray(at, at + size);
    const { buffer, byteOffset } = isShared ? part : new Uint8Array(part);
    decoded[name] = new ARRAY_CLASSES[dtype](buffer as ArrayBuffer, byteOffset, length);
    at += aligned(size);
  }
  if (at !== bytes.length) throw invalidFrame('wrong_length', `${at} bytes in all`, `${bytes.length}`);
  const shapes = Object.fromEntries(arrays.map(({ name, shape }) => [name, shape]));
  return { type, data, arrays: decoded, shapes };
}

function readHeader(bytes: Buffer, envs: number): z.output<typeof HEADER> {
  try {
    return HEADER.parse(parseJson(bytes, envs));
  } catch (error) {
    if (error instanceof z.ZodError) {
      const [{ path, message }] = error.issues;
      const got = `${message} at ${path.join('.') || 'the header'}`;
      throw invalidFrame('wrong_type', 'a header with type and arrays', got);
    }
    if (error instanceof SyntaxError) throw invalidFrame('wrong_type', 'a header of JSON', error.message);
    throw error;
  }
}

/** The entries for each environment beside MAX_VALUES (json.ts): an action, three of a belief, one of a mask. */
const ENTRIES = NUM_BELIEFS + 2;

/**
 * Parses the JSON of a message. @param envs the number of environments.
 * @throws SyntaxError, or InputError `wrong_length` for more values than a message for so many environments can have.
 */
export function parseJson(json: Buffer, envs: number): unknown {
  if (!hasTooManyValues(json, ENTRIES * envs)) return JSON.parse(json.toString());
  const values = `${MAX_VALUES} lists, objects, keys and entries in a message`;
  throw new InputError('wrong_length', {
    expected: `at most ${values}, and ${ENTRIES} entries for each of ${envs} environments`,
    got: 'more',
    remedy: 'Send flat lists, one entry per environment.',
  });
}

const invalidFrame = (code: 'wrong_length' | 'wrong_type', what: string, got: string): InputError => {
  const expected = `a binary frame with ${what}`;
  return new InputError(code, { expected, got, remedy: 'See "Binary frames" in docs/server.md.' });
};
