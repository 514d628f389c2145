/** Replaces src/engine/backends/wasm/generated/binary.ts, the engine in base64: workers load it as a file (./wasm.ts). */
export const BINARY = '';
