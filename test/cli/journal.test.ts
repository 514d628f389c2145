/** The journal of paid episodes: stores them whole, resumes from them, and replaces the output at the end. */
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
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Journal } from '../../src/cli/store/journal.js';
import { toGrader } from '../../src/engine/graders/grader.js';
import { episodeKey, episodeLine } from '../../src/rollouts/trajectories/trajectory-lines.js';
import { temporaryDirectory } from '../support/cli.js';
import { changedAt, episodeStarts, recordEpisodes, TEST_POLICIES } from '../support/trajectories.js';

const pathOf = temporaryDirectory();
let folderCount = 0;
/** Returns a path in a new empty folder. */
function newPath(): string {
  const folder = pathOf(`${folderCount++}`);
  mkdirSync(folder);
  return `${folder}/t.jsonl`;
}
const filesBeside = (path: string): string[] => readdirSync(dirname(path)).sort();

const EPISODES = recordEpisodes(episodeStarts([100, 101, 102, 103]), {
  policy: TEST_POLICIES.incompleteText,
});
const KEYS = EPISODES.map(episodeKey);
const LINES = EPISODES.map(episodeLine);
/** Dollars of an episode: 28 steps of 0.125 each (`USAGE` in test/support/trajectories.ts). */
const COST = 28 * 0.125;

const SETTINGS = { grader: toGrader('v2'), sampling: { max_tokens: 512 } };
const open = (path: string, check = () => {}, settings: typeof SETTINGS = SETTINGS) =>
  Journal.open({ path, check, ...settings });

it('a journal writes each episode to disk as it ends, and all of them in order at the end', async () => {
  const path = newPath();
  const journal = await open(path);
  for (const k of [2, 0, 1]) {
    await journal.append(EPISODES[k]);
    expect(readFileSync(`${path}.partial`, 'utf8').endsWith(LINES[k])).toBe(true);
  }
  expect([journal.size, existsSync(path)]).toEqual([3, false]);
  await journal.finish(KEYS);
  await journal.commit();
  await journal.close();
  expect(readFileSync(path, 'utf8')).toBe(LINES.slice(0, 3).join(''));
  expect(filesBeside(path)).toEqual(['t.jsonl']);
});

it('each episode of the output and its journal is read once, with its cost', async () => {
  const path = newPath();
  writeFileSync(path, LINES[3] + LINES[0]);
  writeFileSync(`${path}.partial`, LINES[0] + LINES[1]);
  const journal = await open(path);
  expect([journal.size, ...KEYS.map((key) => journal.has(key))]).toEqual([3, true, true, false, true]);
  expect([journal.finished, journal.spent]).toEqual([{ episodes: 3, cost: 3 * COST }, 3 * COST]);
  await journal.append(EPISODES[2]);
  const read: number[] = [];
  for await (const { seed } of journal.read(KEYS)) read.push(seed);
  expect(read).toEqual([100, 101, 102, 103]);
  await journal.finish(KEYS.slice(0, 3));
  await journal.commit();
  // An episode whose key was not requested stays in the file.
  expect(readFileSync(path, 'utf8')).toBe([LINES[3], ...LINES.slice(0, 3)].join(''));
});

it('byte order marks before lines, which joined files have, are read and left out of the output', async () => {
  const path = newPath();
  writeFileSync(path, `\uFEFF${LINES[3]}\uFEFF${LINES[0]}`);
  writeFileSync(`${path}.partial`, `\uFEFF${LINES[1]}`);
  const journal = await open(path);
  await journal.finish(KEYS);
  await journal.commit();
  expect(readFileSync(path, 'utf8')).toBe([LINES[0], LINES[1], LINES[3]].join(''));
});

it('`finished` counts only the episodes that state a cost', async () => {
  const path = newPath();
  const { usage: _, ...free } = EPISODES[0];
  writeFileSync(path, episodeLine(free) + LINES[1] + LINES[2]);
  const journal = await open(path);
  expect([journal.size, journal.finished]).toEqual([3, { episodes: 2, cost: 2 * COST }]);
  await journal.close();
});

it('all lines of a long file are read', async () => {
  const path = newPath();
  const seeds = Array.from({ length: 10 }, (_, k) => 500 + k);
  const episodes = seeds.map((seed) => ({ ...EPISODES[0], seed }));
  writeFileSync(`${path}.partial`, episodes.map(episodeLine).join(''));
  // Larger than the chunk that is read at once.
  expect(statSync(`${path}.partial`).size).toBeGreaterThan(2 ** 18);
  const journal = await open(path);
  const read: number[] = [];
  for await (const { seed } of journal.read(episodes.map(episodeKey))) read.push(seed);
  expect(read).toEqual(seeds);
  await journal.close();
});

