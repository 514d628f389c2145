/** The script of the test page: random calls, golden tables and students. */
import { createAsyncVecEnv } from '../../../src/browser.js';
import type { BackendName } from '../../../src/engine/backends/backend.js';
import type { Device } from '../../../src/engine/backends/device-options.js';
import type { AsyncVecEnvOptions } from '../../../src/engine/vec-env/vec-env-options.js';
import { playStudent } from '../student-episodes.js';
import { digestOf, playCalls } from './played-calls.js';

/** Globals that only Node has. */
const GLOBALS_OF_NODE = ['process', 'Buffer', 'require', 'module', 'global', 'setImmediate', '__dirname'];

/** A golden table: its episodes, and what plays them. */
export interface Table {
  readonly numEnvs: number;
  /** Environment i plays seed `firstSeed + i`. */
  readonly firstSeed: number;
  /** `sampled` or a named profile. */
  readonly profile: string;
  readonly grader: string;
  readonly policy: 'random' | 'heuristic';
  /** The belief of every step; null for no belief. */
  readonly belief: readonly number[] | null;
}

const page = {
  /** Returns the globals of Node that exist in the page. */
  globalsOfNode: (): string[] => GLOBALS_OF_NODE.filter((name) => name in globalThis),

  /** Returns the device of an environment on WebGPU. */
  async device(): Promise<Device | null> {
    await using env = await createAsyncVecEnv({ backend: 'webgpu', numEnvs: 1 });
    return env.device;
  },

  /** Plays random calls on a backend. @returns the lines of `playCalls`. */
  playCalls: (setup: AsyncVecEnvOptions): Promise<string[]> => playCalls(createAsyncVecEnv, setup),

  /** Plays the episodes of a table on a backend. @returns the digest of their final scores. */
  async digestOfScores(backend: BackendName, table: Table): Promise<string> {
    const { numEnvs, firstSeed, profile, grader, policy, belief } = table;
    await using env = await createAsyncVecEnv({ backend, numEnvs, grader });
    await env.reset({ seed: firstSeed, profiles: profile });
    return digestOf((await env.run(policy, belief === null ? {} : { beliefs: belief })).finalScores);
  },

  playStudent,
};

/** The functions that a test can call in the page. */
export type PageApi = typeof page;

Object.assign(globalThis, { page });
