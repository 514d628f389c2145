/** Input files: lines of any bytes, files of the wrong kind given by path or through a pipe, and graders. */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { messageOf } from '../../src/cli/command-errors.js';
import { checkedStream, KINDS, kindOf } from '../../src/cli/files/file-kind.js';
import { readGrader } from '../../src/cli/files/grader-file.js';
import { readLines } from '../../src/cli/files/lines.js';
import { jsonText } from '../../src/cli/files/output-file.js';
import { graderWeights, InputError, validateGrader } from '../../src/index.js';
import { SCHEMAS } from '../../src/shared/schemas.js';
import { runCli, temporaryDirectory } from '../support/cli.js';
import { AUDIT } from '../support/report.js';
import { episodesText } from '../support/trajectories.js';

const pathOf = temporaryDirectory();
const row = (value: object): string => `${JSON.stringify(value)}\n`;
const CALM = { name: 'calm', weights: { crash_free: 0.5, progress: 0.5 } };
const PROMPT = { messages: [{ role: 'system', content: 'x'.repeat(9000) }], seed: 100, step_index: 0 };

/** The beginning of files of most kinds. */
const FILES: readonly (readonly [kind: keyof typeof KINDS, text: string])[] = [
  ['trajectories', episodesText([5])],
  ['evaluation', jsonText({ schema: SCHEMAS.evaluation, rows: [] })],
  ['reevaluation', jsonText({ schema: SCHEMAS.reevaluation, rows: [] })],
  ['audit', jsonText(AUDIT)],
  ['regrade', jsonText({ schema: SCHEMAS.regrade })],
  ['bench', jsonText({ schema: SCHEMAS.bench })],
  ['episodes', row({ seed: 5, actions: ['sleep'] }).repeat(2)],
  ['replayed', row({ seed: 5, profile: 'sampled', belief_target: [0, 0, 0], steps: [] })],
  ['grader', jsonText(CALM)],
  ['grader', row({ schema: SCHEMAS.grader, ...CALM })],
  ['sftRows', row({ ...PROMPT, teacher: 'planner-wellbeing' })],
  ['grpoRows', row({ ...PROMPT, action_history: [] })],
  ['dpoRows', row({ prompt: [], chosen: [], rejected: [], seed: 100, step_index: 0 })],
  ['parquet', 'PAR1 and other bytes'],
];

const OUTPUT = ['--output', pathOf('x/out')];
/** Arguments of commands, without the path of the input at their end, and the kinds of file that they read. */
const READERS: readonly (readonly [args: readonly string[], kinds: readonly string[]])[] = [
  [['reeval', '--jsonl'], ['trajectories']],
  [['dataset', 'sft', ...OUTPUT, '--jsonl'], ['trajectories']],
  [['regrade', '--jsonl'], ['trajectories']],
  [['replay', ...OUTPUT, '--input'], ['episodes']],
  [
    ['report', ...OUTPUT],
    ['trajectories', 'evaluation', 'reevaluation', 'audit'],
  ],
  [['eval', '--episodes', '1', '--bracket'], ['audit']],
  [['report', pathOf('audit'), ...OUTPUT, '--bracket'], ['audit']],
  [['eval', '--episodes', '1', '--grader'], ['grader']],
];

it.each(READERS)('%j refuses files of other kinds, also from a pipe', async (args, kinds) => {
  writeFileSync(pathOf('audit'), jsonText(AUDIT));
  // Trajectories may be Parquet. test/cli/trajectory-parquet.test.ts tests which Parquet files are refused.
  const read = kinds.includes('trajectories') ? [...kinds, 'parquet'] : kinds;
  for (const [kind, text] of FILES.filter(([each]) => !read.includes(each))) {
    writeFileSync(pathOf(kind), text);
    const { code, stderr } = await runCli([...args, pathOf(kind)]);
    const { what, use } = KINDS[kind];
    expect(stderr).toContain(`${pathOf(kind)}, which is ${what}. ${use}\n`);
    expect(code).toBe(2);
  }
  if (kinds[0] === 'grader' || args.includes('--bracket')) return;
  const other = kinds.includes('trajectories') ? 'grader' : 'trajectories';
  const { code, stderr } = await runCli([...args, '-'], FILES.find(([kind]) => kind === other)![1]);
  expect(stderr).toContain(`got standard input, which is ${KINDS[other].what}.`);
  expect(code).toBe(2);
});

async function* neverEnding(text: string) {
  yield Buffer.from(text);
  await new Promise(() => {});
}

describe('the kind of a file', () => {
  it.each(FILES)('is recognised by its beginning: %s', (kind, text) => {
    expect(kindOf(Buffer.from(text))).toBe(KINDS[kind]);
    expect(kindOf(Buffer.from(`\uFEFF\n${text}`))).toBe(kind === 'parquet' ? null : KINDS[kind]);
    expect(kindOf(Buffer.from(`\uFEFF\n\uFEFF${text}`))).toBe(kind === 'parquet' ? null : KINDS[kind]);
  });

  it.each(['', '\n', '{', '7', 'null', '[]', '{"schema":7}', '{"schema":{"name":"x"}}', 'seed,actions\n'])(
    'is unknown for the text %j',
    (text) => expect(kindOf(Buffer.from(text))).toBeNull(),
  );

  it('is found in the first chunks of a stream, which then yields all its chunks', async () => {
    const text = FILES[0][1];
    async function* chunks() {
      for (let at = 0; at < text.length; at += 1000) yield Buffer.from(text.slice(at, at + 1000));
    }
    const expected = { option: '--jsonl', name: 'x', kinds: [KINDS.trajectories] };
    let read = '';
    for await (const chunk of checkedStream(chunks(), expected)) read += Buffer.from(chunk).toString();
    expect(read).toBe(text);
    const open = checkedStream(neverEnding('\nnothing\n'), expected);
    expect((await open.next()).value).toEqual(Buffer.from('\nnothing\n'));
    const other = checkedStream(chunks(), { ...expected, kinds: [KINDS.grader] });
    await expect(other.next()).rejects.toThrow(
      'Use reeval, report, train --jsonl, dataset sft or dataset dpo.',
    );
  });
});

