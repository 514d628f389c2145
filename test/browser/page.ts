/** What runs in the page: the WebGPU backend of browsers lives stories and answers with digests. */
import type { AsyncBackend, Device } from '../../src/backends/async-backend.js';
import { webGpuBackend } from '../../src/backends/webgpu/backend.js';
import { findBrowserGpu } from '../../src/backends/webgpu/browser-gpu.js';
import { SHADER_TEXTS, type ShaderFile } from '../../src/backends/webgpu/generated/shaders.js';
import { finalScores, type Row } from './scores.js';
import {
  type Column,
  type Digests,
  digestOf,
  digestsOf,
  Player,
  play,
  type Scene,
  type Seen,
  type Story,
} from './story.js';

/** What only Node has. */
const GLOBALS_OF_NODE = ['process', 'Buffer', 'require', 'module', 'global', 'setImmediate', '__dirname'];

/** A rule that is not this environment's: text of a shader, and what stands there instead. */
export interface Plant {
  readonly file: ShaderFile;
  readonly rule: string;
  readonly instead: string;
}

const honest = webGpuBackend(findBrowserGpu);
const planted = new Map<string, AsyncBackend>();

/** What the last story showed, move by move. */
let seen: readonly Seen[] = [];

const page = {
  /** Those of the names that exist here. */
  globalsOfNode: (): string[] => GLOBALS_OF_NODE.filter((name) => name in globalThis),

  /** Opens a batch and closes it. @throws what `open` throws. */
  async device(scene: Scene, plant: Plant | null, allowInexact: boolean): Promise<Device | null> {
    const player = await Player.open(backendOf(plant), scene, allowInexact);
    const { device } = player.batch;
    player.close();
    return device;
  },

  /** The digests of what is seen after each move. */
  async play(story: Story, plant: Plant | null): Promise<Digests[]> {
    seen = await play(backendOf(plant), story, plant !== null);
    return seen.map(digestsOf);
  },

  /** A column that the last story showed after its move `at`. */
  column: (at: number, name: string): Column => seen[at][name],

  /** The digest of a table's final scores. */
  scores: async (row: Row): Promise<string> => digestOf(await finalScores(row)),
};

/** What the page answers to. */
export type PageApi = typeof page;

function backendOf(plant: Plant | null): AsyncBackend {
  if (plant === null) return honest;
  const key = JSON.stringify(plant);
  const backend = planted.get(key) ?? webGpuBackend(findBrowserGpu, { texts: textsWith(plant) });
  planted.set(key, backend);
  return backend;
}

function textsWith({ file, rule, instead }: Plant): typeof SHADER_TEXTS {
  const text = SHADER_TEXTS[file];
  if (text.split(rule).length !== 2)
    throw new Error(`Expected "${rule}" once in ${file}. Plant another rule.`);
  return { ...SHADER_TEXTS, [file]: text.replace(rule, instead) };
}

Object.assign(globalThis, { page });
