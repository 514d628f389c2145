/** The parts of `rhythm-vec build`: node-gyp is found, its output becomes progress and errors, and an interruption ends it. */
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import {
  compileAddon,
  compileCopy,
  describeFailure,
  findNodeGyp,
  runProcess,
} from '../../src/cli/compile-addon.js';

let folder: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'rhythm-')));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
  vi.unstubAllEnvs();
});

function write(path: string, text = '', mode = 0o644): string {
  const file = join(folder, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text, { mode });
  return file;
}

it('node-gyp is that of the variable, then of the npm of this Node, then of the npm on the PATH, then that on the PATH', () => {
  const PATH = [join(folder, 'empty'), join(folder, 'path')].join(':');
  const node = write('node/bin/node');
  const find = (env = {}) => findNodeGyp({ PATH, ...env }, node);
  expect(find()).toBeNull();
  const installed = write('path/node-gyp');
  expect(find()).toEqual([installed]);
  const program = 'node_modules/node-gyp/bin/node-gyp.js';
  const ofPath = write(`other/npm/${program}`);
  symlinkSync(write('other/npm/bin/npm-cli.js'), join(folder, 'path/npm'));
  expect(find()).toEqual([node, ofPath]);
  const own = write(`node/lib/node_modules/npm/${program}`);
  expect(find()).toEqual([node, own]);
  expect(find({ npm_config_node_gyp: '/named.js' })).toEqual([node, '/named.js']);
});

it.each([
  ['make', (name: string) => `  CXX(target) Release/obj.target/rhythm/native/${name}.o`, 'rhythm.target.mk'],
  ['MSBuild', (name: string) => `  ${name}.cc`, 'rhythm.vcxproj'],
])('each file that %s compiles is reported once, with the number of files', async (_, line, project) => {
  const isMake = project.endsWith('mk');
  write(
    `build/${project}`,
    isMake ? 'OBJS := $(obj)/native/one.o $(obj)/native/two.o' : '"..\\native\\one.cc" "..\\native\\two.cc"',
  );
  const printed = [
    'gyp info spawn make',
    line('one'),
    line('two'),
    line('one'),
    '  COPY Release/rhythm.node',
  ];
  const gyp = write('gyp.cjs', `console.log(${JSON.stringify(printed.join('\n'))})`);
  vi.stubEnv('npm_config_node_gyp', gyp);
  const reported: unknown[] = [];
  await compileAddon(folder, { onFile: (...progress) => reported.push(progress) });
  expect(reported).toEqual([
    [0, 2, 'native/one.cc'],
    [1, 2, 'native/two.cc'],
  ]);
});

it('an interruption ends node-gyp and its children, and throws its reason', async () => {
  // The child keeps the output open: the run ends only when the child does too.
  const child = `console.log('  started.cc'); setInterval(() => {}, 1000);`;
  const gyp = write(
    'gyp.cjs',
    `require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(child)}], { stdio: 'inherit' }); setInterval(() => {}, 1000);`,
  );
  vi.stubEnv('npm_config_node_gyp', gyp);
  write('build/rhythm.target.mk', 'native/started.o');
  const abort = new AbortController();
  const compiled = compileAddon(folder, {
    signal: abort.signal,
    onFile: () => abort.abort(new Error('enough')),
  });
  await expect(compiled).rejects.toThrow('enough');
});

it('a folder that cannot be written or copied is an error of the build', async () => {
  const use = () => expect.unreachable('compiled');
  for (const root of [join(folder, 'nowhere'), folder]) {
    const error = {
      code: 'addon_missing',
      message: expect.stringMatching(/to compile the addon, got: .*ENOENT/),
    };
    await expect(compileCopy(root, use)).rejects.toMatchObject(error);
  }
  expect(readdirSync(folder)).toEqual([]);
});

it('a command that cannot be started is an output, not an exception', async () => {
  const { succeeded, output } = await runProcess([join(folder, 'nowhere')], folder, () => {});
  expect(succeeded).toBe(false);
  expect(output).toContain('ENOENT');
});

it.each([
  ['gyp ERR! stack Error: Could not find any Python installation to use', 'Python 3', /Install it/],
  ['gyp ERR! stack Error: not found: make', 'make', /build-essential/],
  ['make: g++: No such file or directory', 'a C++17 compiler', /set CXX/],
  ['/bin/sh: 1: g++: not found', 'a C++17 compiler', /set CXX/],
  ["FileNotFoundError: [Errno 2] No such file or directory: 'no-compiler'", 'a C++17 compiler', /set CXX/],
  ['gyp ERR! stack Error: Could not find any Visual Studio installation to use', 'Visual Studio', /Clang/],
  ['gyp: No Xcode or CLT version detected!', 'the command line tools of Xcode', /xcode-select --install/],
  ['g++: fatal error: Killed signal terminated program cc1plus', 'enough memory', /JOBS=1/],
  ["Error: Cannot find module 'node-addon-api'", 'node-addon-api', /Install rhythm-vec again/],
  [
    "gyp ERR! stack Error: EACCES: permission denied, mkdir '/x/build'",
    'a folder that can be written',
    /owner/,
  ],
  ['mkdtemp: EROFS: read-only file system', 'a folder that can be written', /owner/],
  ['cc.s: fatal error: error writing to x.s: No space left on device', 'space on the disk', /Delete/],
  [
    'gyp http GET https://nodejs.org/headers.tar.gz\ngyp WARN install got an error, rolling back install',
    "an answer with Node's headers",
    /npm_config_nodedir/,
  ],
  [
    "../native/tables.cc:73:9: error: 'y' was not declared in this scope",
    'a compiler that accepts the sources',
    /newer C\+\+17/,
  ],
  ['gyp ERR! not ok', 'node-gyp to succeed', /Run node-gyp/],
])('the error of a failed build names what is missing, and the remedy: %s', (line, expected, remedy) => {
  const output = ['gyp info it worked if it ends with ok', 'gyp http 200 headers', line].join('\n');
  const message = describeFailure(output);
  expect(message).toContain(`Expected ${expected}, to compile the addon, got: `);
  expect(message).toMatch(remedy);
});
