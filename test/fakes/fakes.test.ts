/** Runs the fakes as programs, and a command with the environment variables that they print. */
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { runCli, temporaryDirectory } from '../support/cli.js';

const pathOf = temporaryDirectory();
writeFileSync(pathOf('x'), 'x');

const TEACH = ['teach', '--policy', 'llm:fake', '--seeds', '100-100', '--output', pathOf('w')];
const UPLOAD = ['upload', '--repo', 'newcomer/episodes', pathOf('x')];

it.each([
  ['openai.ts', TEACH, /^1 episode in /],
  ['hub.ts', UPLOAD, /^Committed: http:\/\/127\.0\.0\.1:\d+\/datasets\/newcomer\/episodes\/commit\//m],
] as const)('%s serves a command in another process', async (name, command, expected) => {
  const fake = fileURLToPath(new URL(`./${name}`, import.meta.url));
  const words = ['--import', 'tsx', fake, '--port', '0'];
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    let printed = '';
    for await (const chunk of child.stdout) {
      printed += chunk;
      if (printed.includes('until it is interrupted')) break;
    }
    const exported = Array.from(printed.matchAll(/^export (\w+)=(.*)$/gm), ([, key, value]) => [key, value]);
    const { code, stdout, stderr } = await runCli(command, '', Object.fromEntries(exported));
    expect([code, stdout + stderr]).toEqual([0, expect.stringMatching(expected)]);
  } finally {
    child.kill();
  }
});
