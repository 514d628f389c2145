/** `dataset sft` replaces an earlier dataset: the card is removed first and written last, so no card describes other rows. */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { runSft } from '../../src/cli/dataset/sft.js';
import { Outputs } from '../../src/cli/files/output-file.js';
import { temporaryDirectory } from '../support/cli.js';
import { episodesText, playerOf } from '../support/trajectories.js';

const pathOf = temporaryDirectory();
const output = pathOf('sft');
/** The committed files in order, and whether a card existed before each commit. */
const commits: [name: string, card: boolean][] = [];

/** Called with the path of each output after it is opened. */
let beforeWriting: (path: string) => void = () => {};
const { open } = Outputs.prototype;
vi.spyOn(Outputs.prototype, 'open').mockImplementation(async function (this: Outputs, path) {
  const opened = await open.call(this, path);
  beforeWriting(path);
  return {
    write: (data) => opened.write(data),
    finish: () => opened.finish(),
    commit: () => {
      commits.push([basename(path), existsSync(join(output, 'README.md'))]);
      return opened.commit();
    },
    discard: () => opened.discard(),
  };
});

const player = playerOf({ objective: 'wellbeing' });
writeFileSync(pathOf('teacher.jsonl'), episodesText([100, 101, 102, 103, 104, 105], { player }));
const OPTIONS = { jsonl: [pathOf('teacher.jsonl')], output, format: 'jsonl', grader: 'v2', skipBad: false };
const run = (validation = 0.5) => runSft({ ...OPTIONS, validation }, new AbortController().signal);

it('dataset sft leaves no card in the directory while the files of rows are replaced', async () => {
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

it('dataset sft keeps the earlier dataset whole if a file of the new one cannot be completed', async () => {
  const before = ['README.md', 'train.jsonl'].map((name) => readFileSync(join(output, name), 'utf8'));
  beforeWriting = (path) => {
    if (basename(path) !== 'README.md') return;
    rmSync(join(output, 'validation.jsonl'));
    mkdirSync(join(output, 'validation.jsonl'));
  };
  // Another share of validation episodes gives other files.
  await expect(run(0.3)).rejects.toThrow(/validation\.jsonl to be a file, got a directory/);
  expect(['README.md', 'train.jsonl'].map((name) => readFileSync(join(output, name), 'utf8'))).toEqual(
    before,
  );
});
