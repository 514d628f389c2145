/** The script of the test page: the browser's WebGPU backend plays call sequences and returns digests. */
import type { AsyncBackend, Device } from '../../../src/engine/backends/async-backend.js';
import { findBrowserGpu } from '../../../src/engine/backends/browser.js';
import { SHADER_TEXTS, type ShaderFile } from '../../../src/engine/backends/webgpu/generated/shaders.js';
import { webGpuBackend } from '../../../src/engine/backends/webgpu/webgpu-backend.js';
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

/** A deliberate error in a shader: a piece of its text, and the replacement. */
export interface ShaderFault {
  readonly file: ShaderFile;
  readonly rule: string;
  readonly replacement: string;
}

const correctBackend = webGpuBackend(findBrowserGpu);
const faultyBackends = new Map<string, AsyncBackend>();

/** The columns of the last sequence, after each call. */
let lastColumns: readonly CallColumns[] = [];

const page = {
  /** Returns the globals of Node that exist in the page. */
  globalsOfNode: (): string[] => GLOBALS_OF_NODE.filter((name) => name in globalThis),

  /** Opens a batch, closes it and returns its device. @throws the errors of `open`. */
  async device(setup: BatchSetup, fault: ShaderFault | null, allowInexact: boolean): Promise<Device | null> {
    const player = await SequencePlayer.open(backendOf(fault), setup, allowInexact);
    const { device } = player.batch;
    player.close();
    return device;
  },

  /** Plays a sequence. @returns the digests after each call. */
  async play(sequence: CallSequence, fault: ShaderFault | null): Promise<Digests[]> {
    // A device with a faulty shader is not exact.
    lastColumns = await playSequence(backendOf(fault), sequence, fault !== null);
    return lastColumns.map(digestsOf);
  },

  /** Returns a column of the last sequence after call `at`. */
  column: (at: number, name: string): Column => lastColumns[at][name],

  /** Plays the episodes of a golden row. @returns the digest of their final scores. */
  scores: async (row: Row): Promise<string> => digestOf(await finalScoresOf(row)),
};

/** The functions that a test can call in the page. */
export type PageApi = typeof page;

function backendOf(fault: ShaderFault | null): AsyncBackend {
  if (fault === null) return correctBackend;
  const key = JSON.stringify(fault);
  const backend = faultyBackends.get(key) ?? webGpuBackend(findBrowserGpu, { texts: textsWith(fault) });
  faultyBackends.set(key, backend);
  return backend;
}

function textsWith({ file, rule, replacement }: ShaderFault): typeof SHADER_TEXTS {
  const text = SHADER_TEXTS[file];
  if (text.split(rule).length !== 2)
    throw new Error(`Expected "${rule}" once in ${file}. Replace another rule.`);
  return { ...SHADER_TEXTS, [file]: text.replace(rule, replacement) };
}

Object.assign(globalThis, { page });
