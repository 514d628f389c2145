/** How a device is chosen and driven, as a caller may say it. */
import type { DeviceOptions } from '../backends/async-backend.js';
import { InputError } from '../errors.js';
import { checkInteger, checkName, readOptions, toFlag } from '../validate/values.js';

/** How the webgpu backend chooses and drives its device. Every other backend ignores it. */
export interface WebGpuOptions {
  /** 'low-power' or 'high-performance', where there are several devices. Default: whatever the platform prefers. */
  powerPreference?: 'low-power' | 'high-performance';
  /**
   * Opens although the device's arithmetic differs from the reference's: results are not this environment's then.
   * Default false.
   */
  allowInexact?: boolean;
  /** 1 to 10,000: how long one submission may take, in milliseconds, so that no watchdog ends it. Default 100. */
  maxDispatchMs?: number;
  /** Invocations of a workgroup, a power of two from 1 to 256; changes no result. Default 64. */
  workgroupSize?: number;
}

export const WEBGPU_OPTIONS: readonly (keyof WebGpuOptions)[] = [
  'powerPreference',
  'allowInexact',
  'maxDispatchMs',
  'workgroupSize',
];

const PREFERENCES = ['low-power', 'high-performance'] as const;
const LONGEST_DISPATCH = 10_000;
const LARGEST_WORKGROUP = 256;

/** @throws InputError `unknown_option`, `unknown_name`, `wrong_type` or `out_of_range`. */
export function toDeviceOptions(given: WebGpuOptions = {}): DeviceOptions {
  const options = readOptions('webgpu options', given, WEBGPU_OPTIONS);
  const { powerPreference, maxDispatchMs = 100, workgroupSize = 64 } = options;
  return Object.freeze({
    ...(powerPreference !== undefined && {
      powerPreference: checkName('webgpu.powerPreference', powerPreference, PREFERENCES),
    }),
    allowInexact: toFlag('webgpu.allowInexact', options.allowInexact),
    maxDispatchMs: checkInteger('webgpu.maxDispatchMs', maxDispatchMs, 1, LONGEST_DISPATCH),
    workgroupSize: checkPowerOfTwo('webgpu.workgroupSize', workgroupSize, LARGEST_WORKGROUP),
  });
}

function checkPowerOfTwo(what: string, value: unknown, high: number): number {
  const number = checkInteger(what, value, 1, high);
  if (Number.isInteger(Math.log2(number))) return number;
  throw new InputError(
    'out_of_range',
    `Expected ${what} to be a power of two, got ${number}. Pass ${2 ** Math.round(Math.log2(number))}, for instance.`,
  );
}
