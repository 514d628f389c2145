/** Devices of backends such as webgpu: their options, the validation of these, and what a batch tells about its device. */

import { InputError } from '../../shared/errors.js';
import { checkInteger, checkName, readOptions, toFlag } from '../../shared/values.js';

/** How the webgpu backend chooses and uses its device. Other backends only validate these options. */
export interface WebGpuOptions {
  /** 'low-power' or 'high-performance', if there are several devices. Default: the platform's choice. */
  powerPreference?: 'low-power' | 'high-performance';
  /**
   * Whether to accept a device whose arithmetic differs from the reference's. Its episodes differ from those that
   * docs/world.md specifies. Default false.
   */
  allowInexact?: boolean;
  /**
   * 1 to 10,000: about the longest time of one submission, in milliseconds. Longer work is split, so that the driver's watchdog
   * does not end it. Default 100.
   */
  maxDispatchMs?: number;
  /** Invocations of a workgroup: a power of two from 1 to 256. Changes no result. Default 64. */
  workgroupSize?: number;
}

/** How a backend chooses and uses a device, with all defaults filled in. */
export type DeviceOptions = Readonly<
  Pick<WebGpuOptions, 'powerPreference'> & Required<Omit<WebGpuOptions, 'powerPreference'>>
>;

/** The device of a batch. */
export interface Device {
  /** The adapter's name, as the platform describes it. */
  readonly adapter: string;
  /** Whether the processor emulates the device. */
  readonly software: boolean;
  /** Whether its episodes equal the reference's bit for bit, as checked when the device was opened. */
  readonly exact: boolean;
}

/** The names of the options. */
const WEBGPU_OPTIONS: readonly (keyof WebGpuOptions)[] = [
  'powerPreference',
  'allowInexact',
  'maxDispatchMs',
  'workgroupSize',
];

const PREFERENCES = ['low-power', 'high-performance'] as const;
/** The largest value of `maxDispatchMs`. Chosen by hand. */
const LONGEST_DISPATCH = 10_000;
/** The largest value of `workgroupSize`: WebGPU's default limit of invocations. */
const LARGEST_WORKGROUP = 256;

/**
 * Checks device options and fills in the defaults.
 * @throws InputError `unknown_option`, `unknown_name`, `wrong_type` or `out_of_range`.
 */
export function toDeviceOptions(given: WebGpuOptions = {}): DeviceOptions {
  const options = readOptions('webgpu options', given, WEBGPU_OPTIONS);
  // The defaults are chosen by hand: no GPU has been measured yet.
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
  throw new InputError('out_of_range', {
    expected: `${what} to be a power of two`,
    got: `${number}`,
    remedy: `Pass ${2 ** Math.round(Math.log2(number))}, for instance.`,
  });
}
