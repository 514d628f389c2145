/** Loads and checks the C++ addon. */
import { existsSync } from 'node:fs';
import { BackendError } from '../../shared/errors.js';
import { describe } from '../../shared/values.js';
import { layoutDigest } from '../../world/digest.js';
import { addonPath, BUILD_REMEDY } from './addon-path.js';
import type {
  Origin,
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
  step(actions: Uint8Array): Refusal | null;
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
    part: RunRequest['part'] | null,
    from: Origin<NativeBatch> | null,
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
export interface Addon {
  /** The digest of the layout (src/world/layout.ts) that the addon was compiled for. */
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

/** The loaded addons by path. All have the layout that this package expects. */
const loadedAddons = new Map<string, Addon>();

/**
 * Loads the addon, by default the one that `addonPath` finds.
 * @throws BackendError `addon_missing` (no file, or not loadable here) or `addon_stale` (built for another
 *   layout).
 */
export function loadAddon(path: string = addonPath()): Addon {
  const known = loadedAddons.get(path);
  if (known !== undefined) return known;
  if (!existsSync(path)) {
    throw new BackendError(
      'addon_missing',
      `Expected the native addon at ${path}, found none. ${BUILD_REMEDY}`,
    );
  }
  const addon = requireAddon(path);
  const expected = layoutDigest();
  if (addon?.layoutDigest !== expected) {
    throw new BackendError(
      'addon_stale',
      `Expected an addon built for layout ${expected.slice(0, 12)}, got one for ` +
        `${describe(addon?.layoutDigest).replaceAll('"', '').slice(0, 12)} at ${path}. ${BUILD_REMEDY}`,
    );
  }
  loadedAddons.set(path, addon);
  return addon;
}

const firstLine = (cause: unknown): string => String((cause as Error)?.message ?? cause).split('\n')[0];

function requireAddon(path: string): Addon {
  try {
    // Bundlers would change the calls of an imported createRequire.
    return process.getBuiltinModule('node:module').createRequire(path)(path) as Addon;
  } catch (cause) {
    throw new BackendError(
      'addon_missing',
      `Expected a loadable native addon at ${path}, got: ${firstLine(cause)} ${BUILD_REMEDY}`,
      { cause },
    );
  }
}
