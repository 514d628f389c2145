/// <reference types="@webgpu/types" />
/** Joins and compiles the shaders for a device: one module, one pipeline per kernel. */

import { layoutDigest } from '../../../world/block.js';
import { type GpuDevice, refusedBy, unavailable } from './device.js';
import { SHADER_LAYOUT, type ShaderFile } from './generated/shaders.js';

/** Kernels: entry point, constants, and when each is compiled ('later' is at the first use). */
const KERNELS = {
  reset: ['reset', {}, 'at once'],
  step: ['step', {}, 'at once'],
  run: ['run', { records: 0 }, 'at once'],
  resetAfterStep: ['reset_after_step', {}, 'later'],
  record: ['run', { records: 1 }, 'later'],
  save: ['save', {}, 'later'],
  load: ['load', {}, 'later'],
  hash: ['hash', {}, 'later'],
  targets: ['targets', {}, 'later'],
  gather: ['gather', {}, 'later'],
} as const;
/** The name of a kernel. */
export type KernelName = keyof typeof KERNELS;

/** The bindings of wgsl/bindings.wgsl and wgsl/gather.wgsl. */
const BATCH_BINDINGS: readonly GPUBufferBindingType[] = [
  'uniform',
  'read-only-storage',
  'storage',
  'storage',
  'read-only-storage',
  'storage',
];
const SOURCE_BINDINGS: readonly GPUBufferBindingType[] = ['read-only-storage', 'read-only-storage'];

/** The value of GPUShaderStage.COMPUTE, for which Node has no global. */
const VISIBILITY = 0x4;

/** The compiled kernels of a device, for one workgroup size. */
export class Program {
  readonly gpu: GpuDevice;
  /** Invocations of a workgroup. */
  readonly workgroupSize: number;
  /** Layouts of the batch's own buffers, and of a gather's source. */
  readonly layouts: readonly [own: GPUBindGroupLayout, source: GPUBindGroupLayout];
  readonly #module: GPUShaderModule;
  readonly #pipelines = new Map<KernelName, GPUComputePipeline>();

  private constructor(gpu: GpuDevice, module: GPUShaderModule, workgroupSize: number) {
    this.gpu = gpu;
    this.workgroupSize = workgroupSize;
    this.#module = module;
    const layoutOf = (types: readonly GPUBufferBindingType[]) =>
      gpu.device.createBindGroupLayout({
        entries: types.map((type, binding) => ({ binding, visibility: VISIBILITY, buffer: { type } })),
      });
    this.layouts = [layoutOf(BATCH_BINDINGS), layoutOf(SOURCE_BINDINGS)];
  }

  /**
   * Compiles the shaders, and the kernels marked 'at once'. @param workgroupSize a power of two.
   * @throws BackendError `backend_unavailable` if the generated shaders are stale, or if the device refuses the size, a
   *   shader or a kernel. The message has the file, line and error of a refused shader.
   */
  static async compile(gpu: GpuDevice, texts: ShaderTexts, workgroupSize: number): Promise<Program> {
    requireFreshShaders();
    requireWorkgroupSize(gpu, workgroupSize);
    const program = new Program(gpu, await moduleOf(gpu, texts), workgroupSize);
    const names = Object.keys(KERNELS) as KernelName[];
    await Promise.all(
      names.filter((name) => KERNELS[name][2] === 'at once').map((name) => program.#prepare(name)),
    );
    return program;
  }

  async #prepare(name: KernelName): Promise<void> {
    try {
      this.#pipelines.set(name, await this.gpu.device.createComputePipelineAsync(this.#descriptor(name)));
    } catch (cause) {
      throw refusedBy(`${this.gpu.adapterName} refuses the kernel ${name}.`, (cause as Error).message, cause);
    }
  }

  pipeline(name: KernelName): GPUComputePipeline {
    const cached = this.#pipelines.get(name);
    if (cached !== undefined) return cached;
    const pipeline = this.gpu.device.createComputePipeline(this.#descriptor(name));
    this.#pipelines.set(name, pipeline);
    return pipeline;
  }

  #descriptor(name: KernelName): GPUComputePipelineDescriptor {
    const [entryPoint, constants] = KERNELS[name];
    const bindGroupLayouts = this.layouts.slice(0, name === 'gather' ? 2 : 1);
    return {
      label: name,
      layout: this.gpu.device.createPipelineLayout({ bindGroupLayouts }),
      compute: {
        module: this.#module,
        entryPoint,
        constants: { ...constants, workgroup_size: this.workgroupSize },
      },
    };
  }
}

function requireFreshShaders(): void {
  if (SHADER_LAYOUT === layoutDigest()) return;
  throw unavailable('The generated shaders are stale. Run npm run compile.');
}

function requireWorkgroupSize({ limits, adapterName }: GpuDevice, size: number): void {
  const maxSize = Math.min(limits.maxComputeInvocationsPerWorkgroup, limits.maxComputeWorkgroupSizeX);
  if (size <= maxSize) return;
  throw unavailable(
    `Expected a workgroupSize of at most ${maxSize}, the limit of ${adapterName}, got ${size}. Pass a smaller workgroupSize.`,
  );
}

/** Compiles the shaders to a module. @throws BackendError `backend_unavailable` with the errors of the shaders. */
async function moduleOf({ device, adapterName }: GpuDevice, texts: ShaderTexts): Promise<GPUShaderModule> {
  device.pushErrorScope('validation');
  const module = device.createShaderModule({ label: 'rhythm', code: programText(texts) });
  const [{ messages }] = await Promise.all([module.getCompilationInfo(), device.popErrorScope()]);
  const errors = messages.filter(({ type }) => type === 'error');
  if (errors.length === 0) return module;
  const list = errors.map(({ lineNum, message }) => `${lineOf(texts, lineNum)}: ${message}`).join('; ');
  throw refusedBy(`${adapterName} refuses the shaders.`, list);
}

/** The texts of the shaders, by file. */
export type ShaderTexts = Readonly<Record<ShaderFile, string>>;

/** Returns the program: one module with every kernel. */
const programText = (texts: ShaderTexts): string => Object.values(texts).join('\n');

/** Returns "FILE:LINE" for a line of the program. Both lines count from 1. */
export function lineOf(texts: ShaderTexts, line: number): string {
  let first = 1;
  for (const [file, text] of Object.entries(texts)) {
    const lines = text.split('\n').length;
    if (line < first + lines) return `${file}:${line - first + 1}`;
    first += lines;
  }
  return `line ${line}`;
}
