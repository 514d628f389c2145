/** Walks docs/tutorial.md in an empty folder that has this checkout installed, and compares the output with the page. */
import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, it } from 'vitest';
import { consoleBlocks } from '../support/console-blocks.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const page = readFileSync(`${ROOT}docs/tutorial.md`, 'utf8');
const [curve, scores, verdict] = consoleBlocks('docs/tutorial.md');

const folder = mkdtempSync(join(tmpdir(), 'rhythm-vec-'));
afterAll(() => rmSync(folder, { recursive: true }));
const run = (...args: string[]): string =>
  execFileSync(process.execPath, args, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });

it('the training has the curve of the page, and its policy the scores and the verdict', () => {
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(ROOT, join(folder, 'node_modules/rhythm-vec'), 'junction');
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  copyFileSync(`${ROOT}lib/examples/train.js`, join(folder, 'train.js'));
  expect(run('train.js')).toBe(`${curve}\n`);

  writeFileSync(join(folder, 'mine.js'), /^```js\n(.*?)^```$/ms.exec(page)![1]);
  const [, options] = /^npx rhythm-vec (eval .*)$/m.exec(page)!;
  const output = run(`${ROOT}lib/cli.js`, ...options.split(' '));
  expect(output).toContain(`${scores}\n`);
  expect(output).toContain(`${verdict}\n`);
});
