/** Tests the install script in copies of a checkout and of an installed package. A fake node-gyp records its calls. */
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { packageAddon } from '../../src/engine/backends/addon-path.js';
import { BarePackage } from '../support/bare-package.js';
import { NATIVE } from '../support/engines.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PREBUILD = `prebuilds/${process.platform}-${process.arch}/rhythm.node`;
const COMPILED = 'build/Release/rhythm.node';

/** A fake of npm's node-gyp: records its arguments, and fails if NO_COMPILER is set. */
const NODE_GYP = `
  const { appendFileSync } = require('node:fs');
  appendFileSync('calls.jsonl', JSON.stringify(process.argv.slice(2)) + '\\n');
  if (process.env.NO_COMPILER) {
    console.log('gyp info it worked');
    console.error('gyp ERR! not found: make');
    process.exit(1);
  }
`;

const bare = new BarePackage();
afterAll(() => bare.remove());
const root = bare.folder;
const gyp = join(root, 'node-gyp.cjs');
writeFileSync(gyp, NODE_GYP);
cpSync(join(ROOT, 'scripts/install.js'), join(root, 'scripts/install.js'));

type Addons = Readonly<Record<string, 'loads' | 'broken'>>;

/** Prepares the package. @param addons the addon files by path; each loads or is broken. */
function prepare(addons: Addons, { checkout = false } = {}): void {
  for (const name of ['build', 'prebuilds', 'src', 'calls.jsonl']) {
    rmSync(join(root, name), { recursive: true, force: true });
  }
  if (checkout) mkdirSync(join(root, 'src'));
  for (const [path, kind] of Object.entries(addons)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    if (kind === 'loads') symlinkSync(packageAddon(), join(root, path));
    else writeFileSync(join(root, path), 'no shared object');
  }
}

function install(env: Record<string, string> = {}) {
  const { status, stderr } = spawnSync(process.execPath, [join(root, 'scripts/install.js')], {
    cwd: dirname(root),
    env: { ...process.env, npm_config_node_gyp: gyp, ...env },
    encoding: 'utf8',
  });
  const calls = join(root, 'calls.jsonl');
  const compiled = existsSync(calls) ? readFileSync(calls, 'utf8') : '';
  return { status, stderr, compiled };
}

const NOT_COMPILED = { status: 0, stderr: '', compiled: '' };
const COMPILED_ONCE = { status: 0, stderr: '', compiled: '["configure","build","--jobs","max"]\n' };

const LOADS: [name: string, addons: Addons, expected: object, options?: { checkout: boolean }][] = [
  ['a prebuild', { [PREBUILD]: 'loads' }, NOT_COMPILED],
  ['a compiled addon', { [COMPILED]: 'loads' }, NOT_COMPILED],
  ['a compiled addon beside a broken prebuild', { [COMPILED]: 'loads', [PREBUILD]: 'broken' }, NOT_COMPILED],
  ['a compiled addon in a checkout', { [COMPILED]: 'loads' }, COMPILED_ONCE, { checkout: true }],
];

describe.skipIf(NATIVE.length === 0)('with', () => {
  it.each(LOADS)('%s, the addon is compiled only in a checkout', (_, addons, expected, options) => {
    prepare(addons, options);
    expect(install()).toEqual(expected);
  });

  it('a broken addon, an installed package is compiled, even if RHYTHM_ADDON names an addon that loads', () => {
    prepare({ [PREBUILD]: 'broken' });
    expect(install({ RHYTHM_ADDON: packageAddon() })).toEqual(COMPILED_ONCE);
  });
});

it.each<[string, Addons]>([
  ['no addon', {}],
  ['a broken prebuild', { [PREBUILD]: 'broken' }],
  ['a broken compiled addon', { [COMPILED]: 'broken' }],
])('an installed package without an addon that loads is compiled: %s', (_, addons) => {
  prepare(addons);
  expect(install()).toEqual(COMPILED_ONCE);
});

it.each([true, false])('a failed compilation is a warning, not an error; checkout: %s', (checkout) => {
  prepare({}, { checkout });
  const { status, stderr } = install({ NO_COMPILER: '1' });
  expect(status).toBe(0);
  expect(stderr).toContain('rhythm-vec: the native addon was not built');
  expect(stderr).toContain('\n  gyp ERR! not found: make\n');
  expect(stderr).not.toContain('it worked');
  expect(stderr).toContain(`run "npm run build:addon" in ${realpathSync(root)}/.`);
});

it('the node-gyp of the PATH compiles if the package manager names no node-gyp', () => {
  prepare({});
  const folder = mkdtempSync(join(tmpdir(), 'rhythm-'));
  writeFileSync(join(folder, 'node-gyp'), `#!${process.execPath}\n${NODE_GYP}`, { mode: 0o755 });
  expect(install({ npm_config_node_gyp: '', PATH: folder })).toEqual(COMPILED_ONCE);
  rmSync(folder, { recursive: true });
});

it('without any node-gyp, the warning says that node-gyp could not start', () => {
  prepare({});
  const { status, stderr, compiled } = install({ npm_config_node_gyp: '', PATH: root });
  expect([status, compiled]).toEqual([0, '']);
  expect(stderr).toContain('could not start node-gyp');
});
