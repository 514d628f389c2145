/**
 * Reads and writes safetensors (https://github.com/huggingface/safetensors): named arrays and a table of texts in one file. The
 * first eight bytes are the length of the header, a JSON object with the place of each array. The arrays follow without gaps.
 */
import { describe } from '../../shared/values.js';

/** The array types that are read and written, by their names in the file. All are little-endian. */
const TYPES = { F32: Float32Array, U32: Uint32Array, U8: Uint8Array } as const;
type TypeName = keyof typeof TYPES;
/** The numbers of an array. */
export type TensorData = Float32Array | Uint32Array | Uint8Array;

/** An array of a file, row-major. */
export interface Tensor {
  /** The lengths of the axes; their product is the length of the data. */
  readonly shape: readonly number[];
  readonly data: TensorData;
}

/** The contents of a file. */
export interface Tensors {
  readonly tensors: Readonly<Record<string, Tensor>>;
  /** Texts by name. */
  readonly metadata: Readonly<Record<string, string>>;
}

/** Thrown for bytes that `decodeTensors` cannot read. */
export class BadTensors extends Error {}

/** The number of bytes that hold the header's length. */
const PREFIX = 8;
const METADATA = '__metadata__';
/** The maximum length of a header: far above that of any file of this package. */
const MAX_HEADER = 2 ** 24;

/** Returns a file's bytes. The arrays are in the order of the object. */
export function encodeTensors({ tensors, metadata }: Tensors): Uint8Array {
  let end = 0;
  const entries = Object.entries(tensors).map(([name, { shape, data }]) => {
    const begin = end;
    end += data.byteLength;
    return [name, { dtype: typeOf(data), shape, data_offsets: [begin, end] }];
  });
  const text = JSON.stringify({ [METADATA]: metadata, ...Object.fromEntries(entries) });
  const json = new TextEncoder().encode(text);
  // Spaces after the JSON align the first array to eight bytes.
  const headerLength = PREFIX * Math.ceil(json.length / PREFIX);
  const bytes = new Uint8Array(PREFIX + headerLength + end).fill(0x20, PREFIX, PREFIX + headerLength);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(headerLength), true);
  bytes.set(json, PREFIX);
  let at = PREFIX + headerLength;
  for (const { data } of Object.values(tensors)) {
    bytes.set(new Uint8Array(data.buffer, data.byteOffset, data.byteLength), at);
    at += data.byteLength;
  }
  return bytes;
}

/**
 * Reads a file's bytes. The header must list the arrays in the order of their data. The arrays are copies.
 * @throws BadTensors "Expected ..., got ...".
 */
export function decodeTensors(bytes: Uint8Array): Tensors {
  const data = bytes.subarray(endOfHeader(bytes));
  const header = parseHeader(bytes);
  const { [METADATA]: metadata = {}, ...entries } = header;
  if (!isRecord(metadata) || Object.values(metadata).some((text) => typeof text !== 'string'))
    refuse('texts in the metadata', describe(metadata));
  let end = 0;
  const tensors = Object.fromEntries(
    Object.entries(entries).map(([name, entry]) => {
      const tensor = readTensor(name, entry, data, end);
      end += tensor.data.byteLength;
      return [name, tensor];
    }),
  );
  if (end !== data.length) refuse(`${end} bytes after the header`, `${data.length}`);
  return { tensors, metadata: metadata as Record<string, string> };
}

const refuse = (expected: string, got: string): never => {
  throw new BadTensors(`Expected ${expected}, got ${got}.`);
};

function endOfHeader(bytes: Uint8Array): number {
  if (bytes.length < PREFIX) refuse('at least eight bytes', `${bytes.length}`);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const length = view.getBigUint64(0, true);
  if (length > MAX_HEADER) refuse('a header of at most 16 MiB', `${length} bytes`);
  const end = PREFIX + Number(length);
  if (end > bytes.length) refuse(`a header of ${length} bytes`, `a file of ${bytes.length}`);
  return end;
}

function parseHeader(bytes: Uint8Array): Record<string, unknown> {
  let header: unknown;
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes.subarray(PREFIX, endOfHeader(bytes)));
    header = JSON.parse(text);
  } catch {
    refuse('a header of JSON', 'other bytes');
  }
  if (!isRecord(header)) refuse('an object as the header', describe(header));
  return header as Record<string, unknown>;
}

/** Returns an array of the file. @param begin where it must begin in the data. */
function readTensor(name: string, entry: unknown, data: Uint8Array, begin: number): Tensor {
  const { dtype, shape, data_offsets: offsets } = (entry ?? {}) as Record<string, unknown>;
  const what = `tensor ${describe(name)}`;
  if (typeof dtype !== 'string' || !Object.hasOwn(TYPES, dtype))
    refuse(`${what} to be of ${Object.keys(TYPES).join(', ')}`, describe(dtype));
  if (!isShape(shape)) return refuse(`${what} to have a shape`, describe(shape));
  const Type = TYPES[dtype as TypeName];
  const size = shape.reduce((product, length) => product * length, 1);
  const end = begin + size * Type.BYTES_PER_ELEMENT;
  if (!Array.isArray(offsets) || offsets[0] !== begin || offsets[1] !== end || end > data.length)
    refuse(`${what} at bytes ${begin} to ${end} of ${data.length}`, JSON.stringify(offsets));
  return { shape, data: new Type(new Uint8Array(data.subarray(begin, end)).buffer) };
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The limit of 2^31 is far above the length of any axis in the files of this package. */
const isShape = (value: unknown): value is number[] =>
  Array.isArray(value) &&
  value.every((length) => Number.isInteger(length) && length >= 0 && length <= 2 ** 31);

const typeOf = (data: TensorData): TypeName =>
  (Object.keys(TYPES) as TypeName[]).find((name) => data instanceof TYPES[name])!;
