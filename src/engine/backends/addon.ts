/** Loads and checks the C++ addon. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { BackendError } from '../../shared/errors.js';
import { describe } from '../../shared/values.js';
import { layoutDigest } from '../../world/block.js';
import type { Arrays } from '../arrays.js';
import { type AddonFiles, BUILD_REMEDY, findAddons, PACKAGE_ROOT, permissionRemedy } from './addon-path.js';
import type {
  Outputs,
  RecordedTrajectory,
  Refusal,
  ReplayRequest,
  ResetRequest,
  RunBeliefs,
  RunRequest,
} from './backend.js';

/**
 * A batch of the addon. Arguments are as in the backend interface, null where a request has null. Resets and replays take
 * the interface's requests. Steps and runs take separate arguments: the addon needs 0.1 to 0.4 microseconds to read a
 * property of an object, and steps about a hundred episodes in this time.
 */
export interface NativeBatch {
  reset(request: ResetRequest): void;
  /** Steps all environments without beliefs and autoreset. A function of its own: it keeps the batch. */
  readonly stepAll: (actions: Uint8Array) => Refusal | null;
  /**
   * Does the same with the actions of the last `stepAll`, without looking up their address or that of the outputs: neither may
   * have been collected or detached since. Returns undefined, and does nothing, if that call did not find them.
   */
  readonly stepAgain: () => Refusal | null | undefined;
  step(
    actions: Uint8Array,
    beliefs: Float32Array | null,
    given: Uint8Array | null,
    mask: Uint8Array | null,
    resetMask: Uint8Array | null,
    resetSeeds: Uint32Array | null,
  ): Refusal | null;
  /** Takes one step of all environments for each row of `actions`, u8 [steps, numEnvs]. For benchmarks. */
  stepEach(actions: Uint8Array, steps: number): Refusal | null;
  /** Runs episodes, as `Batch.run`. @param policy code: see `POLICY` in native.ts. */
  run(
    policy: number,
    policySeeds: Uint32Array | null,
    actions: Uint8Array | null,
    beliefs: RunBeliefs | null,
    stops: Uint8Array | null,
    trajectory: RecordedTrajectory | null,
    slice: RunRequest['slice'] | null,
    from: { readonly source: NativeBatch; readonly indices: Uint32Array } | null,
  ): Refusal | null;
  gather(source: NativeBatch, indices: Uint32Array): void;
  save(words: Uint32Array, indices: Uint32Array | null): void;
  load(words: Uint32Array, keepsOutputs?: boolean): void;
  hash(hashes: BigUint64Array): void;
  targets(targets: Float32Array): void;
  replay(request: ReplayRequest): Refusal | null;
  close(): void;
}

/** The exports of the addon's module. */
export interface Addon extends Arrays {
  /** The digest of the layout (src/world/block.ts) that the addon was compiled for. */
  readonly layoutDigest: string;
  kernels(): { name: string; lanes: number; supported: boolean }[];
  /** Returns the number of bytes from a buffer's start to its first cache line. */
  bytesToCacheLine(buffer: ArrayBuffer): number;
  /** `block` is the world's numbers as words. */
  readonly Batch: new (
    kernel: string,
    block: Uint32Array,
    imagination: boolean,
    numEnvs: number,
    threads: number,
    outputs: Outputs,
  ) => NativeBatch;
}

/** An addon that was loaded. */
export interface LoadedAddon {
  readonly addon: Addon;
  readonly path: string;
  /** Why the files before it were not loaded; '' if there were none. */
  readonly rejected: string;
}

/** Why a file is not the addon. */
class Rejection {
  /** @param what what was expected, and what came. */
  constructor(
    readonly code: 'addon_missing' | 'addon_stale',
    readonly what: string,
    /** Null for that of the files. */
    readonly remedy: string | null = null,
    readonly cause?: unknown,
  ) {}
}

/** The addons and rejections by path. A file is loaded once, since opening a batch asks several times. */
const outcomes = new Map<string, Addon | Rejection>();

/**
 * Loads the first addon that loads and has the layout that this package expects.
 * @throws BackendError `addon_missing` (no file, or none loadable here) or `addon_stale` (built for another layout), for the
 *   first file, with the reasons of all.
 */
