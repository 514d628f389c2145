/** The files of `rhythm-vec replay`: written completely or not at all, and never over the input. */
import {
  existsSync,
  linkSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fromLines, runCli, startCli, temporaryDirectory } from '../support/cli.js';

const REFERENCE_KERNEL = ['--backend', 'reference', '--kernel', 'avx2'];

const pathOf = temporaryDirectory();
const toLines = (rows: readonly unknown[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join('');

describe('replay', () => {
  const leftovers = (path: string) => readdirSync(dirname(path)).filter((name) => name.endsWith('.tmp'));
  const row = toLines([{ seed: 1, actions: ['sleep'] }]);

  it('reads the standard input and writes the standard output', async () => {
    const result = await runCli(['replay', '--input', '-', '--output', '-'], row);
    expect(result).toMatchObject({ code: 0, stderr: '1 row replayed.\n' });
    expect(fromLines(result.stdout)).toHaveLength(1);
  });

  it('writes an empty file for empty input', async () => {
    const result = await runCli(['replay', '--input', '-', '--output', pathOf('empty.out')]);
    expect(result).toMatchObject({ code: 0, stderr: '0 rows replayed.\n' });
    expect(readFileSync(pathOf('empty.out'), 'utf8')).toBe('');
  });

  it('keeps the old output when interrupted, and leaves nothing beside it', async () => {
    writeFileSync(pathOf('kept.out'), 'as it was');
    const running = startCli(['replay', '--input', '-', '--output', pathOf('kept.out')]);
    running.child.stdin.write(`${row}bad\n`);
    await running.until('stderr', 'standard input:2:');
    expect(leftovers(pathOf('kept.out'))).toHaveLength(1);
    running.child.kill('SIGINT');
    const { code, stderr } = await running.finished;
    expect(code).toBe(130);
    expect(stderr).toContain('Interrupted');
    expect(leftovers(pathOf('kept.out'))).toEqual([]);
    expect(readFileSync(pathOf('kept.out'), 'utf8')).toBe('as it was');
  });

  it('writes through a link and to a device without replacing them', async () => {
    writeFileSync(pathOf('real.out'), 'old', { mode: 0o600 });
    symlinkSync(pathOf('real.out'), pathOf('link.out'));
    expect((await runCli(['replay', '--input', '-', '--output', pathOf('link.out')], row)).code).toBe(0);
    expect(fromLines(readFileSync(pathOf('real.out'), 'utf8'))).toHaveLength(1);
    expect(statSync(pathOf('real.out')).mode & 0o777).toBe(0o600);
    expect((await runCli(['replay', '--input', '-', '--output', '/dev/null'], row)).code).toBe(0);
    expect(statSync('/dev/null').isFile()).toBe(false);
  });

  it.each([
    ['a missing input', () => ['--input', pathOf('none'), '--output', pathOf('x')], '--input to name a file'],
    [
      'an input that is a directory',
      () => ['--input', dirname(pathOf('x')), '--output', pathOf('x')],
      'a directory',
    ],
    [
      'an output that is a directory',
      () => ['--input', '-', '--output', dirname(pathOf('x'))],
      'is a directory',
    ],
    [
      'an output inside a file',
      () => ['--input', '-', '--output', '/dev/null/no/x'],
      '/dev/null is not a directory',
    ],
    ['a call without --output', () => ['--input', '-'], "required option '--output <file>' not specified"],
    [
      'a kernel with the reference backend',
      () => ['--input', '-', '--output', '-', ...REFERENCE_KERNEL],
      '--kernel',
    ],
    ['an unknown backend', () => ['--input', '-', '--output', '-', '--backend', 'natve'], 'Did you mean'],
  ])('refuses %s', async (_, args, message) => {
    const { code, stderr } = await runCli(['replay', ...args()], row);
    expect(stderr).toContain(message);
    expect(stderr).not.toMatch(/^ +at /m);
    expect(code).toBe(2);
    expect(existsSync(pathOf('x'))).toBe(false);
  });

  it.each(['the same path', 'a hard link', 'a symbolic link'])(
    'refuses to write over its input: %s',
    async (how) => {
      const name = how.replaceAll(' ', '-');
      writeFileSync(pathOf(name), row);
      const output = how === 'the same path' ? pathOf(name) : pathOf(`${name}.other`);
      if (how === 'a hard link') linkSync(pathOf(name), output);
      if (how === 'a symbolic link') symlinkSync(pathOf(name), output);
      const { code, stderr } = await runCli(['replay', '--input', pathOf(name), '--output', output]);
      expect([code, stderr]).toEqual([2, expect.stringContaining('another file than --input')]);
      expect(readFileSync(pathOf(name), 'utf8')).toBe(row);
    },
  );
});
