/** Episodes that were paid for: kept whole, taken up again, and put in the output's place at the end. */
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Journal } from '../src/cli/llm/journal.js';
import { episodeKey, episodeLine } from '../src/trajectory/line.js';
import { temporaryDirectory } from './support/cli.js';
import { changedAt, episodesOf, PLAYS, weeksOf } from './support/trajectories.js';

const file = temporaryDirectory();
let made = 0;
/** A path in an empty folder of its own. */
function fresh(): string {
  const folder = file(`${made++}`);
  mkdirSync(folder);
  return `${folder}/t.jsonl`;
}
const filesBeside = (path: string): string[] => readdirSync(dirname(path)).sort();

const EPISODES = episodesOf(weeksOf([100, 101, 102, 103]), { play: PLAYS.talker });
const KEYS = EPISODES.map(episodeKey);
const LINES = EPISODES.map(episodeLine);
const COST = 28 * 0.125;

const open = (path: string, check = () => {}) => Journal.open({ path, check });

it('keeps each episode on the disk as it comes, and puts all in their order in the end', async () => {
  const path = fresh();
  const journal = await open(path);
  for (const k of [2, 0, 1]) {
    await journal.append(EPISODES[k]);
    expect(readFileSync(`${path}.partial`, 'utf8').endsWith(LINES[k])).toBe(true);
  }
  expect([journal.size, existsSync(path)]).toEqual([3, false]);
  await journal.finish(KEYS);
  await journal.close();
  expect(readFileSync(path, 'utf8')).toBe(LINES.slice(0, 3).join(''));
  expect(filesBeside(path)).toEqual(['t.jsonl']);
});

it('takes up what is in the output and beside it, each once, and tells what that has cost', async () => {
  const path = fresh();
  writeFileSync(path, LINES[3] + LINES[0]);
  writeFileSync(`${path}.partial`, LINES[0] + LINES[1]);
  const journal = await open(path);
  expect([journal.size, ...KEYS.map((key) => journal.has(key))]).toEqual([3, true, true, false, true]);
  expect([journal.finished, journal.spent]).toEqual([{ weeks: 3, cost: 3 * COST }, 3 * COST]);
  await journal.append(EPISODES[2]);
  const read: number[] = [];
  for await (const { seed } of journal.read(KEYS)) read.push(seed);
  expect(read).toEqual([100, 101, 102, 103]);
  await journal.finish(KEYS.slice(0, 3));
  // One that was not asked for stays.
  expect(readFileSync(path, 'utf8')).toBe([LINES[3], ...LINES.slice(0, 3)].join(''));
});

describe('a last line that was cut off', () => {
  it.each([1, 20, 1000, -1000, -2])('is cut away, after %d bytes', async (bytes) => {
    const path = fresh();
    writeFileSync(`${path}.partial`, LINES[0] + LINES[1].slice(0, bytes));
    const journal = await open(path);
    expect([journal.has(KEYS[0]), journal.has(KEYS[1])]).toEqual([true, false]);
    await journal.append(EPISODES[1]);
    await journal.finish(KEYS);
    expect(readFileSync(path, 'utf8')).toBe(LINES[0] + LINES[1]);
  });

  it('and lacks nothing but its end is an episode', async () => {
    const path = fresh();
    writeFileSync(`${path}.partial`, LINES[0] + LINES[1].slice(0, -1));
    const journal = await open(path);
    expect(journal.has(KEYS[1])).toBe(true);
    await journal.append(EPISODES[2]);
    await journal.finish(KEYS);
    expect(readFileSync(path, 'utf8')).toBe(LINES.slice(0, 3).join(''));
  });

  it('is found at every byte of a file', async () => {
    const path = fresh();
    const partial = `${path}.partial`;
    const [one, whole] = [LINES[0], LINES[0] + LINES[1]].map((text) => Buffer.byteLength(text));
    for (let bytes = whole; bytes > 0; bytes -= 1499) {
      writeFileSync(partial, LINES[0] + LINES[1]);
      truncateSync(partial, bytes);
      const journal = await open(path);
      expect(journal.size).toBe(bytes < one - 1 ? 0 : bytes < whole - 1 ? 1 : 2);
      await journal.close();
    }
  });
});

