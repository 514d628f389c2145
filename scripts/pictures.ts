/** Draws docs/episode.svg and from it the preview of links to the page. With --check, writes nothing; fails if one is stale. */
import { readFileSync, writeFileSync } from 'node:fs';
import { pngOf } from '../src/figures/png.js';
import { episodePicture } from './pictures/episode-picture.js';
import { linkPicture } from './pictures/link-picture.js';
import { playEpisode } from './pictures/played-episode.js';
import { isSamePicture } from './pictures/same-picture.js';

/** The seed and the grader of the episode. Its profile is unusual: very social. */
const [SEED, GRADER] = [4242, 'v3'];

const EPISODE = new URL('../docs/episode.svg', import.meta.url);
const LINK = new URL('../web/public/preview.png', import.meta.url);

const episodes = [await playEpisode('heuristic', SEED, GRADER), await playEpisode('planner', SEED, GRADER)];
const episode = episodePicture(episodes, SEED, GRADER);
const link = await pngOf(linkPicture(episode), { scale: 1 });
if (process.argv.includes('--check')) {
  const isFresh = {
    'docs/episode.svg': readFileSync(EPISODE, 'utf8') === episode,
    'web/public/preview.png': await isSamePicture(readFileSync(LINK), link),
  };
  for (const [name] of Object.entries(isFresh).filter(([, fresh]) => !fresh)) {
    console.error(`${name} is stale: run npm run pictures.`);
    process.exitCode = 1;
  }
} else {
  writeFileSync(EPISODE, episode);
  writeFileSync(LINK, link);
}
