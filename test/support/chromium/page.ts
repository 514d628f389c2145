/** The script of the test page: the browser's WebGPU backend plays call sequences and returns digests. */
import type { Device } from '../../../src/engine/backends/async-backend.js';
import { BROWSER, findBrowserGpu } from '../../../src/engine/backends/browser.js';
import { webGpuBackend } from '../../../src/engine/backends/webgpu/webgpu-backend.js';
import { EMPTY_SHADERS } from '../empty-shaders.js';
import {
  type BatchSetup,
  type CallColumns,
  type CallSequence,
  type Column,
  type Digests,
  digestOf,
  digestsOf,
  playSequence,
  SequencePlayer,
} from './call-sequence.js';
import { finalScoresOf, type Row } from './scores.js';

/** Globals that only Node has. */
const GLOBALS_OF_NODE = ['process', 'Buffer', 'require', 'module', 'global', 'setImmediate', '__dirname'];

/** The package's own backend, whose shaders `scores` also uses, and a backend with shaders that do nothing. */
const BACKENDS = {
  correct: BROWSER.asyncBackends[0],
  empty: webGpuBackend(findBrowserGpu, { texts: EMPTY_SHADERS }),
};

/** The shaders of a backend. */
export type Shaders = keyof typeof BACKENDS;

/** The columns of the last sequence, after each call. */
let lastColumns: readonly CallColumns[] = [];

const page = {
  /** Returns the globals of Node that exist in the page. */
  globalsOfNode: (): string[] => GLOBALS_OF_NODE.filter((name) => name in globalThis),

  /** Opens a batch, closes it and returns its device. @throws the errors of `open`. */
  async device(setup: BatchSetup, shaders: Shaders, allowInexact: boolean): Promise<Device | null> {
    const player = await SequencePlayer.open(BACKENDS[shaders], setup, allowInexact);
    const { device } = player.batch;
    player.close();
    return device;
  },

  /** Plays a sequence. @returns the digests after each call. */
  async play(sequence: CallSequence, shaders: Shaders): Promise<Digests[]> {
    // A device with empty shaders is not exact.
    lastColumns = await playSequence(BACKENDS[shaders], sequence, shaders === 'empty');
    return lastColumns.map(digestsOf);
  },

  /** Returns a column of the last sequence after call `at`. */
  column: (at: number, name: string): Column => lastColumns[at][name],

  /** Plays the episodes of a row (see scores.ts) of the golden tables. @returns the digest of their final scores. */
  scores: async (row: Row): Promise<string> => digestOf(await finalScoresOf(row)),
};

/** The functions that a test can call in the page. */
export type PageApi = typeof page;

Object.assign(globalThis, { page });