describe('readLines', () => {
  const read = async (bytes: Buffer) => {
    async function* chunks() {
      yield bytes;
    }
    const lines = [];
    for await (const line of readLines(chunks(), 100)) lines.push(line);
    return lines;
  };

  it('yields a problem instead of the text of a line that is too long', async () => {
    async function* chunks() {
      for (let i = 0; i < 1000; i++) yield Buffer.alloc(1000, 'x');
      yield Buffer.from(`\n${'y'.repeat(60)}`);
      yield Buffer.from(`${'y'.repeat(40)}\n${'z'.repeat(101)}\nshort`);
    }
    const lines = [];
    for await (const line of readLines(chunks(), 100)) lines.push(line);
    expect(lines).toEqual([
      {
        ...{ number: 1, start: 0, end: 1_000_000, text: null },
        problem: 'Expected a line of at most 100 bytes, got 1000000.',
      },
      { number: 2, start: 1_000_001, end: 1_000_101, text: 'y'.repeat(100) },
      {
        ...{ number: 3, start: 1_000_102, end: 1_000_203, text: null },
        problem: 'Expected a line of at most 100 bytes, got 101.',
      },
      { number: 4, start: 1_000_204, end: 1_000_209, text: 'short' },
    ]);
  });

  it('removes the byte order marks at the beginning of a line, which joined files have, and no others', async () => {
    const texts = (await read(Buffer.from('\uFEFF\uFEFFa\n\uFEFFb\uFEFF\n\uFEFF\n'))).map(({ text }) => text);
    expect(texts).toEqual(['a', 'b\uFEFF', '']);
  });

  it.each([
    ['gzip', gzipSync('{"seed":1}\n'), 'got a gzip file. Unpack it first'],
    ['little-endian UTF-16', Buffer.from('\uFEFF{}\n', 'utf16le'), 'got UTF-16. Convert it first'],
    ['big-endian UTF-16', Buffer.from('\uFEFF{}\n', 'utf16le').swap16(), 'got UTF-16. Convert it'],
    ['binary', Buffer.from([0xff, 0x0a]), 'got other bytes.'],
  ])(
    'reports a first line in another format, and names gzip and UTF-16 only there: %s',
    async (_, bytes, problem) => {
      const [{ number, text, problem: got }] = await read(bytes);
      expect([number, text, got]).toEqual([1, null, expect.stringContaining(problem)]);
      const [, second] = await read(Buffer.concat([Buffer.from('\n'), bytes]));
      expect(second.problem ?? '').not.toMatch(/gzip|UTF-16/);
    },
  );
});

const calm = { name: 'calm', weights: { crash_free: 0.5, efficiency: 0.3, belief_accuracy: 0.2 } };
function write(name: string, content: string | Uint8Array): string {
  writeFileSync(pathOf(name), content);
  return pathOf(name);
}
const calmFile = write('calm.json', JSON.stringify(calm));

describe('readGrader', () => {
  it('accepts a built-in name or a file', async () => {
    expect(graderWeights(await readGrader('v1'))).toEqual(graderWeights('v1'));
    expect(await readGrader(calmFile)).toEqual(validateGrader(calm));
    expect(await readGrader(write('marked.json', `\uFEFF${JSON.stringify(calm)}\r\n`))).toEqual(
      validateGrader(calm),
    );
  });

  it('reads a pipe, and refuses a device that gives more than the maximum size of a grader', async () => {
    execFileSync('mkfifo', [pathOf('pipe')]);
    const reading = readGrader(pathOf('pipe'));
    await writeFile(pathOf('pipe'), JSON.stringify(calm));
    expect(await reading).toEqual(validateGrader(calm));
    await expect(readGrader('/dev/zero')).rejects.toThrow('at most 65536 bytes in /dev/zero, got more');
  });

  it.each(['\x1b[2J{"name"', '{"name":"\u202Emlac"}', '{"name":"\x00\r\b"}'])(
    'replaces control characters in the error: %j',
    async (content) => {
      const message = await readGrader(write('escape\x1b[0m.json', content)).then(String, messageOf);
      expect(message).toMatch(
        /^error: Expected [^\p{Cc}\p{Bidi_Control}]*\uFFFD[^\p{Cc}\p{Bidi_Control}]*$/u,
      );
    },
  );

  it.each([
    ['an empty file', '', 'got an empty text'],
    ['a file that is too large', ' '.repeat(65_537), 'at most 65536 bytes'],
    ['invalid UTF-8', Uint8Array.of(0x22, 0xff, 0x22), 'Expected UTF-8 in'],
    ['a file of NUL bytes', new Uint8Array(100), 'got invalid JSON'],
    [
      'a misspelt component',
      '{"name":"x","weights":{"progres":1}}',
      'got "progres". Did you mean "progress"?',
    ],
    ['weights that sum to 2', '{"name":"x","weights":{"progress":2}}', 'Expected weights that sum to 1'],
    ['the name of a built-in grader', '{"name":"v2","weights":{"progress":1}}', 'at name of '],
  ])('refuses %s with an error that names the file', async (_, content, message) => {
    const path = write('bad.json', content);
    await expect(readGrader(path)).rejects.toThrow(InputError);
    await expect(readGrader(path)).rejects.toThrow(message);
    await expect(readGrader(path)).rejects.toThrow(path);
  });
});