describe('an incomplete last line', () => {
  it('that lacks only its line break is kept as an episode', async () => {
    const path = newPath();
    writeFileSync(`${path}.partial`, LINES[0] + LINES[1].slice(0, -1));
    const journal = await open(path);
    expect(journal.has(KEYS[1])).toBe(true);
    await journal.append(EPISODES[2]);
    // If the process is killed here, the file has only whole lines.
    expect(readFileSync(`${path}.partial`, 'utf8')).toBe(LINES.slice(0, 3).join(''));
    await journal.finish(KEYS);
    await journal.commit();
    expect(readFileSync(path, 'utf8')).toBe(LINES.slice(0, 3).join(''));
  });

  it('is recognised in files that were cut at many places', async () => {
    const path = newPath();
    const partial = `${path}.partial`;
    const [firstEnd, end] = [LINES[0], LINES[0] + LINES[1]].map((text) => Buffer.byteLength(text));
    // 1499 is chosen by hand: a smaller number tests more places, and takes longer. A system crash may leave NUL bytes.
    for (let bytes = end; bytes > 0; bytes -= 1499) {
      for (const remains of ['', '\0\0\0']) {
        writeFileSync(partial, LINES[0] + LINES[1]);
        truncateSync(partial, bytes);
        appendFileSync(partial, remains);
        const journal = await open(path);
        // A line that lacks only its line break counts.
        const whole = remains === '' ? 1 : 0;
        expect(journal.size).toBe(bytes < firstEnd - whole ? 0 : bytes < end - whole ? 1 : 2);
        expect(readFileSync(partial, 'utf8')).toBe(LINES.slice(0, journal.size).join(''));
        await journal.close();
      }
    }
    writeFileSync(partial, LINES[0] + LINES[1].slice(0, 1000));
    const journal = await open(path);
    await journal.append(EPISODES[1]);
    await journal.finish(KEYS);
    await journal.commit();
    expect(readFileSync(path, 'utf8')).toBe(LINES[0] + LINES[1]);
  });
});

describe('a journal refuses, and changes nothing:', () => {
  const world = changedAt(EPISODES[1], 'world_digest', 'another');
  const schema = changedAt(EPISODES[1], 'schema.version', 0);
  it.each([
    [
      'an invalid line',
      'nonsense\n',
      /^Expected an episode at .*t\.jsonl\.partial:2, got: .*Remove that line or row, or pass another --output\.$/,
    ],
    ['another world', episodeLine(world), /world_digest: Expected .*, got "another"/],
    ['another schema', episodeLine(schema), /version 1, got "rhythm-vec\/trajectory" version 0/],
    ['the notes of another program', 'first\nlast', /Expected an episode at .*t\.jsonl\.partial:2, got/],
  ])('%s', async (_, line, message) => {
    const path = newPath();
    const text = LINES[0] + line;
    writeFileSync(`${path}.partial`, text);
    await expect(open(path)).rejects.toThrow(message);
    expect(readFileSync(`${path}.partial`, 'utf8')).toBe(text);
    // Without a whole line, nothing says that the file is a journal.
    writeFileSync(`${path}.partial`, 'a line of notes');
    await expect(open(path)).rejects.toThrow(/Expected an episode at .*t\.jsonl\.partial:1, got/);
    expect(filesBeside(path)).toEqual(['t.jsonl.partial']);
  });

  it('an episode that fails the check, and an incomplete line of the output', async () => {
    const path = newPath();
    writeFileSync(path, LINES[0]);
    const refuse = () => {
      throw new Error('of another model');
    };
    await expect(open(path, refuse)).rejects.toThrow('of another model');
    appendFileSync(path, LINES[1].slice(0, 100));
    await expect(open(path)).rejects.toThrow(/t\.jsonl:2/);
    expect(readFileSync(path, 'utf8')).toBe(LINES[0] + LINES[1].slice(0, 100));
    expect(filesBeside(path)).toEqual(['t.jsonl']);
  });
});