describe('refuses, and changes nothing', () => {
  const world = changedAt(EPISODES[1], 'world_digest', 'another');
  const schema = changedAt(EPISODES[1], 'schema.version', 0);
  it.each([
    [
      'no episode',
      'nonsense\n',
      /^Expected an episode at .*t\.jsonl\.partial:2, got: .*Remove that line, or pass another --output\.$/,
    ],
    ['another world', episodeLine(world), /world_digest: Expected .*, got "another"/],
    ['another schema', episodeLine(schema), /older version 0/],
  ])('%s', async (_, line, message) => {
    const path = fresh();
    const text = LINES[0] + line;
    writeFileSync(`${path}.partial`, text);
    await expect(open(path)).rejects.toThrow(message);
    expect(readFileSync(`${path}.partial`, 'utf8')).toBe(text);
  });

  it('what its check refuses, and a torn line of the output', async () => {
    const path = fresh();
    writeFileSync(path, LINES[0]);
    const refuse = () => {
      throw new Error('of another model');
    };
    await expect(open(path, refuse)).rejects.toThrow('of another model');
    appendFileSync(path, LINES[1].slice(0, 100));
    await expect(open(path)).rejects.toThrow(/t\.jsonl:2/);
    expect(filesBeside(path)).toEqual(['t.jsonl']);
  });
});

describe('what was spent', () => {
  it('is there again, whenever it was noted last, and goes when the work is done', async () => {
    const path = fresh();
    const journal = await open(path);
    for (const dollars of [1.25, 1e-7, 123456.789, 3]) {
      journal.noteSpent(dollars);
      expect(JSON.parse(readFileSync(`${path}.spent`, 'utf8'))).toEqual({ spent_usd: dollars });
    }
    expect(statSync(`${path}.spent`).size).toBe(64);
    await journal.close();
    const again = await open(path);
    expect(again.spent).toBe(3);
    await again.append(EPISODES[0]);
    await again.append(EPISODES[1]);
    await again.close();
    const last = await open(path);
    expect(last.spent).toBe(2 * COST);
    await last.finish(KEYS);
    expect(filesBeside(path)).toEqual(['t.jsonl']);
  });

  it('is not guessed', async () => {
    const path = fresh();
    writeFileSync(`${path}.spent`, 'much');
    await expect(open(path)).rejects.toThrow(/t\.jsonl\.spent to say what was spent/);
  });
});

describe('one who works on it', () => {
  it('keeps others away until it is done', async () => {
    const path = fresh();
    const journal = await open(path);
    expect(readFileSync(`${path}.lock`, 'utf8')).toBe(`${process.pid}\n`);
    // Of a process that surely runs, and is another.
    writeFileSync(`${path}.lock`, `${process.ppid}\n`);
    await expect(open(path)).rejects.toThrow(
      new RegExp(`nobody else to work on .*got process ${process.ppid}`),
    );
    await journal.close();
    expect(filesBeside(path)).toEqual([]);
  });

  it.each(['4194303999\n', '', 'x', '-1\n', '0'])('and was killed does not: %j', async (left) => {
    const path = fresh();
    writeFileSync(`${path}.lock`, left);
    await (await open(path)).close();
    expect(filesBeside(path)).toEqual([]);
  });
});

describe('is not harmed', () => {
  it("by another's file that happens to have the partial one's name", async () => {
    for (const text of ['a line of notes', '{"notes": 1}', 'first\nlast']) {
      const path = fresh();
      writeFileSync(`${path}.partial`, text);
      await expect(open(path)).rejects.toThrow(/Expected an episode at .*t\.jsonl\.partial:1, got/);
      expect([readFileSync(`${path}.partial`, 'utf8'), filesBeside(path)]).toEqual([
        text,
        ['t.jsonl.partial'],
      ]);
    }
  });

  it('by a crash of the system, which leaves zeros', async () => {
    for (const torn of ['\0\0\0', `${LINES[1].slice(0, 500)}\0\0`, LINES[1].slice(0, 3)]) {
      const path = fresh();
      writeFileSync(`${path}.partial`, `${LINES[0]}${torn}`);
      const journal = await open(path);
      expect([journal.size, readFileSync(`${path}.partial`, 'utf8')]).toEqual([1, LINES[0]]);
      await journal.close();
    }
  });
});

describe('two names of one output', () => {
  it('are one work: what is kept is kept beside where they point', async () => {
    const path = fresh();
    writeFileSync(path, LINES[0]);
    symlinkSync('t.jsonl', `${path}.link`);
    const journal = await open(`${path}.link`);
    // Of a process that surely runs, and is another.
    writeFileSync(`${path}.lock`, `${process.ppid}\n`);
    await expect(open(path)).rejects.toThrow(/nobody else to work on/);
    await journal.append(EPISODES[1]);
    expect(journal.partialPath).toBe(`${realpathSync(path)}.partial`);
    await journal.finish(KEYS.slice(0, 2));
    expect(readFileSync(path, 'utf8')).toBe(LINES[0] + LINES[1]);
    expect(filesBeside(path)).toEqual(['t.jsonl', 't.jsonl.link']);
  });
});

it('leaves no file where there is nothing to keep', async () => {
  const path = fresh();
  await (await open(path)).close();
  expect(filesBeside(path)).toEqual([]);
});
