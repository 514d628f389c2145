/** Commands recognise and refuse files of the wrong kind, given by path or through a pipe. */
import { writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { checkedStream, KINDS, kindOf } from '../../src/cli/files/file-kind.js';
import { jsonText } from '../../src/cli/files/output-file.js';
import { episodeLine } from '../../src/rollouts/trajectories/write-line.js';
import { SCHEMAS } from '../../src/shared/schemas.js';
import { runCli, temporaryDirectory } from '../support/cli.js';
import { AUDIT } from '../support/report.js';
import { episodeStarts, recordEpisodes } from '../support/trajectories.js';

const pathOf = temporaryDirectory();
const row = (value: object): string => `${JSON.stringify(value)}\n`;
const CALM = { name: 'calm', weights: { crash_free: 0.5, progress: 0.5 } };
const PROMPT = { messages: [{ role: 'system', content: 'x'.repeat(9000) }], seed: 100, step_index: 0 };

/** The beginning of files of most kinds. */
const FILES: readonly (readonly [kind: keyof typeof KINDS, text: string])[] = [
  [
    'trajectories',
    recordEpisodes(episodeStarts([5]))
      .map(episodeLine)
      .join(''),
  ],
  ['components', row({ schema: SCHEMAS.components, version: '0.3.0' })],
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
  [['regrade', '--components'], ['components']],
  [['replay', ...OUTPUT, '--input'], ['episodes']],
  [
    ['report', ...OUTPUT],
    ['trajectories', 'evaluation', 'reevaluation', 'audit'],
  ],
  [['eval', '--episodes', '1', '--bracket'], ['audit']],
  [['report', pathOf('audit'), ...OUTPUT, '--bracket'], ['audit']],
  [['eval', '--episodes', '1', '--grader'], ['grader']],
];

describe.each(READERS)('%j', (args, kinds) => {
  // Trajectories may be Parquet. test/cli/trajectory-parquet.test.ts tests which Parquet files are refused.
  const read = kinds.includes('trajectories') ? [...kinds, 'parquet'] : kinds;
  it.each(FILES.filter(([kind]) => !read.includes(kind)))('refuses %s', async (kind, text) => {
    writeFileSync(pathOf('audit'), jsonText(AUDIT));
    writeFileSync(pathOf(kind), text);
    const { code, stderr } = await runCli([...args, pathOf(kind)]);
    const { what, use } = KINDS[kind];
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining(`${pathOf(kind)}, which is ${what}. ${use}\n`),
    ]);
  });

  const readsPipes = kinds[0] !== 'grader' && !args.includes('--bracket');
  if (!readsPipes) return;
  it('refuses a file of another kind from a pipe', async () => {
    const other = kinds.includes('components') ? 'trajectories' : 'components';
    const text = FILES.find(([kind]) => kind === other)![1];
    const { code, stderr } = await runCli([...args, '-'], text);
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining(`got standard input, which is ${KINDS[other].what}.`),
    ]);
  });
});

it('teach refuses an output that is not a file of trajectories', async () => {
  writeFileSync(pathOf('results.json'), jsonText({ schema: SCHEMAS.evaluation }));
  const args = ['teach', '--policy', 'llm:m', '--seeds', '100-100', '--output', pathOf('results.json')];
  const { code, stderr } = await runCli(args);
  expect([code, stderr]).toEqual([2, expect.stringContaining('which is the JSON of eval.')]);
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
    const other = checkedStream(chunks(), { ...expected, kinds: [KINDS.components] });
    await expect(other.next()).rejects.toThrow(
      'Use reeval, report, train --jsonl, dataset sft or dataset dpo.',
    );
  });
});
