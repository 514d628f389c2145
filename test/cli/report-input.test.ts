/** Inputs of a report, read in bounded memory, and the files of earlier reports that it replaces. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readLines } from '../../src/cli/files/lines.js';
import { temporaryPath } from '../../src/cli/files/temporary-file.js';
import { checkReplaceable, earlierFiles, PAGE } from '../../src/cli/report/report-directory.js';
import { readBeginning } from '../../src/cli/report/report-input.js';
import { FILES_META } from '../../src/report/page.js';
import { temporaryDirectory } from '../support/cli.js';

const pathOf = temporaryDirectory();

describe('the beginning of a file', () => {
  const begin = (text: string, maxBytes: number) => {
    async function* chunks() {
      yield Buffer.from(text);
    }
    return readBeginning(readLines(chunks(), 1000), maxBytes);
  };

  it('omits blank lines', async () => {
    const { firstLines, value } = await begin(
      `${'\n'.repeat(1000)} \t\n{"a":\n\n1}${'\r\n'.repeat(1000)}`,
      1000,
    );
    expect(firstLines.map(({ number, text }) => [number, text])).toEqual([
      [1002, '{"a":'],
      [1004, '1}'],
    ]);
    expect(value).toEqual({ a: 1 });
  });

  // A line counts 65 bytes, its one byte and LINE_COST (report-input.ts): 100 lines fit into 6,500 bytes. The line that does
  // not fit is the last one read.
  it('ends after 101 short lines, because each line takes more memory than its bytes', async () => {
    const { firstLines, value } = await begin('1\n'.repeat(10_000), 6500);
    expect([firstLines.length, value]).toEqual([101, undefined]);
    expect((await begin('1\n'.repeat(100), 6500)).firstLines).toHaveLength(100);
  });
});

describe('files of earlier reports', () => {
  const pageOf = (...names: string[]): string => `<meta name="${FILES_META}" content="${names.join(' ')}">`;
  const folder = (name: string, ...names: string[]): string => {
    mkdirSync(pathOf(name));
    for (const each of names) writeFileSync(pathOf(`${name}/${each}`), 'a figure');
    return pathOf(name);
  };
  /** Writes the temporary page of a report that was killed before the rename. */
  const writeTemporaryPage = (directory: string, page: string): void => {
    const endedPid = spawnSync('true').pid;
    writeFileSync(temporaryPath(`${directory}/${PAGE}`).replace(/-\d+-/, `-${endedPid}-`), page);
  };

  it('may be replaced if an earlier report was killed before it wrote the page', () => {
    const directory = folder('new', 'scores.svg', 'mine.svg');
    writeTemporaryPage(directory, pageOf('scores.svg', 'scores.png'));
    expect(earlierFiles(directory)).toEqual(['scores.svg', 'scores.png']);
    expect(() => checkReplaceable('--output', directory, ['scores.svg', PAGE])).not.toThrow();
    expect(() => checkReplaceable('--output', directory, ['mine.svg'])).toThrow(
      /got mine\.svg\. Name another/,
    );
  });

  it('are the page and the files that it and the temporary page name, each once', () => {
    const directory = folder('over', 'scores.svg', 'episode-1.svg');
    writeFileSync(`${directory}/${PAGE}`, pageOf('scores.svg'));
    writeTemporaryPage(directory, pageOf('scores.svg', 'episode-1.svg'));
    expect(earlierFiles(directory)).toEqual([PAGE, 'scores.svg', 'episode-1.svg']);
  });

  it('are none if the page is of another program', () => {
    const directory = folder('foreign', 'scores.svg');
    writeFileSync(`${directory}/${PAGE}`, '<title>mine</title>');
    writeTemporaryPage(directory, 'cut off <meta');
    expect(earlierFiles(directory)).toEqual([]);
  });
});
