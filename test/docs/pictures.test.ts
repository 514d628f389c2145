/** Tests that the animated episodes of the README are those that the engine plays. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { episodePicture } from '../../scripts/pictures/episode-picture.js';
import { playEpisode } from '../../scripts/pictures/played-episode.js';

it('docs/episode.svg is current', async () => {
  const episodes = [await playEpisode('heuristic', 4242, 'v3'), await playEpisode('planner', 4242, 'v3')];
  const stored = readFileSync(new URL('../../docs/episode.svg', import.meta.url), 'utf8');
  expect(stored).toBe(episodePicture(episodes, 4242, 'v3'));
});
