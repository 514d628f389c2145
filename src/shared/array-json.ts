/** Typed arrays (u8, f32 and f64) in JSON, exact to the bit: base64 of their little-endian bytes. */

const ARRAYS = { u8: Uint8Array, f32: Float32Array, f64: Float64Array };

/** Returns a value for JSON, with an object `{type, data}` in place of each array of these types. */
export function encodeArrays(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(encodeArrays);
  if (typeof value !== 'object' || value === null) return value;
  for (const [type, Class] of Object.entries(ARRAYS)) {
    if (!(value instanceof Class)) continue;
    return { type, data: Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64') };
  }
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, encodeArrays(each)]));
}

/** Returns the value that `encodeArrays` encoded. */
export function decodeArrays(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(decodeArrays);
  if (typeof value !== 'object' || value === null) return value;
  const { type, data } = value as { type?: keyof typeof ARRAYS; data?: string };
  if (type !== undefined && data !== undefined)
    return new ARRAYS[type](new Uint8Array(Buffer.from(data, 'base64')).buffer);
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, decodeArrays(each)]));
}
