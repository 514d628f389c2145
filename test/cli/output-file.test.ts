/** Output files: temporary files, their removal after a killed run, order of renames, links, modes and refused paths. */
import { spawn, spawnSync } from 'node:child_process';
import fs, {
  chmodSync,
  closeSync,
  existsSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { devNull } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { UsageError } from '../../src/cli/command-errors.js';
import { checkDirectory, checkOutput, checkOutputs, PROBE } from '../../src/cli/files/check-outputs.js';
import {
  ABANDONED_MS,
  messageStream,
  openOutput,
  TOUCH_MS,
  temporaryFilesOf,
  temporaryPath,
  writeFilesAtomically,
} from '../../src/cli/files/output-file.js';
import { discardOpenOutputs, targetOf, workFilesOf } from '../../src/cli/files/paths.js';
import { LINES } from '../../src/shared/row-files/file-formats.js';
import { MAIN, runCliProcess, startCli, temporaryDirectory } from '../support/cli.js';
import { startModel } from '../support/llm.js';

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

afterEach(() => {
  vi.useRealTimers();
});

describe('outputs', () => {
  it.each([
    ['with the same beginning of their names', ['.json', '.components.jsonl', '.trajectories.jsonl']],
    ['with the same path', ['.json', '.json']],
  ])('%s are each written completely if they are open at the same time', async (_, endings) => {
    const path = newPath('p'.repeat(80));
    const outputs = await Promise.all(endings.map((ending) => openOutput(path + ending)));
    for (const [k, output] of outputs.entries()) await output.write(`${k}`.repeat(1000 * (k + 1)));
    for (const [k, output] of outputs.entries()) {
      await output.commit();
      expect(readFileSync(path + endings[k], 'utf8')).toBe(`${k}`.repeat(1000 * (k + 1)));
    }
    expect(leftovers(path)).toEqual([]);
  });

  it.each(['x'.repeat(255), '\u8A9E'.repeat(85), '\u{1F4A4}'.repeat(63), 'a\nb\u202E', ' '])(
    'may have any name that the file system accepts: %j',
    async (name) => {
      const path = newPath(name);
      checkOutput('--json', path);
      await write(path, 'whole');
      expect(readdirSync(dirname(path))).toEqual([name]);
    },
  );
});

describe('a temporary file', () => {
  /** The id of a process that has ended. */
  const endedPid = spawnSync('true').pid;
  const replay = async (path: string) => {
    const running = startCli(['replay', '--input', '-', '--output', path]);
    running.child.stdin.write('bad\n');
    await running.until('stderr', 'standard input:1:');
    return running;
  };

  it('of a killed run is removed by the next run of its output; those of live processes and other outputs stay', async () => {
    const path = newPath();
    const [killed, other, running] = await Promise.all([path, `${path}.2`, path].map(replay));
    for (const { child, finished } of [killed, other]) {
      child.kill('SIGKILL');
      await finished;
    }
    expect(leftovers(path)).toHaveLength(3);
    await write(path, 'next');
    expect(leftovers(path)).toHaveLength(2);
    running.child.stdin.end('{"seed":1,"actions":["sleep"]}\n');
    expect((await running.finished).code).toBe(1);
    expect(JSON.parse(readFileSync(path, 'utf8')).seed).toBe(1);
    await write(`${path}.2`, 'next');
    expect(leftovers(path)).toEqual([]);
  });

  // The names contain HOST-PID (output-file.ts), which these expressions match.
  it.each([
    ['of another host', (name: string) => name.replace(/[\da-f]{16}-\d+-/, `${'0'.repeat(16)}-${endedPid}-`)],
    ['of a running process', (name: string) => name.replace(/-\d+-/, `-${process.ppid}-`)],
  ])('%s is removed if nothing touched it for a day', async (_, rename) => {
    const path = newPath();
    const abandoned = join(dirname(path), rename(basename(temporaryPath(path))));
    writeFileSync(abandoned, 'half');
    const aged = (by: number) => new Date(Date.now() - by);
    utimesSync(abandoned, aged(ABANDONED_MS - 60_000), aged(ABANDONED_MS - 60_000));
    await write(path, 'first');
    expect(existsSync(abandoned)).toBe(true);
    utimesSync(abandoned, aged(ABANDONED_MS + 60_000), aged(ABANDONED_MS + 60_000));
    await write(path, 'second');
    expect(existsSync(abandoned)).toBe(false);
  });

  it('of a run that was killed while it checked its output is removed too', () => {
    const path = newPath();
    const folder = dirname(path);
    for (const target of [path, join(folder, PROBE)]) {
      writeFileSync(temporaryPath(target).replace(/-\d+-/, `-${endedPid}-`), '');
    }
    checkOutput('--json', path);
    expect(leftovers(path)).toHaveLength(1);
    checkDirectory('--output', folder);
    expect(readdirSync(folder)).toEqual([]);
    checkDirectory('--output', join(folder, 'new/report'));
    expect(readdirSync(folder)).toEqual([]);
  });

  it('is distinguished from files of other programs', async () => {
    const path = newPath();
    const id = basename(temporaryPath(path));
    const others = ['.out.jsonl.1.tmp', `x${id}`, `${id}.bak`, id.replace('-vec-', '-vec-0')];
    for (const name of others) {
      writeFileSync(join(dirname(path), name), '');
      utimesSync(join(dirname(path), name), 1, 1);
    }
    await write(path, 'whole');
    expect(readdirSync(dirname(path)).sort()).toEqual([...others, 'out.jsonl'].sort());
  });

  it('is touched by its process while the process runs', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const path = newPath();
    const output = await openOutput(path);
    const temporary = join(dirname(path), leftovers(path)[0]);
    for (let hour = 0; hour < 3; hour++) {
      utimesSync(temporary, 1, 1);
      vi.advanceTimersByTime(TOUCH_MS);
      expect(Date.now() - statSync(temporary).mtimeMs).toBeLessThan(TOUCH_MS);
    }
    await output.discard();
    expect(vi.getTimerCount()).toBe(0);
    expect(leftovers(path)).toEqual([]);
  });
});

