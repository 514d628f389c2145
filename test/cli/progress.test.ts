/** The progress of commands: a bar on a terminal, lines elsewhere. */
import { writeFileSync } from 'node:fs';
import { buffer } from 'node:stream/consumers';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { runCommand } from '../../src/cli/commands.js';
import { withProgress } from '../../src/cli/files/input-file.js';
import { createProgress, setQuiet } from '../../src/cli/progress.js';
import { temporaryDirectory } from '../support/cli.js';

const temporary = temporaryDirectory();

// Tests of other files in this process may have turned progress off.
beforeAll(() => setQuiet(false));

describe('progress', () => {
  /** A fake terminal or file that records what is written. */
  function stream(isTTY: boolean) {
    const written: string[] = [];
    const write = (text: string) => written.push(text);
    return { written, target: { isTTY, write, columns: 80 } as unknown as NodeJS.WriteStream };
  }
  /** Updates the progress at the given times in milliseconds. Returns the output. */
  function renderedAt(isTTY: boolean, times: number[], total: number): string {
    const { written, target } = stream(isTTY);
    const clock = [0, ...times];
    const progress = createProgress('episodes', target, () => clock.shift()!);
    for (const _ of times) progress.update(0, total);
    progress.stop();
    return written.join('');
  }

  it('appears on a terminal at once if the total is large, otherwise after a second', () => {
    expect(renderedAt(true, [10], 2e6)).toContain('of 2000000 episodes');
    expect(renderedAt(true, [10, 1001], 500)).toContain('of 500 episodes');
  });

  it('is silent for short work', () => {
    expect(renderedAt(true, [10, 999], 500)).toBe('');
    expect(renderedAt(false, [10, 9999], 2e6)).toBe('');
  });

  it('is a line at most every ten seconds without a terminal', () => {
    const { written, target } = stream(false);
    const times = [0, 9_000, 10_000, 15_000, 19_999, 20_000, 60_000];
    const progress = createProgress('episodes', target, () => times.shift()!);
    for (const done of [100, 250, 300, 350, 500, 1990])
      progress.update(done, 2000, done < 1000 ? '' : '$0.12');
    progress.stop();
    expect(written).toEqual([
      'progress: 12 %, 250 of 2,000 episodes, about 70 s left\n',
      'progress: 25 %, 500 of 2,000 episodes, about 60 s left\n',
      'progress: 99 %, 1,990 of 2,000 episodes, about 1 s left; $0.12\n',
    ]);
  });

  it('continues after a pause', () => {
    const { written, target } = stream(true);
    const progress = createProgress('bytes', target);
    for (const done of [5e5, 1e6]) {
      progress.update(done, 2e6);
      progress.stop();
    }
    const frames = written.join('').match(/\d+ % {2}\d+ of \d+ bytes/g);
    expect(frames).toEqual(
      expect.arrayContaining(['25 %  500000 of 2000000 bytes', '50 %  1000000 of 2000000 bytes']),
    );
  });

  it('counts the bytes of a file, and is absent for the standard input', async () => {
    const path = temporary('rows');
    writeFileSync(path, '123456');
    const seen: number[][] = [];
    const progress = {
      update: (done: number, total: number) => void seen.push([done, total]),
      stop: () => void seen.push([]),
      [Symbol.dispose]() {},
    };
    async function* chunks() {
      yield Buffer.from('1234');
      yield Buffer.from('56');
    }
    const readAll = async (from: string) => (await buffer(withProgress(from, chunks(), progress))).toString();
    expect([await readAll(path), seen]).toEqual(['123456', [[4, 6], [6, 6], []]]);
    expect([await readAll('-'), seen.slice(3)]).toEqual(['123456', [[]]]);
  });

  it('is turned off by --quiet', async () => {
    const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
    const { signal } = new AbortController();
    await runCommand(['info', '--quiet'], signal);
    expect(renderedAt(false, [10_000], 500) + renderedAt(true, [2000], 500)).toBe('');
    await runCommand(['info'], signal);
    write.mockRestore();
    expect(renderedAt(false, [10_000], 500)).not.toBe('');
  });
});
