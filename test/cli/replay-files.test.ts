/** The files of `rhythm-vec replay`: written whole or not at all, and never over the input. */
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

const file = temporaryDirectory();
const toLines = (rows: readonly unknown[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join('');

describe('files', () => {
  const leftovers = (path: string) => readdirSync(dirname(path)).filter((name) => name.endsWith('.tmp'));
  const row = toLines([{ seed: 1, actions: ['sleep'] }]);

  it('reads the standard input and writes the standard output', async () => {
    const result = await runCli(['replay', '--input', '-', '--output', '-'], row);
    expect(result).toMatchObject({ code: 0, stderr: '1 row replayed.\n' });
    expect(fromLines(result.stdout)).toHaveLength(1);
  });

  it('writes an empty file for empty input', async () => {
    const result = await runCli(['replay', '--input', '-', '--output', file('empty.out')]);
    expect(result).toMatchObject({ code: 0, stderr: '0 rows replayed.\n' });
    expect(readFileSync(file('empty.out'), 'utf8')).toBe('');
  });

  it('keeps the old output when interrupted, and leaves nothing beside it', async () => {
    writeFileSync(file('kept.out'), 'as it was');
    const running = startCli(['replay', '--input', '-', '--output', file('kept.out')]);
    running.child.stdin.write(`${row}bad\n`);
    await running.until('stderr', 'standard input:2:');
    expect(leftovers(file('kept.out'))).toHaveLength(1);
    running.child.kill('SIGINT');
    const { code, stderr } = await running.finished;
    expect(code).toBe(130);
    expect(stderr).toContain('Interrupted');
    expect(leftovers(file('kept.out'))).toEqual([]);
    expect(readFileSync(file('kept.out'), 'utf8')).toBe('as it was');
  });

  it('writes through a link and to a pipe without replacing them', async () => {
    writeFileSync(file('real.out'), 'old', { mode: 0o600 });
    symlinkSync(file('real.out'), file('link.out'));
    expect((await runCli(['replay', '--input', '-', '--output', file('link.out')], row)).code).toBe(0);
    expect(fromLines(readFileSync(file('real.out'), 'utf8'))).toHaveLength(1);
    expect(statSync(file('real.out')).mode & 0o777).toBe(0o600);
    expect((await runCli(['replay', '--input', '-', '--output', '/dev/null'], row)).code).toBe(0);
    expect(statSync('/dev/null').isFile()).toBe(false);
  });

  it.each([
    ['a missing input', () => ['--input', file('none'), '--output', file('x')], '--input to name a file'],
    ['a directory as input', () => ['--input', dirname(file('x')), '--output', file('x')], 'a directory'],
    ['a directory as output', () => ['--input', '-', '--output', dirname(file('x'))], 'is a directory'],
    ['a missing directory', () => ['--input', '-', '--output', file('no/x')], 'Create it first.'],
    ['no output', () => ['--input', '-'], "required option '--output <file>' not specified"],
    ['a kernel of the reference', () => ['--input', '-', '--output', '-', ...REFERENCE_KERNEL], '--kernel'],
    ['an unknown backend', () => ['--input', '-', '--output', '-', '--backend', 'natve'], 'Did you mean'],
  ])('refuses %s', async (_, args, message) => {
    const { code, stderr } = await runCli(['replay', ...args()], row);
    expect(stderr).toContain(message);
    expect(stderr).not.toMatch(/^ +at /m);
    expect(code).toBe(2);
    expect(existsSync(file('x'))).toBe(false);
  });

  it.each(['the same path', 'a hard link', 'a symbolic link'])(
    'refuses to write over its input: %s',
    async (how) => {
      const name = how.replaceAll(' ', '-');
      writeFileSync(file(name), row);
      const output = how === 'the same path' ? file(name) : file(`${name}.other`);
      if (how === 'a hard link') linkSync(file(name), output);
      if (how === 'a symbolic link') symlinkSync(file(name), output);
      const { code, stderr } = await runCli(['replay', '--input', file(name), '--output', output]);
      expect([code, stderr]).toEqual([2, expect.stringContaining('another file than --input')]);
      expect(readFileSync(file(name), 'utf8')).toBe(row);
    },
  );
});