export function openAddon(files: AddonFiles = findAddons()): LoadedAddon {
  const { paths, where, remedy: defaultRemedy = BUILD_REMEDY } = files;
  const rejections: Rejection[] = [];
  for (const path of paths) {
    const outcome = outcomes.get(path) ?? load(path);
    outcomes.set(path, outcome);
    if (!(outcome instanceof Rejection)) return { addon: outcome, path, rejected: textOf(rejections) };
    rejections.push(outcome);
  }
  const all = paths.length > 0 ? rejections : [missing(where)];
  const remedies = new Set(all.map(({ remedy }) => remedy ?? defaultRemedy));
  const [{ code, cause }] = all;
  throw new BackendError(code, `${textOf(all)} ${[...remedies].join(' ')}`, { cause });
}

/** Loads the addon. @throws BackendError as `openAddon`. */
export const loadAddon = (): Addon => openAddon().addon;

const textOf = (rejections: readonly Rejection[]): string => rejections.map(({ what }) => what).join(' ');

const missing = (where: string): Rejection =>
  new Rejection('addon_missing', `Expected the native addon ${where}, found none.`);

const tooOld = (path: string): Rejection =>
  new Rejection(
    'addon_missing',
    `Expected Node 20.19 or later, or 22.12 or later, to load the native addon at ${path}, got ${process.version}.`,
    'Use a newer Node.',
  );

function load(path: string): Addon | Rejection {
  try {
    if (process.getBuiltinModule === undefined) return tooOld(path);
    if (!existsSync(path)) return missing(`at ${path}`);
    const fault = faultOf(path);
    if (fault !== null) throw new Error(fault);
    return checkLayout(path, requireAddon(path));
  } catch (cause) {
    const remedy = permissionRemedy(cause, folderOf(path));
    const what = `Expected a loadable native addon at ${path}, got: ${firstLine(cause)}`;
    return new Rejection('addon_missing', what, remedy, cause);
  }
}

/** The codes of processors in shared objects of Linux (`e_machine`). */
const MACHINES: Partial<Record<NodeJS.Architecture, number>> = { x64: 62, arm64: 183 };

/**
 * Returns why a shared object of Linux does not load, where loading it would end the process or name another reason: a copy that
 * was interrupted lacks its end or has zeros there, where the table of sections is. Returns null if it may load.
 */
function faultOf(path: string): string | null {
  const bytes = readFileSync(path);
  if (bytes.length < 64 || bytes.toString('latin1', 0, 5) !== '\x7fELF\x02') return null;
  if (bytes.readUInt16LE(0x12) !== (MACHINES[process.arch] ?? bytes.readUInt16LE(0x12)))
    return `the file is for another processor than ${process.arch}.`;
  const [size, sections] = [bytes.readUInt16LE(0x3a), bytes.readUInt16LE(0x3c)];
  const end = Number(bytes.readBigUInt64LE(0x28)) + size * sections;
  const isWhole = bytes.length >= end && (sections === 0 || bytes.subarray(end - size, end).some(Boolean));
  return isWhole ? null : 'the file is cut off.';
}

/** Returns the folder that a program must be allowed to read: the package, or that of an addon elsewhere. */
const folderOf = (path: string): string =>
  PACKAGE_ROOT !== null && path.startsWith(PACKAGE_ROOT) ? PACKAGE_ROOT : dirname(path);

function requireAddon(path: string): Addon {
  // Bundlers would change the calls of an imported createRequire.
  return process.getBuiltinModule('node:module').createRequire(path)(path) as Addon;
}

function checkLayout(path: string, addon: Addon): Addon | Rejection {
  const expected = layoutDigest();
  if (addon?.layoutDigest === expected) return addon;
  const got = describe(addon?.layoutDigest).replaceAll('"', '').slice(0, 12);
  return new Rejection(
    'addon_stale',
    `Expected an addon built for layout ${expected.slice(0, 12)}, got one for ${got} at ${path}.`,
  );
}

/** Returns the first line of an error's message, with a full stop. */
function firstLine(cause: unknown): string {
  const [line] = String((cause as Error)?.message ?? cause).split('\n');
  return line.endsWith('.') ? line : `${line}.`;
}
