/// <reference types="@webgpu/types" />
/** Launches kernels over ranges of a batch's environments, segment by segment (segment.ts), and owns the batch's memory. */
import { InputError } from '../../../shared/errors.js';
import {
  encodeLaunch,
  type Launch,
  Memory,
  OUTPUT_WORDS,
  SCRATCH_BYTES,
  Scratch,
  USAGE,
  WORD,
} from './buffer-layout.js';
import type { GpuDevice } from './device.js';
import type { KernelName, Program } from './program.js';
import { destroySegments, envsPerSegment, openSegments, type Segment } from './segment.js';
import {
  bytesPerEnv,
  type Piece,
  Readback,
  type RequestArrays,
  RequestBuffer,
  type TakeRows,
} from './transfers.js';

/** The properties of the batch that a launcher serves. */
export interface LauncherOptions {
  readonly numEnvs: number;
  /** The world's numbers, as a block of words. */
  readonly words: Uint32Array;
  /** The largest number of environments per segment; null for as many as the device can bind. */
  readonly maxEnvsPerSegment: number | null;
  /** Whether the outputs include final observations. */
  readonly keepsFinal: boolean;
  /** Whether the outputs are column-major. */
  readonly inColumns: boolean;
  /** Xored with the streams of noise and events; 0 for real episodes. */
  readonly imagination: number;
}

/** Options of `launchAndRead`. */
interface LaunchOptions {
  /** The arrays that the kernel reads. Default: none. */
  readonly arrays?: RequestArrays;
  /** Fields of the launch that do not depend on the segment. Default: none. */
  readonly fields?: Launch;
  /** The kernel computes environments `first` to `end - 1`; by default all. */
  readonly first?: number;
  readonly end?: number;
}

/** The environments of one launch, all in one segment. */
interface LaunchRange {
  readonly segment: Segment;
  /** The index of the first environment within the batch. */
  readonly at: number;
  /** The index of the first environment within the segment, the number of environments, the offsets of their request. */
  readonly range: Launch & { readonly count: number };
}

/** The segments of a batch, and the calls that launch kernels on them and read their results. */
export class Launcher {
  readonly segments: readonly Segment[];
  readonly #gpu: GpuDevice;
  readonly #memory: Memory;
  readonly #program: Program;
  readonly #options: LauncherOptions;
  readonly #uniform: GPUBuffer;
  readonly #world: GPUBuffer;
  readonly #request: RequestBuffer;
  readonly #resultBuffer: Scratch;
  readonly #readback: Readback;
  /** The bindings of each segment, and the scratch buffers that they contain. */
  readonly #groups = new Map<Segment, { request: GPUBuffer; results: GPUBuffer; group: GPUBindGroup }>();
  /** Copies of the segments. The batch gathers from them when it gathers from itself. */
  #segmentCopies: Segment[] | null = null;
  /** The last read. Reads run one after the other, because they use the same scratch memory. */
  #lastRead: Promise<unknown> = Promise.resolve();