it('a replaced file keeps its mode', async () => {
  const path = newPath();
  for (const mode of [0o600, 0o664, 0o640]) {
    rmSync(path, { force: true });
    writeFileSync(path, 'old');
    chmodSync(path, mode);
    await write(path, 'new');
    expect(statSync(path).mode & 0o777).toBe(mode);
  }
});

describe('links', () => {
  it('to a missing file stay links, and the file is created at their target', async () => {
    const path = newPath();
    const folder = dirname(path);
    mkdirSync(join(folder, 'deep'));
    mkdirSync(join(folder, 'deep/er'));
    symlinkSync('deep/er', join(folder, 'short'));
    symlinkSync('../target', join(folder, 'deep/er/second'));
    symlinkSync('short/second', path);
    expect(targetOf(path)).toMatch(/deep\/er\/\.\.\/target$/);
    checkOutput('--json', path);
    await write(path, 'whole');
    expect(lstatSync(path).isSymbolicLink()).toBe(true);
    expect(readFileSync(join(folder, 'deep/target'), 'utf8')).toBe('whole');
    expect(leftovers(join(folder, 'deep/target'))).toEqual([]);
  });

  it('that do not lead to a file are refused', () => {
    const path = newPath();
    symlinkSync('loop', join(dirname(path), 'loop'));
    expect(() => checkOutput('--json', join(dirname(path), 'loop'))).toThrow(/ELOOP/);
    symlinkSync('.', join(dirname(path), 'here'));
    expect(() => checkOutput('--json', join(dirname(path), 'here'))).toThrow(/is a directory/);
  });
});

