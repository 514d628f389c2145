/// <reference types="@webgpu/types" />
/** The memory of a batch, and launches of kernels over ranges of its slots, shard by shard. */
import { InputError } from '../../errors.js';
import type { GpuDevice } from './device.js';
import { encodeLaunch, type Launch, SHOWN_WORDS, WORD } from './layout.js';
import { Memory } from './memory.js';
import type { KernelName, Program } from './program.js';
import { type Piece, Readback } from './readback.js';
import { bytesPerSlot, type Parts, RequestBuffer } from './request.js';
import { SCRATCH_BYTES, Scratch } from './scratch.js';
import { destroyShards, openShards, type Shard, slotsOfShard } from './shard.js';
import { USAGE } from './usage.js';

export interface LauncherOptions {
  readonly numEnvs: number;
  /** The world's block. */
  readonly words: Uint32Array;
  /** At most; null for as many as can be bound. */
  readonly slotsOfShard: number | null;
  readonly keepsFinal: boolean;
  readonly inColumns: boolean;
  /** What the streams of luck and events are changed by. */
  readonly imagination: number;
}

/** What a kernel that writes rows of results is launched with. */
interface Work {
  readonly parts?: Parts;
  readonly fields?: Launch;
  readonly first?: number;
  readonly end?: number;
}

/** Slots of one shard that one launch takes. */
interface Cut {
  readonly shard: Shard;
  /** The first of them, of the batch. */
  readonly at: number;
  /** The same of the shard, how many, and where their part of the request is. */
  readonly range: Launch & { readonly count: number };
}

/** Takes rows of results of slots from `first` on: words of each row after those of the one before. */
export type TakeRows = (rows: Uint32Array, first: number, count: number) => void;

export class Launcher {
  readonly shards: readonly Shard[];
  readonly #gpu: GpuDevice;
  readonly #memory: Memory;
  readonly #program: Program;
  readonly #options: LauncherOptions;
  readonly #uniform: GPUBuffer;
  readonly #world: GPUBuffer;
  readonly #request: RequestBuffer;
  readonly #sink: Scratch;
  readonly #readback: Readback;
  readonly #groups = new Map<Shard, { request: GPUBuffer; sink: GPUBuffer; group: GPUBindGroup }>();
  /** Where a batch's own slots are kept while it gathers from itself. */
  #spare: Shard[] | null = null;
  /** The last look: the next waits for it, since both use the same scratch memory. */
  #looking: Promise<unknown> = Promise.resolve();

  constructor(program: Program, options: LauncherOptions) {
    const { gpu, workgroupSize } = program;
    const { numEnvs, words, keepsFinal } = options;
    const memory = new Memory(gpu);
    this.#gpu = gpu;
    this.#memory = memory;
    this.#program = program;
    this.#options = options;
    const most = options.slotsOfShard ?? slotsOfShard(gpu, SHOWN_WORDS.all, workgroupSize);
    this.shards = openShards(memory, numEnvs, keepsFinal, most);
    const launch = encodeLaunch({});
    this.#uniform = memory.buffer('launch', launch.byteLength, USAGE.uniform | USAGE.copyTarget);
    this.#world = memory.buffer('world', words.byteLength, USAGE.storage | USAGE.copyTarget);
    gpu.queue.writeBuffer(this.#world, 0, words.slice());
    this.#request = new RequestBuffer(memory);
    this.#sink = new Scratch(memory, 'results', USAGE.storage | USAGE.copySource);
    this.#readback = new Readback(memory);
  }

  /** How many rows of `bytes` each one launch may write. */
  rowsOfSink(bytes: number): number {
    return Math.max(1, Math.floor(SCRATCH_BYTES / bytes));
  }

  /** Launches a kernel over slots `first` to before `end`, as often as shards and scratch memory want. */
  launch(
    kernel: KernelName,
    parts: Parts = {},
    fields: Launch = {},
    first = 0,
    end = this.#options.numEnvs,
  ): void {
    for (const { shard, range } of this.#cuts(parts, first, end)) {
      this.#dispatch(kernel, shard, { ...fields, ...range });
    }
  }

  /**
   * Slots `first` to before `end`, cut where shards and scratch memory end. The request of a cut is there until the next
   * one is asked for.
   * @param bytes that a slot has in other scratch memory.
   */
  *#cuts(parts: Parts, first: number, end: number, bytes = 1): Generator<Cut> {
    const most = this.rowsOfSink(Math.max(bytesPerSlot(parts), bytes));
    for (const shard of this.shards) {
      const last = Math.min(end, shard.first + shard.count);
      for (let at = Math.max(first, shard.first); at < last; at += most) {
        // The batch may have been closed since the last cut.
        this.#memory.check();
        const count = Math.min(most, last - at);
        const places = this.#request.put(parts, at, count);
        yield { shard, at, range: { ...places, first: at - shard.first, count } };
      }
    }
  }