  constructor(program: Program, options: LauncherOptions) {
    const { gpu, workgroupSize } = program;
    const { numEnvs, words, keepsFinal } = options;
    const memory = new Memory(gpu);
    this.#gpu = gpu;
    this.#memory = memory;
    this.#program = program;
    this.#options = options;
    const maxEnvs = options.maxEnvsPerSegment ?? envsPerSegment(gpu, OUTPUT_WORDS.withFinal, workgroupSize);
    this.segments = openSegments(memory, numEnvs, keepsFinal, maxEnvs);
    const launch = encodeLaunch({});
    this.#uniform = memory.allocate('launch', launch.byteLength, USAGE.uniform | USAGE.copyTarget);
    this.#world = memory.allocate('world', words.byteLength, USAGE.storage | USAGE.copyTarget);
    gpu.queue.writeBuffer(this.#world, 0, words.slice());
    this.#request = new RequestBuffer(memory);
    this.#resultBuffer = new Scratch(memory, 'results', USAGE.storage | USAGE.copySource);
    this.#readback = new Readback(memory);
  }

  /** Returns the largest number of rows, of `bytes` bytes each, that one launch may write. */
  rowsPerLaunch(bytes: number): number {
    return Math.max(1, Math.floor(SCRATCH_BYTES / bytes));
  }

  /**
   * Launches a kernel over environments `first` to `end - 1`, in as many launches as segments and scratch memory require.
   * @param arrays the arrays that the kernel reads. @param fields fields of the launch that do not depend on the segment.
   */
  launch(
    kernel: KernelName,
    arrays: RequestArrays = {},
    fields: Launch = {},
    first = 0,
    end = this.#options.numEnvs,
  ): void {
    for (const { segment, range } of this.#split(arrays, first, end)) {
      this.#dispatch(kernel, segment, { ...fields, ...range });
    }
  }

  /**
   * Splits environments `first` to `end - 1` at the limits of segments and scratch memory. Writes the request of each launch,
   * which is valid until the next one.
   * @param bytes the bytes per environment in the results.
   */
  *#split(arrays: RequestArrays, first: number, end: number, bytes = 1): Generator<LaunchRange> {
    const maxEnvs = this.rowsPerLaunch(Math.max(bytesPerEnv(arrays), bytes));
    for (const segment of this.segments) {
      const last = Math.min(end, segment.first + segment.count);
      for (let at = Math.max(first, segment.first); at < last; at += maxEnvs) {
        // The batch may have been closed since the last launch.
        this.#memory.check();
        const count = Math.min(maxEnvs, last - at);
        const offsets = this.#request.put(arrays, at, count);
        yield { segment, at, range: { ...offsets, first: at - segment.first, count } };
      }
    }
  }

