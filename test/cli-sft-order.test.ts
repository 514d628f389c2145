/** `dataset sft` in place of an earlier dataset: the card goes first and comes last, so that none stands beside other rows. */
import { existsSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { runSft } from '../src/cli/dataset/sft.js';
import type { Output } from '../src/cli/files/output-file.js';
import { episodeLine } from '../src/trajectory/line.js';
import { temporaryDirectory } from './support/cli.js';
import { episodesOf, playerOf, weeksOf } from './support/trajectories.js';

const file = temporaryDirectory();
const output = file('sft');
/** Which file is about to take its place, and whether a card is there. */
const taken: [name: string, card: boolean][] = [];

vi.mock('../src/cli/files/output-file.js', async (original) => {
  const real = await original<typeof import('../src/cli/files/output-file.js')>();
  class Outputs extends real.Outputs {
    override async open(path: string): Promise<Output> {
      const opened = await super.open(path);
      return {
        write: (data) => opened.write(data),
        commit: () => {
          taken.push([basename(path), existsSync(join(output, 'README.md'))]);
          return opened.commit();
        },
        discard: () => opened.discard(),
      };
    }
  }
  return { ...real, Outputs };
});

it('has no card from before the first file of rows is replaced until all of them are', async () => {
  const weeks = episodesOf(weeksOf([100, 101, 102, 103, 104, 105]), {
    player: playerOf({ objective: 'wellbeing' }),
  });
  writeFileSync(file('teacher.jsonl'), weeks.map(episodeLine).join(''));
  const options = { jsonl: [file('teacher.jsonl')], output, format: 'jsonl', grader: 'v2', skipBad: false };
  const written = () => runSft({ ...options, validation: 0.5 }, new AbortController().signal);
  expect(await written()).toBe(true);
  taken.length = 0;
  expect(await written()).toBe(true);
  expect(taken).toEqual([
    ['train.jsonl', false],
    ['validation.jsonl', false],
    ['README.md', false],
  ]);
  expect(existsSync(join(output, 'README.md'))).toBe(true);
});
