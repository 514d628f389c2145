/** Sends rows to /v1/score as typed arrays in a frame, and reads the frame of the answer. */
import type { RunningServer } from '../../src/server/server.js';
import { encodeFrame, type FrameArray } from '../../src/server/vec/frame.js';

const TYPES = { float32: Float32Array, int8: Int8Array, uint64: BigUint64Array } as const;

export interface FrameAnswer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: JSON, inspected by tests.
  readonly data: any;
  readonly arrays: Readonly<Record<string, ArrayLike<number | bigint>>>;
}

/** The arrays of a request, by name. An array without a shape has one dimension. */
export type FrameArrays = Readonly<Record<string, FrameArray | readonly [FrameArray, readonly number[]]>>;

/** Returns the bytes of a request. */
export const scoreFrame = (arrays: FrameArrays, data: object = {}, type = 'score'): Uint8Array<ArrayBuffer> =>
  encodeFrame(
    type,
    data,
    Object.entries(arrays).map(([name, each]) =>
      Array.isArray(each)
        ? { name, values: each[0], shape: each[1] }
        : { name, values: each as FrameArray, shape: [(each as FrameArray).length] },
    ),
  ) as Uint8Array<ArrayBuffer>;

/** Posts bytes to /v1/score. @returns the answer; after an error, `data` is its JSON. */
export async function postFrame(
  { url }: Pick<RunningServer, 'url'>,
  body: Uint8Array<ArrayBuffer>,
): Promise<FrameAnswer> {
  const headers = { 'content-type': 'application/octet-stream' };
  const response = await fetch(`${url}/v1/score`, { method: 'POST', headers, body });
  const bytes = await response.arrayBuffer();
  const { status } = response;
  if (status !== 200) {
    const data = JSON.parse(Buffer.from(bytes).toString());
    return { status, headers: response.headers, data, arrays: {} };
  }
  // A frame is the length of its header (u32), the header as JSON, and the arrays, each padded to a multiple of 8 bytes.
  let at = 4 + new DataView(bytes).getUint32(0, true);
  const header = JSON.parse(Buffer.from(bytes, 4, at - 4).toString());
  const arrays: Record<string, ArrayLike<number | bigint>> = {};
  for (const { name, dtype, shape } of header.arrays) {
    const Type = TYPES[dtype as keyof typeof TYPES];
    const length = shape.reduce((product: number, size: number) => product * size, 1);
    const values = new Type(bytes, at, length);
    arrays[name] = values;
    at += Math.ceil(values.byteLength / 8) * 8;
  }
  if (at !== bytes.byteLength) throw new Error(`Expected ${at} bytes, got ${bytes.byteLength}.`);
  return { status, headers: response.headers, data: header.data, arrays };
}
