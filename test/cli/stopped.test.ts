/** Commands as processes: a signal leaves every output as it was, and nothing beside it but FILE.partial; a closed pipe loses no file. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { type Running, startCli, temporaryDirectory } from '../support/cli.js';

const pathOf = temporaryDirectory();
/** A number of rows, chosen by hand. Their output and the reports of invalid rows are much longer than a pipe's buffer. */
const MANY = 2000;
const rows = (count: number) =>
  Array.from(
    { length: count },
    (_, seed) => `${JSON.stringify({ seed, actions: Array(28).fill('sleep') })}\n`,
  ).join('');

/** Waits until a command has opened an output. */
const untilOpen = (folder: string) =>
  vi.waitUntil(() => readdirSync(folder).some((name) => name.endsWith('.tmp')), 60_000);

/** Writes the beginning of an input that does not end, and waits until its last line is refused. */
const untilRefused = async ({ child, until }: Running, lines: number) => {
  child.stdin.write(`${rows(lines - 1)}nonsense\n`);
  await until('stderr', `standard input:${lines}`);
};

type Stopped = readonly [
  args: string,
  signal: 'SIGHUP' | 'SIGINT' | 'SIGTERM',
  outputs: readonly string[],
  ready: (folder: string, running: Running) => Promise<unknown>,
];
/** `FOLDER` is a folder of the test. The outputs are options, whose files exist when the command starts. */
const STOPPED: readonly Stopped[] = [
  ['eval --seeds 0-9999', 'SIGINT', ['--json', '--trajectories'], untilOpen],
  [
    // Once a write to the pipe returns, the command is reading the grader.
    'audit --grader FOLDER/pipe --evaluations 1000000000 --output FOLDER/new',
    'SIGTERM',
    ['--json'],
    (folder) => writeFile(join(folder, 'pipe'), '{"name":"calm","weights":{"crash_free":1}}'),
  ],
  ['teach --seeds 0-9999', 'SIGINT', ['--output'], untilOpen],
  ['replay --input -', 'SIGHUP', ['--output'], (_, running) => untilRefused(running, 5001)],
  ['reeval --jsonl -', 'SIGINT', ['--json'], (_, running) => untilRefused(running, 1)],
  ['dataset grpo --rows 3000000 --format jsonl', 'SIGTERM', ['--output'], untilOpen],
  ['dataset sft --output FOLDER/new --jsonl -', 'SIGTERM', [], (_, running) => untilRefused(running, 1)],
];

it.each(STOPPED)('%s, stopped by %s', async (args, signal, outputs, ready) => {
  const folder = pathOf(args.replaceAll(/\W+/g, '-'));
  mkdirSync(folder);
  if (args.includes('/pipe')) execFileSync('mkfifo', [join(folder, 'pipe')]);
  const files = outputs.map((option) => join(folder, `kept${option}`));
  for (const path of files) writeFileSync(path, 'as it was');
  const before = readdirSync(folder);
  const options = outputs.flatMap((option, k) => [option, files[k]]);
  const running = startCli([...args.replaceAll('FOLDER', folder).split(' '), ...options]);
  await ready(folder, running);
  running.child.kill(signal);
  const { code, stderr } = await running.finished;
  expect(code).toBe({ SIGHUP: 129, SIGINT: 130, SIGTERM: 143 }[signal]);
  expect(stderr).toMatch(/^error: Interrupted\. No output file was changed\.\n$/m);
  // continue.test.ts is about the episodes that eval and teach keep.
  expect(readdirSync(folder).filter((name) => !name.endsWith('.partial'))).toEqual(before);
  for (const path of files) expect(readFileSync(path, 'utf8'), basename(path)).toBe('as it was');
});

describe('if the reader closes the pipe early,', () => {
  it('eval still writes its JSON file', async () => {
    const json = pathOf('results.json');
    const { child, finished } = startCli(['eval', '--episodes', '1', '--json', json]);
    child.stdin.end();
    child.stdout.destroy();
    expect((await finished).code).toBe(0);
    expect(JSON.parse(readFileSync(json, 'utf8')).rows.length).toBeGreaterThan(0);
  });

  it('replay completes its output although it cannot report the invalid rows', async () => {
    const [input, output] = [pathOf('bad.jsonl'), pathOf('good.jsonl')];
    writeFileSync(input, `nonsense\n${rows(1)}${'nonsense\n'.repeat(MANY)}`);
    const { child, finished } = startCli(['replay', '--input', input, '--output', output]);
    child.stdin.end();
    child.stderr.destroy();
    expect((await finished).code).toBe(1);
    expect(readFileSync(output, 'utf8').split('\n')).toHaveLength(2);
  });

  it('replay to the standard output exits with 0', async () => {
    const { child, finished } = startCli(['replay', '--input', '-', '--output', '-']);
    child.stdin.end(rows(MANY));
    child.stdout.destroy();
    expect((await finished).code).toBe(0);
  });
});