describe('a missing directory', () => {
  it('is created with its parents when the output is opened, not when it is checked', async () => {
    const path = newPath('a/b/out.json');
    checkOutput('--json', path);
    expect(readdirSync(dirname(dirname(dirname(path))))).toEqual([]);
    await write(path, 'whole');
    expect(readFileSync(path, 'utf8')).toBe('whole');
    expect(readdirSync(dirname(path))).toEqual(['out.json']);
  });

  it('is removed with the discarded output, unless it has other files', async () => {
    const path = newPath('a/b/out.json');
    await (await openOutput(path)).discard();
    expect(readdirSync(dirname(dirname(dirname(path))))).toEqual([]);
    const output = await openOutput(path);
    writeFileSync(join(dirname(dirname(path)), 'other'), '');
    await output.discard();
    expect(readdirSync(dirname(dirname(path)))).toEqual(['other']);
  });
});

describe('checkOutput refuses, before any work,', () => {
  it('a name that ends with a slash', () => {
    expect(() => checkOutput('--json', `${newPath('new')}/`)).toThrow(/to name a file, got .*is a directory/);
    const path = newPath();
    writeFileSync(path, '');
    expect(() => checkOutput('--json', `${path}/`)).toThrow(UsageError);
  });

  it('a directory in which no file can be created, even by root', () => {
    const directory = `/proc/${process.pid}`;
    expect(() => checkOutput('--json', `${directory}/results.json`)).toThrow(
      new RegExp(`Expected ${directory} to be writable, for --json .*, got E\\w+\\. Choose another place`),
    );
    expect(() => checkDirectory('--output', `${directory}/report`)).toThrow(UsageError);
    const path = newPath();
    symlinkSync(`${directory}/comm.json`, path);
    expect(() => checkOutput('--json', path)).toThrow(UsageError);
  });

  it('the path of an open descriptor', () => {
    const path = newPath();
    const descriptor = openSync(path, 'w');
    const names = [
      `/dev/fd/${descriptor}`,
      `/proc/self/fd/${descriptor}`,
      `/proc/${process.pid}/fd/${descriptor}`,
    ];
    for (const name of names) {
      expect(() => checkOutput('--json', name)).toThrow(
        /which is an open file descriptor\. Name the file itself/,
      );
    }
    closeSync(descriptor);
  });
});

it('a pipe and a device need no writable directory', () => {
  const path = newPath('pipe');
  spawnSync('mkfifo', ['-m', '666', path]);
  for (const folder of [dirname(path), pathOf('')]) chmodSync(folder, 0o555);
  const module = new URL('../../dist/cli/files/check-outputs.js', import.meta.url).href;
  const code = `
    const { checkOutput } = await import(${JSON.stringify(module)});
    // Root may write everywhere; the user 65534, nobody, may not.
    if (process.getuid() === 0) process.setuid(65534);
    for (const path of process.argv.slice(1)) checkOutput('--json', path);
  `;
  const args = ['--input-type=module', '--eval', code];
  const { stderr, status } = spawnSync(process.execPath, [...args, path, '/dev/null'], { encoding: 'utf8' });
  for (const folder of [dirname(path), pathOf('')]) chmodSync(folder, 0o755);
  expect([status, stderr]).toEqual([0, '']);
});

