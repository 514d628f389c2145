/** A closed pipe loses no file, a signal leaves no incomplete file; unknown and empty option values are refused. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { runCli, startCli, temporaryDirectory } from '../support/cli.js';

const pathOf = temporaryDirectory();
/** A number of rows, chosen by hand. Their output and the reports of invalid rows are much longer than a pipe's buffer. */
const MANY = 20_000;
const rows = (count: number) =>
  Array.from(
    { length: count },
    (_, seed) => `${JSON.stringify({ seed, actions: Array(28).fill('sleep') })}\n`,
  ).join('');

describe('if the reader closes the pipe early,', () => {
  it('eval still writes its JSON file', async () => {
    const json = pathOf('results.json');
    const { child, finished } = startCli(['eval', '--json', json]);
    child.stdin.end();
    child.stdout.destroy();
    expect((await finished).code).toBe(0);
    expect(JSON.parse(readFileSync(json, 'utf8')).rows.length).toBeGreaterThan(0);
  });

  it('replay completes its output although it cannot report the invalid rows', async () => {
    const input = pathOf('bad.jsonl');
    const output = pathOf('good.jsonl');
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

it.each(['SIGHUP', 'SIGINT', 'SIGTERM'] as const)('%s leaves no incomplete file', async (signal) => {
  const output = pathOf(`${signal}.jsonl`);
  const { child, finished, until } = startCli(['replay', '--input', '-', '--output', output]);
  // When the invalid row is reported, the output is open. The input never ends. The number of rows is chosen by hand.
  child.stdin.write(`${rows(5000)}nonsense\n`);
  await until('stderr', 'standard input:5001');
  child.kill(signal);
  expect((await finished).code).toBe({ SIGHUP: 129, SIGINT: 130, SIGTERM: 143 }[signal]);
  expect(existsSync(output)).toBe(false);
  expect(readdirSync(pathOf('')).filter((name) => name.endsWith('.tmp'))).toEqual([]);
});

it.each([
  ['--conditions', 'constructor'],
  ['--policies', '__proto__'],
  ['--grader', 'toString'],
  ['--profiles', 'hasOwnProperty'],
])('eval refuses %s %s as an unknown name', async (option, name) => {
  const { code, stderr } = await runCli(['eval', option, name]);
  expect(code).toBe(2);
  expect(stderr).toMatch(/^error: Expected/);
  expect(stderr).not.toContain(' at ');
});

it('eval refuses an empty output name', async () => {
  const { code, stdout, stderr } = await runCli(['eval', '--json', '']);
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).toContain('Expected --json to name a file, got an empty name.');
});
