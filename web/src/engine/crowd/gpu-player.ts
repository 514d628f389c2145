/** Plays crowds on WebGPU. Loaded when there is a device. An emulated one must be named to be used. */
import type { Platform } from '../../../../src/engine/backends/open-batch.js';
import { webGpuBackend } from '../../../../src/engine/backends/webgpu/webgpu-backend.js';
import { replayHistory } from '../../../../src/engine/reference/saved-states.js';
import { ChunkPlayer } from './chunk-player.js';
import type { CrowdRequest } from './crowd-request.js';

const WEBGPU: Platform = {
  backends: [],
  asyncBackends: [webGpuBackend(async () => navigator.gpu)],
  replayHistory,
};

export const openGpuPlayer = (request: CrowdRequest): ChunkPlayer =>
  new ChunkPlayer(request, [], WEBGPU, 'webgpu');
