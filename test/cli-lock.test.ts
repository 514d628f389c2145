/** A lock that many find left by a killed process, at the same moment: one of them has it. */
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { lock } from '../src/cli/llm/lock.js';
import { temporaryDirectory } from './support/cli.js';

const file = temporaryDirectory();
const CROWD = 4;
const ROUNDS = 200;

/** Takes the lock of each round as soon as all are there, says whether it has it, and keeps it. */
const CONTENDER = `
  const { lock } = await import(process.argv[1]);
  for await (const chunk of process.stdin) {
    for (const round of chunk.toString().split('\\n').filter(Boolean)) {
      let has = 1;
      try { lock(round); } catch (error) { has = 0; if (error.constructor.name !== 'UsageError') throw error; }
      process.stdout.write(has + '\\n');
    }
  }
`;

it('is taken over by one', async () => {
  const module = fileURLToPath(new URL('../src/cli/llm/lock.ts', import.meta.url));
  const args = ['--import', 'tsx', '--input-type=module', '-e', CONTENDER, module];
  const crowd = Array.from({ length: CROWD }, () => spawn(process.execPath, args, { stdio: 'pipe' }));
  const answers = crowd.map(({ stdout }) => linesOf(stdout));
  const lefts = ['4194303999\n', ''];
  for (let round = 0; round < ROUNDS; round++) {
    const path = file(`${round}`);
    if (round % 3 < 2) writeFileSync(`${path}.lock`, lefts[round % 3]);
    for (const { stdin } of crowd) stdin.write(`${path}\n`);
    const had = await Promise.all(answers.map(async (lines) => (await lines.next()).value as string));
    const winner = crowd[had.indexOf('1')];
    expect(had.filter((answer) => answer === '1').length, `round ${round}`).toBe(1);
    expect(readFileSync(`${path}.lock`, 'utf8')).toBe(`${winner.pid}\n`);
  }
  for (const { stdin } of crowd) stdin.end();
  expect(readdirSync(dirname(file('0'))).filter((name) => !/^\d+\.lock$/.test(name))).toEqual([]);
});

async function* linesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  for await (const chunk of chunks) yield* chunk.toString().split('\n').filter(Boolean);
}

it('that nobody else wants is given back, and harmless to give back twice', () => {
  const unlock = lock(file('own'));
  unlock();
  writeFileSync(file('own.lock'), 'of another');
  unlock();
  expect(readFileSync(file('own.lock'), 'utf8')).toBe('of another');
});
