/** Compiles the WebAssembly build of native/ (native/wasm.cc), and gives each batch an instance and a memory of its own. */
import { BackendError, InputError } from '../../../shared/errors.js';
import { describe } from '../../../shared/values.js';
import { layoutDigest } from '../../../world/block.js';
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
  encode(...args: number[]): void;
  pushHistory(...args: number[]): void;
  stackRewards(...args: number[]): void;
  observe(...args: number[]): number;
  forward(...args: number[]): void;
}

// The types of this package are without those of browsers, which declare WebAssembly.
interface Memory {
  readonly buffer: ArrayBuffer;
}
interface Api {
  Module: { new (bytes: Uint8Array): WasmModule; exports(module: unknown): unknown };
  Memory: new (pages: { initial: number; maximum: number }) => Memory;
  Instance: new (module: WasmModule, imports: { env: { memory: Memory } }) => { readonly exports: unknown };
}
const { WebAssembly } = globalThis as unknown as { WebAssembly?: Api };

/**
 * A `WebAssembly.Module`, which types without those of browsers do not have. The absent properties are those of bytes, names,
 * functions, instances, namespaces and promises.
 */
export interface WasmModule {
  readonly byteLength?: never;
  readonly length?: never;
  readonly exports?: never;
  readonly default?: never;
  readonly then?: never;
}

let compiled: WasmModule | undefined;
let sizes: Exports | undefined;
/** The memories by buffer. */
const placed = new WeakMap<ArrayBufferLike, Memory>();

/**
 * Gives the backend `wasm` a compiled module, for edge runtimes that compile no WebAssembly at run time. Other runtimes compile
 * the package's own copy, and need no call. Call it before the first environment is opened.
 * @param module a `WebAssembly.Module`: what an edge runtime imports `rhythm-vec/rhythm.wasm` as.
 * @throws InputError `wrong_type` for anything else, also for another module; BackendError `out_of_memory`.
 */
export function useWasmModule(module: WasmModule): void {
  if (!isModule(module)) throw notTheModule(kindOfImport(module));
  try {
    sizes = sizesOf(module);
  } catch (cause) {
    if (cause instanceof BackendError) throw cause;
    throw notTheModule(`another module (${(cause as Error).message})`, cause);
  }
  compiled = module;
}

/** Returns whether a value is a compiled module. `instanceof` would refuse the modules of other realms. */
function isModule(value: unknown): boolean {
  try {
    WebAssembly!.Module.exports(value);
    return true;
  } catch {
    return false;
  }
}

/** Describes what tools import a file as, instead of a module. */
function kindOfImport(value: unknown): string {
  if (typeof value === 'string') return `${describe(value)}, as tools import the name of a file`;
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer)
    return 'bytes, which new WebAssembly.Module(bytes) compiles';
  const { then, exports, default: inner } = Object(value) as Record<keyof WasmModule, unknown>;
  if (typeof then === 'function') return 'a promise: await it';
  if (typeof exports === 'object') return 'an instance of a module';
  if (isModule(inner)) return 'a namespace, whose default export is the module';
  return describe(value);
}

const notTheModule = (got: string, cause?: unknown): InputError =>
  new InputError(
    'wrong_type',
    {
      expected: "the WebAssembly.Module of this version's rhythm-vec/rhythm.wasm",
      got,
      remedy:
        'Pass what an edge runtime imports that file as. Node, Bun, Deno and browsers need no useWasmModule.',
    },
    { cause },
  );

function compile(): WasmModule {
  if (WebAssembly === undefined) throw new Error('it has no WebAssembly, as Node with --jitless.');
  const bytes = Uint8Array.from(atob(BINARY), (character) => character.charCodeAt(0));
  try {
    return new WebAssembly.Module(bytes);
  } catch (cause) {
    throw new Error(
      `${(cause as Error).message}. Edge runtimes need useWasmModule, pages with a content security policy 'wasm-unsafe-eval'.`,
      { cause },
    );
  }
}

/** @throws BackendError `out_of_memory`. */
function allocate(pages: number): Memory {
  try {
    return new WebAssembly!.Memory({ initial: pages, maximum: pages });
  } catch (cause) {
    throw new BackendError(
      'out_of_memory',
      `Expected ${Math.ceil((pages * PAGE) / 2 ** 20)} MiB of memory for WebAssembly, got none (${(cause as Error).message}). V8 reserves ` +
        '10 GiB of addresses for each open environment, and a page has 1 TiB. Close other environments, lower numEnvs, raise the ' +
        'limit of virtual memory (ulimit -v), or run Node with --disable-wasm-trap-handler, which reserves only what is used.',
      { cause },
    );
  }
}

function instantiate(module: WasmModule, memory: Memory): Exports {
  const exports = new WebAssembly!.Instance(module, { env: { memory } }).exports as Exports;
  exports._initialize();
  return exports;
}

/** Returns an instance without a batch. @throws Error for another module, or a binary that was built for another layout. */
function sizesOf(module: WasmModule): Exports {
  const memory = allocate(FEWEST_PAGES);
  const exports = instantiate(module, memory);
  const expected = layoutDigest();
  const digest = new Uint8Array(memory.buffer, exports.layoutDigest(), expected.length);
  if (String.fromCharCode(...digest) !== expected) throw new Error('It was built for another layout.');
  return exports;
}

/**
 * Returns an instance without a batch, which tells sizes.
 * @throws Error if this runtime compiles no WebAssembly with SIMD, or the binary was built for another layout; BackendError
 *   `out_of_memory`.
 */
export function requireSizes(): Exports {
  compiled ??= compile();
  sizes ??= sizesOf(compiled);
  return sizes;
}

const stageBytes = (numEnvs: number): number => Math.max(SMALLEST_STAGE, STAGE_PER_ENV * numEnvs);

/** Implements `Backend.placeOutputs`: allocates the memory of a batch. The outputs are at its end. @throws RangeError; BackendError. */
export function placeOutputs(bytes: number, numEnvs: number): Place {
  const { heapStart, heapBytes } = requireSizes();
  // Functions of WebAssembly return signed integers.
  const heap = heapStart() + (heapBytes(numEnvs) >>> 0);
  const pages = Math.ceil((heap + stageBytes(numEnvs) + bytes) / PAGE);
  if (pages > MAX_PAGES) throw new RangeError('A memory of WebAssembly has at most 4 GiB.');
  const memory = allocate(pages);
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
  const exports = instantiate(compiled!, memory);
  const stage = exports.heapStart() + exports.heapBytes(numEnvs);
  return { buffer: memory.buffer, exports, stage, stageBytes: stageBytes(numEnvs) };
}
