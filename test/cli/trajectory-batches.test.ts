/** `inBatches` yields every valid episode once, in order, in batches of limited size. */
import { expect, it } from 'vitest';
import { inBatches, SkippedLines } from '../../src/cli/files/trajectory-files.js';
import type { TrajectoryLine } from '../../src/cli/files/trajectory-table.js';
import type { TrajectoryEpisode } from '../../src/rollouts/trajectories/trajectory-episode.js';
import { BadEpisode } from '../../src/rollouts/trajectories/trajectory-lines.js';
import { episodeStarts, recordEpisodes } from '../support/trajectories.js';

const [episode] = recordEpisodes(episodeStarts([1]));
const MEBI = 2 ** 20;

async function batched(
  episodes: readonly (TrajectoryEpisode | BadEpisode)[],
  size = 1000,
  signal = new AbortController().signal,
) {
  async function* lines(): AsyncGenerator<TrajectoryLine> {
    for (const [i, each] of episodes.entries()) yield { place: `f:${i + 1}`, size, episode: each };
  }
  const skipped = new SkippedLines();
  const reports: string[] = [];
  const batches: string[][] = [];
  for await (const batch of inBatches(lines(), { skipped, report: (text) => reports.push(text), signal })) {
    batches.push(batch.map(({ place }) => place));
  }
  return { batches, reports, skipped };
}
const newEpisodes = (count: number): TrajectoryEpisode[] =>
  Array.from({ length: count }, (_, seed) => ({ ...episode, seed }));

it('inBatches yields every episode once, in order, in batches of 256', async () => {
  const { batches, skipped } = await batched(newEpisodes(600));
  expect(batches.map(({ length }) => length)).toEqual([256, 256, 88]);
  expect(batches.flat()).toEqual(newEpisodes(600).map((_, i) => `f:${i + 1}`));
  expect([skipped.total, skipped.text]).toEqual([0, '']);
});

it('inBatches yields smaller batches if lines are long, and none without episodes', async () => {
  // A batch of at least 32 MiB is complete.
  const { batches } = await batched(newEpisodes(10), 10 * MEBI);
  expect(batches.map(({ length }) => length)).toEqual([4, 4, 2]);
  expect((await batched([])).batches).toEqual([]);
});

it.each([
  ['lines', new BadEpisode('foreign', 'Too\u001b old.'), 25, 'foreign: Too\uFFFD old.', 15, 25],
  ['row groups', new BadEpisode('corrupt', 'Unreadable.', 64), 11, 'corrupt: Unreadable.', 64, 11 * 64],
])(
  'inBatches reports the first ten invalid %s, and counts the others',
  async (_, bad, count, text, more, total) => {
    const reportsOf = (n: number) => Array.from({ length: n }, (_, i) => `f:${i + 1}: skipped, ${text}`);
    const { batches, reports, skipped } = await batched(Array(count).fill(bad));
    expect([batches, reports]).toEqual([[], [...reportsOf(10), `... and ${more} more lines skipped`]]);
    expect(skipped.total).toBe(total);
    expect((await batched(Array(10).fill(bad))).reports).toEqual(reportsOf(10));
    expect((await batched([bad])).reports).toEqual(reportsOf(1));
  },
);

it('inBatches accepts an episode once for each teacher, model, objective, oracle, condition, profile and seed', async () => {
  const others = [
    { teacher: 'other' },
    { model: 'm' },
    { objective: 'score' },
    { oracle: true },
    { condition: 'mine' },
    { profile_mode: 'discrete' },
    { seed: 2 },
  ].map((changes) => ({ ...episode, ...changes }));
  const { batches, reports, skipped } = await batched([
    episode,
    ...others,
    { ...episode, version: '9.9.9' },
    others[1],
  ]);
  expect(batches).toEqual([['f:1', 'f:2', 'f:3', 'f:4', 'f:5', 'f:6', 'f:7', 'f:8']]);
  expect(reports.map((text) => text.split(':', 2).join(':'))).toEqual(['f:9', 'f:10']);
  expect(skipped.counts).toEqual({ duplicate: 2 });
});

it('inBatches stops when the signal is aborted', async () => {
  const abort = new AbortController();
  abort.abort(new Error('enough'));
  await expect(batched(newEpisodes(3), 1, abort.signal)).rejects.toThrow('enough');
});
