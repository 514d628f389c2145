/** Open outputs (not committed yet): synced before they are renamed, renamed in order, and removed when the process ends. */
import { spawn, spawnSync } from 'node:child_process';
import fs, { closeSync, fstatSync, mkdirSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { dirname, join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import {
  discardOpenOutputs,
  messageStream,
  openOutput,
  writeFilesAtomically,
} from '../../src/cli/files/output-file.js';
import { temporaryFilesOf } from '../../src/cli/files/temporary-file.js';
import { MAIN, temporaryDirectory } from '../support/cli.js';

const pathOf = temporaryDirectory();
let folderCount = 0;
/** Returns a path in a new empty folder. */
function newPath(name = 'out.jsonl'): string {
  const folder = pathOf(`${folderCount++}`);
  mkdirSync(folder);
  return join(folder, name);
}
const leftovers = (path: string): string[] =>
  readdirSync(dirname(path)).filter((name) => name.endsWith('.tmp'));

async function write(path: string, data: string): Promise<void> {
  const output = await openOutput(path);
  await output.write(data);
  await output.commit();
}

describe('open outputs', () => {
  it('are removed by discardOpenOutputs; committed files stay', async () => {
    const paths = [newPath(), newPath()];
    await write(paths[0], 'whole');
    const open = await Promise.all(paths.map(openOutput));
    for (const output of open) await output.write('half');
    discardOpenOutputs();
    expect(paths.map((path) => readdirSync(dirname(path)))).toEqual([['out.jsonl'], []]);
    expect(readFileSync(paths[0], 'utf8')).toBe('whole');
    for (const output of open) await output.discard();
  });

  it.each([
    ['by a signal during a blocking call', 'SIGTERM', null],
    ['by an error of the standard output', null, 1],
  ])('are removed when a command ends %s', async (_, signal, code) => {
    const path = newPath();
    const pipe = join(dirname(path), 'pipe');
    spawnSync('mkfifo', [pipe]);
    // No process writes to the pipe, so opening it blocks.
    const args =
      signal === null
        ? ['eval', '--episodes', '1', '--conditions', 'ood', '--components', path]
        : ['replay', '--input', pipe, '--output', path];
    const full = openSync('/dev/full', 'w');
    const child = spawn(process.execPath, [MAIN, ...args], {
      stdio: ['ignore', signal === null ? full : 'ignore', 'ignore'],
    });
    closeSync(full);
    const ended = new Promise((resolve) => child.on('close', (...end) => resolve(end)));
    if (signal !== null) {
      await vi.waitUntil(() => leftovers(path).length > 0, 60_000);
      child.kill(signal as NodeJS.Signals);
    }
    expect(await ended).toEqual([code, signal]);
    expect(leftovers(path)).toEqual([]);
  });

  it('are synced to disk before they are renamed', async () => {
    const path = newPath();
    await write(path, 'old');
    const contents: unknown[] = [];
    const { fsync } = fs;
    const spy = vi.spyOn(fs, 'fsync').mockImplementation((descriptor, done) =>
      fsync(descriptor, (error) => {
        contents.push(readFileSync(path, 'utf8'), fstatSync(descriptor).size);
        done(error);
      }),
    );
    syncBuiltinESMExports();
    await write(path, 'new').finally(() => {
      spy.mockRestore();
      syncBuiltinESMExports();
    });
    expect(contents).toEqual(['old', 'new'.length]);
    expect(readFileSync(path, 'utf8')).toBe('new');
  });

  /** Writes three files to a new folder. @param beforeLast is called when the others are open, but not renamed. */
  async function writeThree(beforeLast: (folder: string) => void): Promise<string> {
    const folder = dirname(newPath());
    const files = ['first', 'second', 'last'].map((name) => ({
      path: join(folder, name),
      get data() {
        if (name === 'last') beforeLast(folder);
        return name;
      },
    }));
    await expect(writeFilesAtomically(files)).rejects.toThrow(/^Expected \S+second to be a file|rename/);
    return folder;
  }

  it('are not renamed if one of them cannot be completed', async () => {
    const folder = await writeThree((folder) => mkdirSync(join(folder, 'second')));
    expect(readdirSync(folder)).toEqual(['second']);
  });

  it('are renamed in order, and no more are renamed after a failure', async () => {
    const folder = await writeThree((folder) => {
      rmSync(temporaryFilesOf(join(folder, 'second'))[0]);
    });
    expect(readdirSync(folder)).toEqual(['first']);
    expect(readFileSync(join(folder, 'first'), 'utf8')).toBe('first');
  });
});

it('messageStream returns the standard error if an output goes to the standard output', () => {
  expect(messageStream()).toBe(process.stdout);
  expect(messageStream(undefined, 'x.json')).toBe(process.stdout);
  expect(messageStream('x.json', '-')).toBe(process.stderr);
});
