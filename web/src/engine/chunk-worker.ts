/** A worker that plays chunks of crowds. The engine's worker (worker.ts) starts several. */
import { expose, transfer } from 'comlink';
import type { StudentFile } from '../person/episode.js';
import { outcomeOf } from '../workers/calls.js';
import { NODE } from '../workers/platform.js';
import { loadWasm } from '../workers/wasm.js';
import { type Chunk, type ChunkPlayer, openChunkPlayer } from './chunk-player.js';
import type { CrowdRequest } from './requests.js';

let player: ChunkPlayer | null = null;

const api = {
  /** Begins a request: `play` plays its chunks. */
  begin: (request: CrowdRequest, students: readonly StudentFile[]) =>
    outcomeOf(async () => {
      await loadWasm();
      await player?.[Symbol.asyncDispose]();
      player = openChunkPlayer(request, students, NODE);
    }),
  async play(chunk: Chunk) {
    const outcome = await outcomeOf(() => player!.play(chunk));
    const arrays = outcome.ok ? outcome.value.outputs.flatMap((each) => Object.values(each)) : [];
    return transfer(
      outcome,
      arrays.flatMap((array: Float32Array | null) => array?.buffer ?? []),
    );
  },
};

export type ChunkApi = typeof api;

expose(api);