describe("under Yarn's Plug'n'Play, whose file handles lack methods,", () => {
  /** Removes from file handles what the class FileHandle of @yarnpkg/fslib 3.1 lacks: there these methods throw or are missing. */
  const preload = `
    import { open } from 'node:fs/promises';
    const handle = await open('/dev/null');
    const prototype = Object.getPrototypeOf(handle);
    await handle.close();
    for (const name of ['sync', 'datasync', 'readv', 'utimes'])
      prototype[name] = () => { throw new Error('Method not implemented.'); };
    for (const name of ['readableWebStream', Symbol.asyncDispose]) delete prototype[name];`;
  const env = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(preload)}` };

  it.each(['jsonl', 'parquet'])('a command writes all its outputs; trajectories as %s', async (ending) => {
    const path = newPath(`out.${ending}`);
    writeFileSync(`${path}.grader`, '{"name":"calm","weights":{"crash_free":1}}');
    const args = ['eval', '--seeds', '0-1', '--policies', 'heuristic', '--grader', `${path}.grader`];
    const outputs = ['--json', `${path}.json`, '--trajectories', path];
    const { code, stderr } = await runCliProcess([...args, ...outputs], '', env);
    expect([code, stderr, readdirSync(dirname(path)).length]).toEqual([0, '', 3]);
  });

  it('a command with a language model keeps its episodes, and writes them', async () => {
    const path = newPath();
    const { environment } = await startModel();
    const args = ['teach', '--policy', 'llm:fake', '--seeds', '100-100', '--output', path];
    const { code, stderr } = await runCliProcess(args, '', { ...environment, ...env });
    expect([code, stderr]).toEqual([0, expect.stringContaining('1 episode in')]);
    expect(readdirSync(dirname(path))).toEqual(['out.jsonl']);
  });
});

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
        ? ['eval', '--episodes', '1', '--conditions', 'ood', '--trajectories', path]
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

/** Outputs of a command. A journal keeps the paid episodes of a language model in files beside the output. */
describe('checkOutputs', () => {
  const [there, link, grader] = ['there', 'a link', 'trajectories.lock'].map(pathOf);
  mkdirSync(pathOf('folder'));
  symlinkSync(pathOf('folder'), pathOf('same folder'));
  writeFileSync(there, '');
  symlinkSync(there, link);
  // A grader, in a file with the name of the lock file of `trajectories`.
  writeFileSync(grader, '{"name":"calm","weights":{"crash_free":1}}');

  const json = (name: string) => ({ option: '--json', path: pathOf(name) });
  const trajectories = (name: string) => ({
    // Not by pathOf, which would remove "..".
    ...{
      option: '--trajectories',
      path: `${pathOf('')}/${name}`,
      workFiles: workFilesOf(pathOf(name), LINES, true),
    },
  });
  const components = (path: string) => ({ option: '--components', path });

  const other = 'Expected --trajectories to be another file than --json, got';
  const temporary = 'Expected --json to be another file than the temporary files of --trajectories, got';
  it.each([
    ['one file twice', [json('x'), trajectories('x')], other],
    ['the same file through a link', [json('there'), trajectories('a link')], other],
    ['one new file by a linked path', [json('folder/x'), trajectories('same folder/x')], other],
    ['equal names on some file systems', [json('Na\u00efve'), trajectories('nAi\u0308ve')], other],
    ['the same file in a new folder', [json('new/x'), trajectories('new/folder/../x')], other],
    ['a file of the journal', [json('x.partial'), trajectories('x')], temporary],
    ['a file of the journal in a new folder', [json('new/x.partial'), trajectories('new/x')], temporary],
    ['a file of the journal, in another order', [trajectories('x'), json('x.partial')], temporary],
    ['a file of the journal through a link', [trajectories('a link'), json('there.lock')], temporary],
    ['one in a linked folder', [trajectories('folder/x'), json('same folder/x.partial')], temporary],
    ['the standard output twice', [{ ...json(''), path: '-' }, components('-')], 'than --json, got -.'],
    ["the grader's file", [json('trajectories.lock')], 'another file than --grader'],
    ["the grader's file as one of the journal", [trajectories('trajectories')], 'another file than --grader'],
  ])('refuses %s', (_, outputs, message) => {
    const refusal = expect(() => checkOutputs(outputs, grader));
    refusal.toThrow(UsageError);
    refusal.toThrow(message);
  });

  it('accepts different files, the null device for several, and names of a journal without a journal', () => {
    checkOutputs([json('y'), trajectories('x'), components('-')], 'v2');
    checkOutputs([{ ...json(''), path: devNull }, components(devNull), trajectories('x')], 'v2');
    checkOutputs([json('x.partial'), components(pathOf('x'))], grader);
  });
});
