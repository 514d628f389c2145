/** Draws the pictures of the README and of links to the page from the engine. With --check it fails if one is stale. */
import { readFileSync, writeFileSync } from 'node:fs';
import { pngOf } from '../src/figures/png.js';
import { episodePicture } from './pictures/episode-picture.js';
import { linkPicture } from './pictures/link-picture.js';
import { playEpisode } from './pictures/played-episode.js';

/** The episode of the picture. Its person is unusual: very social. */
const [SEED, GRADER] = [4242, 'v3'];

const EPISODE = new URL('../docs/episode.svg', import.meta.url);
const LINK = new URL('../web/public/preview.png', import.meta.url);

const episodes = [await playEpisode('heuristic', SEED, GRADER), await playEpisode('planner', SEED, GRADER)];
const picture = episodePicture(episodes, SEED, GRADER);
if (!process.argv.includes('--check')) {
  writeFileSync(EPISODE, picture);
  writeFileSync(LINK, await pngOf(linkPicture(), { scale: 1 }));
} else if (readFileSync(EPISODE, 'utf8') !== picture) {
  console.error('docs/episode.svg is stale: run npm run pictures.');
  process.exitCode = 1;
}