  /** Looks, one after the other. */
  #look(look: () => Promise<void>): Promise<void> {
    const done = this.#looking.then(look);
    this.#looking = done.catch(() => {});
    return done;
  }

  /** Launches a kernel that writes a row of `bytes` a slot, and hands the rows on. */
  results(kernel: KernelName, bytes: number, take: TakeRows, work: Work = {}): Promise<void> {
    return this.#look(() => this.#results(kernel, bytes, take, work));
  }

  async #results(kernel: KernelName, bytes: number, take: TakeRows, work: Work): Promise<void> {
    const { parts = {}, fields = {}, first = 0, end = this.#options.numEnvs } = work;
    for (const { shard, at, range } of this.#cuts(parts, first, end, bytes)) {
      this.#sink.require(range.count * bytes);
      this.#dispatch(kernel, shard, { ...fields, ...range });
      await this.#readSink(bytes, at, range.count, take);
    }
  }

  /** States of the slots that `indices` names, as `results` hands them on: rows in the order of the indices. */
  rowsAt(indices: Uint32Array, bytes: number, take: TakeRows): Promise<void> {
    return this.#look(() => this.#rowsAt(indices, bytes, take));
  }

  async #rowsAt(indices: Uint32Array, bytes: number, take: TakeRows): Promise<void> {
    const most = this.rowsOfSink(bytes);
    for (let at = 0; at < indices.length; at += most) {
      this.#memory.check();
      const count = Math.min(most, indices.length - at);
      const places = this.#request.put({ indices: [indices, 1] }, at, count);
      this.#sink.require(count * bytes);
      for (const shard of this.shards) {
        this.#dispatch('save', shard, { ...places, count, source_first: shard.first });
      }
      await this.#readSink(bytes, at, count, take);
    }
  }

  async #readSink(bytes: number, first: number, count: number, take: TakeRows): Promise<void> {
    const width = bytes / WORD;
    const rows = new Uint32Array(count * width);
    const piece = { buffer: this.#sink.buffer, first: 0, count: count * width };
    await this.#readback.read([{ ...piece, take: (words, from) => rows.set(words, from) }]);
    take(rows, first, count);
  }

  read(pieces: readonly Piece[]): Promise<void> {
    return this.#look(() => this.#readback.read(pieces));
  }

  /** Slots `first` to before `end` become copies of those of `source` that `indices` names. */
  gather(source: Launcher, indices: Uint32Array, first: number, end: number): void {
    this.#memory.check();
    this.#requireNear(source);
    const origins = source === this ? this.#copyOfShards() : source.shards;
    const { keepsFinal, inColumns } = source.#options;
    for (const origin of origins) {
      const group = this.#gpu.device.createBindGroup({
        layout: this.#program.layouts[1],
        entries: entries([origin.state, origin.shown]),
      });
      const fields = {
        source_first: origin.first,
        source_capacity: origin.capacity,
        source_in_columns: Number(inColumns),
        source_keeps_final: Number(keepsFinal),
      };
      this.#gatherFrom(group, fields, indices, first, end);
    }
  }

  /** @throws BackendError `device_lost`; InputError `not_alike`: no device reads the memory of another. */
  #requireNear(source: Launcher): void {
    const [own, theirs] = [this.#gpu, source.#gpu];
    if (theirs.isLost) throw theirs.lostError();
    if (theirs === own) return;
    throw new InputError(
      'not_alike',
      `Expected a source on this environment's device, ${own.adapterName}, got one on a device opened apart ` +
        `from it, ${theirs.adapterName}. Use snapshot() and restore(bytes), or create both with one powerPreference.`,
    );
  }

  #gatherFrom(group: GPUBindGroup, fields: Launch, indices: Uint32Array, first: number, end: number): void {
    for (const { shard, range } of this.#cuts({ indices: [indices, 1] }, first, end)) {
      this.#dispatch('gather', shard, { ...fields, ...range }, group);
    }
  }

  #copyOfShards(): readonly Shard[] {
    const { numEnvs, keepsFinal } = this.#options;
    this.#spare ??= openShards(this.#memory, numEnvs, keepsFinal, this.shards[0].capacity);
    const encoder = this.#gpu.device.createCommandEncoder();
    this.#spare.forEach(({ state, shown }, k) => {
      const own = this.shards[k];
      encoder.copyBufferToBuffer(own.state, 0, state, 0, state.size);
      encoder.copyBufferToBuffer(own.shown, 0, shown, 0, shown.size);
    });
    this.#gpu.queue.submit([encoder.finish()]);
    return this.#spare;
  }

  #dispatch(
    kernel: KernelName,
    shard: Shard,
    fields: Launch & { count: number },
    source?: GPUBindGroup,
  ): void {
    const { keepsFinal, inColumns, imagination } = this.#options;
    const { workgroupSize } = this.#program;
    const { queue, device } = this.#gpu;
    const launch = encodeLaunch({
      ...fields,
      ...{
        capacity: shard.capacity,
        keeps_final: Number(keepsFinal),
        in_columns: Number(inColumns),
        imagination,
      },
    });
    queue.writeBuffer(this.#uniform, 0, launch);
    const encoder = device.createCommandEncoder();
    const pass = encoder.beginComputePass();
    pass.setPipeline(this.#program.pipeline(kernel));
    pass.setBindGroup(0, this.#groupOf(shard));
    if (source !== undefined) pass.setBindGroup(1, source);
    pass.dispatchWorkgroups(Math.ceil(fields.count / workgroupSize));
    pass.end();
    queue.submit([encoder.finish()]);
  }

  /** The bindings of a shard, made anew when scratch memory has grown. */
  #groupOf(shard: Shard): GPUBindGroup {
    const request = this.#request.buffer;
    const sink = this.#sink.buffer;
    const known = this.#groups.get(shard);
    if (known?.request === request && known.sink === sink) return known.group;
    const group = this.#gpu.device.createBindGroup({
      layout: this.#program.layouts[0],
      entries: entries([this.#uniform, this.#world, shard.state, shard.shown, request, sink]),
    });
    this.#groups.set(shard, { request, sink, group });
    return group;
  }

  settled(): Promise<void> {
    return this.#memory.settled();
  }

  close(): void {
    if (!this.#memory.close()) return;
    destroyShards([...this.shards, ...(this.#spare ?? [])]);
    for (const memory of [this.#uniform, this.#world, this.#request, this.#sink, this.#readback])
      memory.destroy();
  }
}

const entries = (buffers: readonly GPUBuffer[]): GPUBindGroupEntry[] =>
  buffers.map((buffer, binding) => ({ binding, resource: { buffer } }));
