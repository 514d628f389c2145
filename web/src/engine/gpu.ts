/** Looks for a graphics device after the first crowd, measures it, and plays later crowds on it if it is faster. */
import { isSoftware } from '../../../src/engine/backends/webgpu/device.js';
import { NUM_STEPS } from '../../../src/world/fields.js';
import { GPU_RULES } from '../sizes.js';
import type { ChunkPlayer } from './chunk-player.js';
import type { Crowd, CrowdRequest } from './requests.js';

/** The request of the measurement. Its size is chosen by hand: it keeps a device busy for some milliseconds. */
const MEASURED: CrowdRequest = {
  numEpisodes: 2 ** 16,
  seed: 0,
  policies: ['heuristic'],
  grader: 'v2',
  profiles: 'sampled',
};

let openFaster: ((request: CrowdRequest) => ChunkPlayer) | null = null;
let search: Promise<string | null> | null = null;

/** Opens a player on a device that was measured to be faster than the workers; null if none was found so far. */
export const openOnGpu = (request: CrowdRequest): ChunkPlayer | null => openFaster?.(request) ?? null;

/** Returns the reason why no device plays crowds; null if one does. Waits for the search. */
export const whyNoGpu = (): Promise<string | null> | null => search;

/** Looks for a device, once. @param crowd was played by the workers, with whose speed the device is compared. */
export function searchGpu(crowd: Crowd): void {
  search ??= find(crowd).catch(({ message }: Error) => message);
}

/** Plays no more crowds on the device, after an error such as its loss. */
export function forgetGpu({ message }: Error): void {
  openFaster = null;
  search = Promise.resolve(message);
}

async function find({ steps, seconds }: Crowd): Promise<string | null> {
  const adapter = await navigator.gpu?.requestAdapter();
  if (!adapter) return 'This browser offers no graphics device.';
  if (isSoftware(adapter.info) && !GPU_RULES.acceptsSoftware)
    return 'The processor emulates the graphics device, so the device would be slower.';
  const openGpuPlayer = await (await import('./chunk-player.js')).loadGpuPlayer();
  await using player = openGpuPlayer(MEASURED);
  const play = () => player.play({ first: 0, count: MEASURED.numEpisodes, withMeters: false });
  // The first call compiles the shaders.
  await play();
  const start = performance.now();
  await play();
  const speed = (MEASURED.numEpisodes * NUM_STEPS * 1000) / (performance.now() - start);
  if (!GPU_RULES.isFaster(speed, steps / seconds))
    return 'The graphics device was measured, and is slower than the processor.';
  openFaster = openGpuPlayer;
  return null;
}
