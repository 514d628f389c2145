/** `rhythm-vec build` in an installed package, with a fake node-gyp, and `info` on a package whose addons do not all load. */
import { execFile, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { addonsOfPackage } from '../../src/engine/backends/addon-path.js';
import { BarePackage } from '../support/bare-package.js';
import { NATIVE } from '../support/engines.js';

const PREBUILD = `prebuilds/${process.platform}-${process.arch}/rhythm.node`;
const COMPILED = 'build/Release/rhythm.node';

/**
 * A fake node-gyp: records its folder and arguments, and waits until it was called CALLED times. It fails with MISSING if that is
 * set, else it "compiles" ADDON.
 */
const NODE_GYP = `
  const { appendFileSync, existsSync, mkdirSync, copyFileSync, readFileSync } = require('node:fs');
  const inputs = ['binding.gyp', 'native'].map(existsSync);
  appendFileSync(process.env.CALLS, JSON.stringify([process.cwd(), ...inputs, ...process.argv.slice(2)]) + '\\n');
  while (readFileSync(process.env.CALLS, 'utf8').split('\\n').length <= process.env.CALLED)
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
  if (process.env.MISSING) {
    console.log('gyp info it worked');
    console.error('gyp ERR! stack Error: ' + process.env.MISSING);
    process.exit(1);
  }
  mkdirSync('build/Release', { recursive: true });
  copyFileSync(process.env.ADDON, '${COMPILED}');
`;

const bare = new BarePackage();
afterAll(() => bare.remove());
const root = realpathSync(bare.folder);
const gyp = join(root, 'node-gyp.cjs');
writeFileSync(gyp, NODE_GYP);
mkdirSync(join(root, 'native'));
const calls = join(root, 'calls.jsonl');
const copies = () => readdirSync(root).filter((name) => name.startsWith('build-addon'));

beforeEach(() => {
  for (const name of ['build', 'prebuilds', 'calls.jsonl', 'binding.gyp'])
    rmSync(join(root, name), { recursive: true, force: true });
});

/** The addon of this checkout, or a file that does not load. */
const GOOD = addonsOfPackage().paths[0] ?? gyp;

function writeAddon(path: string, kind: 'loads' | 'broken'): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  if (kind === 'loads') symlinkSync(GOOD, join(root, path));
  else writeFileSync(join(root, path), 'no shared object');
}

const MAIN = join(root, 'lib/cli.js');
/** How a command of the package runs: in another folder. */
const optionsWith = (env: Record<string, string | undefined>) => ({
  cwd: dirname(root),
  env: {
    ...process.env,
    ...{ npm_config_node_gyp: gyp, ADDON: GOOD, CALLS: calls, CALLED: '1' },
    ...{ RHYTHM_ADDON: undefined, JOBS: undefined, ...env },
  },
  encoding: 'utf8' as const,
});

function run(command: string, env: Record<string, string | undefined> = {}) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [MAIN, command], optionsWith(env));
  const called = existsSync(calls) ? readFileSync(calls, 'utf8') : '';
  return { status, stdout, stderr, called };
}

/** Returns the record of a call of node-gyp in a folder. */
const calledIn = (folder: string) =>
  new RegExp(`^\\["${folder}",true,true,"configure","build","--jobs","max"(,"--nodedir=[^"]+")?\\]\n$`);

describe.skipIf(NATIVE.length === 0)('with an addon to compile', () => {
  it('build compiles a copy of the sources, loads the addon and names its kernels, even if RHYTHM_ADDON names another', () => {
    writeAddon(PREBUILD, 'loads');
    writeAddon(COMPILED, 'broken');
    const { status, stdout, stderr, called } = run('build', { RHYTHM_ADDON: 'nowhere.node' });
    expect([status, stderr]).toEqual([0, '']);
    expect(called).toMatch(calledIn(`${root}/build-addon-\\w{6}`));
    expect(copies()).toEqual([]);
    const kernels = NATIVE.map(({ kernel }) => kernel).join(', ');
    expect(stdout).toBe(`Compiled ${join(root, COMPILED)}: kernels ${kernels}.\n`);
  });

  it('two builds at the same time both succeed', async () => {
    const build = () => promisify(execFile)(process.execPath, [MAIN, 'build'], optionsWith({ CALLED: '2' }));
    for (const { stdout } of await Promise.all([build(), build()])) expect(stdout).toMatch(/^Compiled /);
    expect(copies()).toEqual([]);
  });

  it('in a checkout build compiles in place, so that the compiled files stay', () => {
    writeFileSync(join(root, 'binding.gyp'), '{}');
    const { status, called } = run('build');
    expect(status).toBe(0);
    expect(called).toMatch(calledIn(root));
  });

  it('info says that the prebuild is used, and why the compiled addon is not', () => {
    writeAddon(COMPILED, 'broken');
    writeAddon(PREBUILD, 'loads');
    const [line] = /backend native .*/.exec(run('info').stdout)!;
    expect(line).toContain(
      `available: ${join(root, PREBUILD)}. Expected a loadable native addon at ${join(root, COMPILED)}`,
    );
    rmSync(join(root, 'build'), { recursive: true });
    expect(run('info').stdout).toMatch(/backend native +available\n/);
  });
});

it('a compiled addon that does not load is an error', () => {
  const { status, stdout, stderr } = run('build', { ADDON: gyp });
  expect([status, stdout]).toEqual([1, '']);
  expect(stderr).toContain(`Expected a loadable native addon at ${join(root, COMPILED)}`);
});

it('a failed build names what is missing, and an addon that was compiled before stays', () => {
  writeAddon(COMPILED, 'broken');
  const { status, stdout, stderr } = run('build', { MISSING: 'not found: make' });
  expect([status, stdout]).toEqual([1, '']);
  expect(stderr).toMatch(
    /^error: Expected make, to compile the addon, got: not found: make\. Install make and a C\+\+17 compiler/,
  );
  expect(readFileSync(join(root, COMPILED), 'utf8')).toBe('no shared object');
  expect(copies()).toEqual([]);
});

it('info names every addon that does not load, and the command that compiles one', () => {
  writeAddon(COMPILED, 'broken');
  writeAddon(PREBUILD, 'broken');
  const [line] = /backend native .*/.exec(run('info').stdout)!;
  for (const part of [
    'not available',
    join(root, COMPILED),
    join(root, PREBUILD),
    `"npx rhythm-vec build", which compiles it in ${root}`,
  ])
    expect(line).toContain(part);
});