  /** Runs a read after all earlier ones. */
  #queueRead(read: () => Promise<void>): Promise<void> {
    const done = this.#lastRead.then(read);
    this.#lastRead = done.catch(() => {});
    return done;
  }

  /** Launches a kernel that writes `bytes` bytes per environment, and passes the rows to `take`. */
  launchAndRead(
    kernel: KernelName,
    bytes: number,
    take: TakeRows,
    options: LaunchOptions = {},
  ): Promise<void> {
    return this.#queueRead(() => this.#launchAndRead(kernel, bytes, take, options));
  }

  async #launchAndRead(
    kernel: KernelName,
    bytes: number,
    take: TakeRows,
    options: LaunchOptions,
  ): Promise<void> {
    const { arrays = {}, fields = {}, first = 0, end = this.#options.numEnvs } = options;
    for (const { segment, at, range } of this.#split(arrays, first, end, bytes)) {
      this.#resultBuffer.require(range.count * bytes);
      this.#dispatch(kernel, segment, { ...fields, ...range });
      await this.#readResults(bytes, at, range.count, take);
    }
  }

  /**
   * Passes the states of the environments at `indices` to `take`, in the order of `indices`.
   * @param bytes the number of bytes of a state.
   */
  rowsAt(indices: Uint32Array, bytes: number, take: TakeRows): Promise<void> {
    return this.#queueRead(() => this.#rowsAt(indices, bytes, take));
  }

  async #rowsAt(indices: Uint32Array, bytes: number, take: TakeRows): Promise<void> {
    const maxRows = this.rowsPerLaunch(bytes);
    for (let at = 0; at < indices.length; at += maxRows) {
      this.#memory.check();
      const count = Math.min(maxRows, indices.length - at);
      const offsets = this.#request.put({ indices: [indices, 1] }, at, count);
      this.#resultBuffer.require(count * bytes);
      // Each segment writes the rows of its own environments.
      for (const segment of this.segments) {
        this.#dispatch('save', segment, { ...offsets, count, source_first: segment.first });
      }
      await this.#readResults(bytes, at, count, take);
    }
  }

  async #readResults(bytes: number, first: number, count: number, take: TakeRows): Promise<void> {
    const width = bytes / WORD;
    const rows = new Uint32Array(count * width);
    const piece = { buffer: this.#resultBuffer.buffer, first: 0, count: count * width };
    await this.#readback.read([{ ...piece, take: (words, from) => rows.set(words, from) }]);
    take(rows, first, count);
  }

  /** Reads pieces after all earlier reads. */
  read(pieces: readonly Piece[]): Promise<void> {
    return this.#queueRead(() => this.#readback.read(pieces));
  }

  /** Copies to each environment i, from `first` to `end - 1`, the environment `indices[i]` of `source`. */
  gather(source: Launcher, indices: Uint32Array, first: number, end: number): void {
    this.#memory.check();
    this.#requireSameDevice(source);
    const origins = source === this ? this.#copyOfSegments() : source.segments;
    const { keepsFinal, inColumns } = source.#options;
    for (const origin of origins) {
      const group = this.#gpu.device.createBindGroup({
        layout: this.#program.layouts[1],
        entries: entries([origin.state, origin.outputs]),
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

  /** Checks that the source is on this device. @throws BackendError `device_lost`; InputError `not_alike`. */
  #requireSameDevice(source: Launcher): void {
    const [own, other] = [this.#gpu, source.#gpu];
    if (other.isLost) throw other.lostError();
    if (other === own) return;
    throw new InputError('not_alike', {
      expected: `a source on this environment's device, ${own.adapterName}`,
      got: `one on a device opened separately, ${other.adapterName}`,
      remedy: 'Use snapshot() and restore(bytes), or create both with one powerPreference.',
    });
  }

  #gatherFrom(group: GPUBindGroup, fields: Launch, indices: Uint32Array, first: number, end: number): void {
    for (const { segment, range } of this.#split({ indices: [indices, 1] }, first, end)) {
      this.#dispatch('gather', segment, { ...fields, ...range }, group);
    }
  }

  /** Copies all segments, so that the batch can gather from its own states. */
  #copyOfSegments(): readonly Segment[] {
    const { numEnvs, keepsFinal } = this.#options;
    this.#segmentCopies ??= openSegments(this.#memory, numEnvs, keepsFinal, this.segments[0].capacity);
    const encoder = this.#gpu.device.createCommandEncoder();
    this.#segmentCopies.forEach(({ state, outputs }, k) => {
      const segment = this.segments[k];
      encoder.copyBufferToBuffer(segment.state, 0, state, 0, state.size);
      encoder.copyBufferToBuffer(segment.outputs, 0, outputs, 0, outputs.size);
    });
    this.#gpu.queue.submit([encoder.finish()]);
    return this.#segmentCopies;
  }

  #dispatch(
    kernel: KernelName,
    segment: Segment,
    fields: Launch & { count: number },
    source?: GPUBindGroup,
  ): void {
    const { keepsFinal, inColumns, imagination } = this.#options;
    const { workgroupSize } = this.#program;
    const { queue, device } = this.#gpu;
    const launch = encodeLaunch({
      ...fields,
      ...{
        capacity: segment.capacity,
        keeps_final: Number(keepsFinal),
        in_columns: Number(inColumns),
        imagination,
      },
    });
    queue.writeBuffer(this.#uniform, 0, launch);
    const encoder = device.createCommandEncoder();
    const pass = encoder.beginComputePass();
    pass.setPipeline(this.#program.pipeline(kernel));
    pass.setBindGroup(0, this.#groupOf(segment));
    if (source !== undefined) pass.setBindGroup(1, source);
    pass.dispatchWorkgroups(Math.ceil(fields.count / workgroupSize));
    pass.end();
    queue.submit([encoder.finish()]);
  }

  /** Returns the bindings of a segment. Creates them at the first call, and when scratch memory has grown. */
  #groupOf(segment: Segment): GPUBindGroup {
    const request = this.#request.buffer;
    const results = this.#resultBuffer.buffer;
    const cached = this.#groups.get(segment);
    if (cached?.request === request && cached.results === results) return cached.group;
    const group = this.#gpu.device.createBindGroup({
      layout: this.#program.layouts[0],
      entries: entries([this.#uniform, this.#world, segment.state, segment.outputs, request, results]),
    });
    this.#groups.set(segment, { request, results, group });
    return group;
  }

  /** Resolves when the queue's work is done. @throws as `Memory.finished`. */
  finished(): Promise<void> {
    return this.#memory.finished();
  }

  close(): void {
    if (!this.#memory.close()) return;
    destroySegments([...this.segments, ...(this.#segmentCopies ?? [])]);
    for (const memory of [this.#uniform, this.#world, this.#request, this.#resultBuffer, this.#readback])
      memory.destroy();
  }
}

const entries = (buffers: readonly GPUBuffer[]): GPUBindGroupEntry[] =>
  buffers.map((buffer, binding) => ({ binding, resource: { buffer } }));
