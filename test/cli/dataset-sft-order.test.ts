/** `dataset sft` removes the card of a replaced dataset first and writes the new card last, so no card describes other rows. */
import { existsSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { runSft } from '../../src/cli/dataset/run-sft.js';
import { Outputs } from '../../src/cli/files/output-file.js';
import { episodeLine } from '../../src/rollouts/trajectories/write-line.js';
import { temporaryDirectory } from '../support/cli.js';
import { episodeStarts, playerOf, recordEpisodes } from '../support/trajectories.js';

const pathOf = temporaryDirectory();
const output = pathOf('sft');
/** The committed files in order, and whether a card existed before each commit. */
const commits: [name: string, card: boolean][] = [];

const { open } = Outputs.prototype;
vi.spyOn(Outputs.prototype, 'open').mockImplementation(async function (this: Outputs, path) {
  const opened = await open.call(this, path);
  return {
    write: (data) => opened.write(data),
    commit: () => {
      commits.push([basename(path), existsSync(join(output, 'README.md'))]);
      return opened.commit();
    },
    discard: () => opened.discard(),
  };
});

it('dataset sft leaves no card in the directory while the files of rows are replaced', async () => {
  const episodes = recordEpisodes(episodeStarts([100, 101, 102, 103, 104, 105]), {
    player: playerOf({ objective: 'wellbeing' }),
  });
  writeFileSync(pathOf('teacher.jsonl'), episodes.map(episodeLine).join(''));
  const options = { jsonl: [pathOf('teacher.jsonl')], output, format: 'jsonl', grader: 'v2', skipBad: false };
  const run = () => runSft({ ...options, validation: 0.5 }, new AbortController().signal);
  expect(await run()).toBe(true);
  commits.length = 0;
  expect(await run()).toBe(true);
  expect(commits).toEqual([
    ['train.jsonl', false],
    ['validation.jsonl', false],
    ['README.md', false],
  ]);
  expect(existsSync(join(output, 'README.md'))).toBe(true);
});
