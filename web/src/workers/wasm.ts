/** Loads the WebAssembly build of the engine, a file of its own, into a worker. */
import url from '../../../lib/rhythm.wasm?url';
import { useWasmModule } from '../../../src/engine/backends/wasm/instance.js';

let loading: Promise<void> | null = null;

/** Loads the file once. Without it, or without SIMD in WebAssembly, the reference computes, which gives the same bits. */
export function loadWasm(): Promise<void> {
  loading ??= load().catch(() => {});
  return loading;
}

/** Some servers send the file with a type that `compileStreaming` refuses. */
async function load(): Promise<void> {
  const response = await fetch(url);
  useWasmModule(await WebAssembly.compile(await response.arrayBuffer()));
}
