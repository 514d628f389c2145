/** Reads input files line by line: limits of length, byte order marks, and files of another format. */
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { readLines } from '../../src/cli/files/lines.js';

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
      { number: 1, text: null, problem: 'Expected a line of at most 100 bytes, got 1000000.' },
      { number: 2, text: 'y'.repeat(100) },
      { number: 3, text: null, problem: 'Expected a line of at most 100 bytes, got 101.' },
      { number: 4, text: 'short' },
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
