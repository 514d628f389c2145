/** The program of a worker's threads. */
import { episodeLine } from '../../rollouts/trajectories/write-line.js';
import { serveShards } from '../../server/queue/serve-shards.js';
import { teach } from '../../training/teaching/planner-teacher.js';

serveShards(async ({ job, index, count, engine }, { signal, onProgress }) => {
  const { policy, grader, profiles, seeds } = JSON.parse(job);
  const n = seeds.last - seeds.first + 1;
  const at = (k: number) => seeds.first + Math.floor((k * n) / count);
  const part = { first: at(index), last: at(index + 1) - 1 };
  const lines: string[] = [];
  for await (const batch of teach({ policy, grader, profiles, seeds: part, signal, onProgress, ...engine })) {
    lines.push(...batch.map(episodeLine));
  }
  return Buffer.from(lines.join(''));
});
