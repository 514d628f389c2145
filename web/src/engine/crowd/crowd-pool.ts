/** The workers that play crowds. They are started at the first crowd, and kept. */
import type { StudentFile } from '../../students/student-files.js';
import { WorkerClient } from '../../workers/worker-client.js';
import type { ChunkApi } from './chunk-worker.js';
import type { CrowdRequest } from './crowd-request.js';
import type { ChunkLane } from './run-crowd.js';

/** The most workers. Chosen by hand: each keeps about 20 MB. */
const MAX_WORKERS = 8;

let clients: readonly WorkerClient<ChunkApi>[] | null = null;

/** Returns a lane for each worker: one per core that the browser reports. */
export function openPool(request: CrowdRequest, students: readonly StudentFile[]): ChunkLane[] {
  clients ??= Array.from(
    { length: Math.min(MAX_WORKERS, navigator.hardwareConcurrency || 1) },
    () =>
      new WorkerClient<ChunkApi>(
        'A worker of the crowd',
        () => new Worker(new URL('./chunk-worker.ts', import.meta.url), { type: 'module', name: 'crowd' }),
      ),
  );
  return clients.map((client) => {
    const begun = client.call((worker) => worker.begin(request, students));
    // `play` reports the failure.
    begun.catch(() => {});
    return {
      async play(chunk) {
        await begun;
        return client.call((worker) => worker.play(chunk));
      },
    };
  });
}
