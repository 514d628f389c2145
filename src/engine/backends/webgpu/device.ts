/// <reference types="@webgpu/types" />
/** An open device: its limits and its errors. */
import { BackendError } from '../../../shared/errors.js';

/** The limits that a batch can use. They are requested at the adapter's maximum. */
const LIMITS = [
  'maxBufferSize',
  'maxStorageBufferBindingSize',
  'maxComputeInvocationsPerWorkgroup',
  'maxComputeWorkgroupSizeX',
] as const;

/** An open device, with the errors that it reported. */
export class GpuDevice {
  readonly device: GPUDevice;
  /** Keeps the GPU object and the adapter from garbage collection, after which Dawn (WebGPU in Node) would crash. */
  readonly references: readonly unknown[];
  /** The adapter's name, for messages. */
  readonly adapterName: string;
  /** Whether the adapter computes on the processor. */
  readonly software: boolean;
  /** The reason why the device was lost; null for a working device. */
  #lost: string | null = null;
  /** The first error since the last `check`. */
  #failure: BackendError | null = null;

  private constructor(gpu: GPU, adapter: GPUAdapter, device: GPUDevice) {
    this.device = device;
    this.references = [gpu, adapter];
    this.adapterName = nameOf(adapter.info);
    this.software = isSoftware(adapter.info);
    device.lost.then(({ reason, message }) => {
      this.#lost = `${reason === 'destroyed' ? 'it was destroyed' : reason}${message ? `: ${message}` : ''}`;
    });
    device.addEventListener('uncapturederror', ({ error }) => {
      this.#failure ??= deviceFailed(this.adapterName, error.message);
    });
  }

  /** Opens a device of the preferred adapter. @throws BackendError `backend_unavailable`. */
  static async open(gpu: GPU, powerPreference: GPUPowerPreference | undefined): Promise<GpuDevice> {
    const adapter = await gpu.requestAdapter({ powerPreference });
    if (adapter === null) throw unavailable(NO_ADAPTER);
    const requiredLimits = Object.fromEntries(LIMITS.map((name) => [name, adapter.limits[name]]));
    try {
      return new GpuDevice(gpu, adapter, await adapter.requestDevice({ requiredLimits }));
    } catch (cause) {
      throw refusedBy(`${nameOf(adapter.info)} refused to open a device.`, (cause as Error).message, cause);
    }
  }

  get isLost(): boolean {
    return this.#lost !== null;
  }

  get limits(): GPUSupportedLimits {
    return this.device.limits;
  }

  get queue(): GPUQueue {
    return this.device.queue;
  }

  /** Throws BackendError `device_lost`, or the first error that the device reported since the last `check`. */
  check(): void {
    if (this.#lost !== null) throw this.lostError();
    const failure = this.#failure;
    this.#failure = null;
    if (failure !== null) throw failure;
  }

  lostError(): BackendError {
    return new BackendError(
      'device_lost',
      `Expected the device ${this.adapterName}, got none: ${this.#lost ?? 'it was lost'}. ` +
        'Call reopen() to continue from the last snapshot, or create a new environment.',
    );
  }
}

const NO_ADAPTER =
  'No adapter. A GPU with its driver (Vulkan on Linux, with libvulkan1; Metal on macOS; Direct3D 12 on Windows) is ' +
  'needed, or a software adapter such as SwiftShader. To use a software adapter in Node, set the environment ' +
  "variable VK_DRIVER_FILES to the path of the adapter's Vulkan JSON file. In a browser, chrome://gpu or " +
  'about:support shows the reason.';

const UNAVAILABLE = 'Expected an available backend, got "webgpu". ';

/** Builds the error for an unavailable backend. @param why the reason and the remedy. */
export const unavailable = (why: string, cause?: unknown): BackendError =>
  new BackendError('backend_unavailable', UNAVAILABLE + why, { cause });

/** Builds the error for a refusal by a driver. */
export const refusedBy = (what: string, driverMessage: string, cause?: unknown): BackendError =>
  unavailable(
    `${what} Update the driver, or use another backend. The driver's message: ${driverMessage}`,
    cause,
  );

/** Returns the message of an error that `unavailable` built, without the sentence that all these errors share. */
export const reasonOf = (error: unknown): string => (error as Error).message.replace(UNAVAILABLE, '');

const deviceFailed = (adapter: string, driverMessage: string): BackendError =>
  new BackendError(
    'device_failed',
    `Expected ${adapter} to accept valid commands, got an error. This is a bug: report it, and use another backend ` +
      `until it is fixed. The driver's message: ${driverMessage}`,
  );

/** Returns an adapter's name. Browsers give less information than Node. */
function nameOf({ description, device, vendor, architecture }: GPUAdapterInfo): string {
  const family = [vendor, architecture].filter(Boolean).join(' ');
  return [device || description, family].filter(Boolean).join(', ') || 'an unnamed adapter';
}

/** Returns whether an adapter computes on the processor: SwiftShader, llvmpipe, WARP. */
export function isSoftware(info: GPUAdapterInfo): boolean {
  const names = `${info.architecture} ${info.device} ${info.description}`.toLowerCase();
  return info.isFallbackAdapter || /swiftshader|llvmpipe|lavapipe|basic render|warp/.test(names);
}
