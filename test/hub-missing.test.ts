/** The package without the Hub's library: everything else works, and an upload says what to install. */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  readonly dependencies: Readonly<Record<string, string>>;
};

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'rhythm-'));
  // A copy: a link would lead to what is installed beside this checkout.
  for (const name of ['dist', 'package.json'])
    cpSync(join(ROOT, name), join(folder, name), { recursive: true });
  for (const name of Object.keys(manifest.dependencies)) {
    const place = join(folder, 'node_modules', name);
    mkdirSync(dirname(place), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules', name), place, 'junction');
  }
  writeFileSync(join(folder, 'x.txt'), 'x');
});
afterAll(() => rmSync(folder, { recursive: true }));

const run = (...args: string[]): string =>
  execFileSync(process.execPath, ['dist/cli/main.js', ...args], {
    cwd: folder,
    encoding: 'utf8',
    env: { ...process.env, HF_TOKEN: 'hf_x', HF_ENDPOINT: 'http://127.0.0.1:1' },
    stdio: 'pipe',
  });

it('an upload is refused with the command that installs it', () => {
  expect(() => run('upload', '--repo', 'newcomer/weeks', 'x.txt')).toThrow(
    /error: Expected @huggingface\/hub, which uploads need, got: Cannot find package '@huggingface\/hub'.* Run "npm install @huggingface\/hub@2"\./,
  );
});

it('what is wrong with the arguments is said all the same, and so is the help', () => {
  expect(() => run('upload', '--repo', 'newcomer/weeks', 'y.txt')).toThrow(/there is none\. Check the path/);
  expect(run('upload', '--help')).toContain('Usage: rhythm-vec upload');
});