describe('the amount spent', () => {
  it('is read again by the next run, and removed when the work is done', async () => {
    const path = newPath();
    const journal = await open(path);
    for (const dollars of [1.25, 1e-7, 123456.789, 3]) {
      journal.noteSpent(dollars);
      const last = readFileSync(`${path}.partial`, 'utf8').trimEnd().split('\n').at(-1)!;
      expect(JSON.parse(last)).toEqual({ spent_usd: dollars });
    }
    await journal.close();
    const reopened = await open(path);
    expect(reopened.spent).toBe(3);
    await reopened.append(EPISODES[0]);
    await reopened.append(EPISODES[1]);
    await reopened.close();
    // The two episodes cost more than the 3 dollars noted, so their cost counts.
    const last = await open(path);
    expect(last.spent).toBe(2 * COST);
    await last.finish(KEYS);
    await last.commit();
    expect(filesBeside(path)).toEqual(['t.jsonl']);
  });

  it('is refused if its line holds something else', async () => {
    const path = newPath();
    writeFileSync(`${path}.partial`, '{"spent_usd":"much"}\n');
    await expect(open(path)).rejects.toThrow(/t\.jsonl\.partial:1 to hold the amount spent/);
  });
});

describe('the answers of an unfinished episode', () => {
  const answer = (completion: string) => ({
    completion,
    finish: 'stop',
    refused: false,
    usage: { requests: 1 },
  });
  const KEY = 'fake sampled 7';

  it('are read again by the next run, the first at each step, and are not part of the output', async () => {
    const path = newPath();
    const journal = await open(path);
    await Promise.all([0, 1, 2].map((step) => journal.answers.add(KEY, step, answer(`answer ${step}`))));
    await journal.append(EPISODES[0]);
    await journal.answers.add(KEY, 1, answer('a second answer'));
    await journal.close();
    // A crash may leave the beginning of a line.
    appendFileSync(`${path}.partial`, '{"answer":"fake samp');
    const reopened = await open(path);
    const { answers } = reopened;
    expect([0, 1, 2].map((step) => answers.get(KEY, step))).toEqual(
      [0, 1, 2].map((step) => answer(`answer ${step}`)),
    );
    expect([answers.size, answers.get(KEY, 3), answers.get('fake sampled 8', 0)]).toEqual([
      3,
      undefined,
      undefined,
    ]);
    await reopened.finish(KEYS);
    await reopened.commit();
    expect(readFileSync(path, 'utf8')).toBe(LINES[0]);
    expect(filesBeside(path)).toEqual(['t.jsonl']);
  });

  it('are refused under another grader or other sampling', async () => {
    const path = newPath();
    const journal = await open(path);
    await journal.answers.add(KEY, 0, answer('a'));
    await journal.close();
    for (const other of [{ grader: toGrader('v1') }, { sampling: { max_tokens: 64 } }]) {
      await expect(open(path, () => {}, { ...SETTINGS, ...other })).rejects.toThrow(
        /^Expected the answers in .*t\.jsonl\.partial:1 to be those of this --grader and these options of sampling/,
      );
    }
    await (await open(path)).close();
  });
});

describe('a second command', () => {
  it('is refused until the first is done', async () => {
    const path = newPath();
    const journal = await open(path);
    const holder = `process ${process.pid} on ${hostname()}`;
    expect(readFileSync(`${path}.lock`, 'utf8')).toBe(`${holder}\n`);
    await expect(open(path)).rejects.toThrow(`Expected no other command to work on ${path}, got ${holder}.`);
    await journal.close();
    await (await open(path)).close();
    expect(filesBeside(path)).toEqual([]);
  });

  it.each(['4194303999\n', '', 'process 1 on another-host\n'])(
    'takes over a lock file that no process holds, whatever its text: %j',
    async (content) => {
      const path = newPath();
      writeFileSync(`${path}.lock`, content);
      await (await open(path)).close();
      expect(filesBeside(path)).toEqual([]);
    },
  );
});

describe('two names of one output', () => {
  it('share one journal, beside the target of the link', async () => {
    const path = newPath();
    writeFileSync(path, LINES[0]);
    symlinkSync('t.jsonl', `${path}.link`);
    const journal = await open(`${path}.link`);
    await expect(open(path)).rejects.toThrow(/no other command to work on/);
    await journal.append(EPISODES[1]);
    expect(journal.partialPath).toBe(`${realpathSync(path)}.partial`);
    await journal.finish(KEYS.slice(0, 2));
    await journal.commit();
    expect(readFileSync(path, 'utf8')).toBe(LINES[0] + LINES[1]);
    expect(filesBeside(path)).toEqual(['t.jsonl', 't.jsonl.link']);
  });
});
