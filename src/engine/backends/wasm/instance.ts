/** Compiles the WebAssembly build of native/ (native/wasm.cc), and gives each batch an instance and a memory of its own. */
import { layoutDigest } from '../../../world/digest.js';
import type { Place } from '../backend.js';
import { BINARY } from './generated/binary.js';

/** Bytes of a page of memory, and the most pages: 4 GiB. */
const PAGE = 65_536;
const MAX_PAGES = 65_536;
/** Pages that hold the stack and the data of the binary. */
const FEWEST_PAGES = 8;
/** Bytes for the arguments of a call: for each environment at least those of a reset with all its arrays; at least 1 MiB. */
const STAGE_PER_ENV = 192;
const SMALLEST_STAGE = 2 ** 20;

/** An address in the memory; 0 for an absent array. */
export type Address = number;

/** The functions of native/wasm.cc, which explains them. Addresses and numbers are integers of 32 bits. */
export interface Exports {
  _initialize(): void;
  layoutDigest(): Address;
  replayRows(): number;
  heapStart(): Address;
  heapBytes(numEnvs: number): number;
  open(...args: number[]): Address;
  reset(...args: number[]): void;
  step(actions: Address): Address;
  step(...args: number[]): Address;
  run(...args: number[]): void;
  copied(): void;
  loaded(keepsOutputs: number): void;
  hash(hashes: Address): void;
  targets(targets: Address): void;
  replay(...args: number[]): void;
}

// The types of this package are without those of browsers, which declare WebAssembly.
interface Memory {
  readonly buffer: ArrayBuffer;
}
interface Api {
  Module: new (bytes: Uint8Array) => object;
  Memory: new (pages: { initial: number; maximum: number }) => Memory;
  Instance: new (module: object, imports: { env: { memory: Memory } }) => { readonly exports: unknown };
}
const { WebAssembly } = globalThis as unknown as { WebAssembly: Api };

let compiled: object | undefined;
let sizes: Exports | undefined;
/** The memories by buffer. */
const placed = new WeakMap<ArrayBufferLike, Memory>();

/**
 * Gives the backend `wasm` a compiled module, for edge runtimes that compile no WebAssembly at run time. Elsewhere the package
 * compiles its own copy. Call it before the first environment is opened.
 * @param module a `WebAssembly.Module`: what an edge runtime imports `rhythm-vec/rhythm.wasm` as.
 */
export function useWasmModule(module: object): void {
  compiled = module;
  sizes = undefined;
}

function instantiate(memory: Memory): Exports {
  compiled ??= new WebAssembly.Module(Uint8Array.from(atob(BINARY), (character) => character.charCodeAt(0)));
  const exports = new WebAssembly.Instance(compiled, { env: { memory } }).exports as Exports;
  exports._initialize();
  return exports;
}

/**
 * Returns an instance without a batch, which tells sizes.
 * @throws Error if this runtime compiles no WebAssembly with SIMD, or the binary was built for another layout.
 */
export function requireSizes(): Exports {
  if (sizes !== undefined) return sizes;
  const memory = new WebAssembly.Memory({ initial: FEWEST_PAGES, maximum: FEWEST_PAGES });
  const exports = instantiate(memory);
  const expected = layoutDigest();
  const digest = new Uint8Array(memory.buffer, exports.layoutDigest(), expected.length);
  if (String.fromCharCode(...digest) !== expected) throw new Error('It was built for another layout.');
  sizes = exports;
  return exports;
}

const stageBytes = (numEnvs: number): number => Math.max(SMALLEST_STAGE, STAGE_PER_ENV * numEnvs);

/** Implements `Backend.placeOutputs`: allocates the memory of a batch. The outputs are at its end. @throws RangeError. */
export function placeOutputs(bytes: number, numEnvs: number): Place {
  const { heapStart, heapBytes } = requireSizes();
  // Functions of WebAssembly return signed integers.
  const heap = heapStart() + (heapBytes(numEnvs) >>> 0);
  const pages = Math.ceil((heap + stageBytes(numEnvs) + bytes) / PAGE);
  if (pages > MAX_PAGES) throw new RangeError('A memory of WebAssembly has at most 4 GiB.');
  const memory = new WebAssembly.Memory({ initial: pages, maximum: pages });
  placed.set(memory.buffer, memory);
  return { buffer: memory.buffer, offset: pages * PAGE - bytes };
}

/** The instance of a batch. */
export interface BatchInstance {
  readonly buffer: ArrayBuffer;
  readonly exports: Exports;
  /** Where the arguments of a call begin, and how many bytes they may have. */
  readonly stage: Address;
  readonly stageBytes: number;
}

/**
 * Returns an instance whose memory is that of outputs that `placeOutputs` has placed. It replaces an earlier one, for
 * `AsyncVecEnv.reopen`.
 */
export function openInstance(buffer: ArrayBufferLike, numEnvs: number): BatchInstance {
  const memory = placed.get(buffer);
  if (memory === undefined)
    throw new TypeError('Expected outputs in a memory that placeOutputs has allocated.');
  const exports = instantiate(memory);
  const stage = exports.heapStart() + exports.heapBytes(numEnvs);
  return { buffer: memory.buffer, exports, stage, stageBytes: stageBytes(numEnvs) };
}
