/** The install script, in folders shaped as a checkout and as an installed package; node-gyp is replaced by a recorder. */
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { packageAddon } from '../../src/engine/backends/addon-path.js';
import { BarePackage } from '../support/bare-package.js';
import { NATIVE } from '../support/engines.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PREBUILD = `prebuilds/${process.platform}-${process.arch}/rhythm.node`;
const COMPILED = 'build/Release/rhythm.node';

/** Notes how it was called, and ends as it is told to. */
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
const gyp = join(root, 'node_modules/node-gyp');
rmSync(gyp);
mkdirSync(join(gyp, 'bin'), { recursive: true });
writeFileSync(join(gyp, 'package.json'), '{}');
writeFileSync(join(gyp, 'bin/node-gyp.js'), NODE_GYP);
cpSync(join(ROOT, 'scripts/install.js'), join(root, 'scripts/install.js'));

/** @param has what the package holds of an addon: one that loads, or one that does not. */
function prepare(has: Readonly<Record<string, 'loads' | 'broken'>>, { checkout = false } = {}): void {
  for (const name of ['build', 'prebuilds', 'src', 'calls.jsonl']) {
    rmSync(join(root, name), { recursive: true, force: true });
  }
  if (checkout) mkdirSync(join(root, 'src'));
  for (const [path, kind] of Object.entries(has)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    if (kind === 'loads') symlinkSync(packageAddon(), join(root, path));
    else writeFileSync(join(root, path), 'no shared object');
  }
}

function install(env: Record<string, string> = {}) {
  const { status, stderr } = spawnSync(process.execPath, [join(root, 'scripts/install.js')], {
    cwd: dirname(root),
    env: { ...process.env, ...env },
    encoding: 'utf8',
  });
  const calls = join(root, 'calls.jsonl');
  const compiled = existsSync(calls) ? readFileSync(calls, 'utf8') : '';
  return { status, stderr, compiled };
}

const NOTHING = { status: 0, stderr: '', compiled: '' };
const ONCE = { status: 0, stderr: '', compiled: '["configure","build"]\n' };

describe.skipIf(NATIVE.length === 0)('where an addon is there that loads', () => {
  it.each([
    ['a prebuild', { [PREBUILD]: 'loads' }],
    ['a compiled one', { [COMPILED]: 'loads' }],
    ['a compiled one beside a bad prebuild', { [COMPILED]: 'loads', [PREBUILD]: 'broken' }],
  ] as const)('an installed package compiles nothing: %s', (_, has) => {
    prepare(has);
    expect(install()).toEqual(NOTHING);
  });

  it.each([
    ['a prebuild', { [PREBUILD]: 'loads' }],
    ['a compiled one', { [COMPILED]: 'loads' }],
  ] as const)('a checkout is compiled all the same, for its sources change: %s', (_, has) => {
    prepare(has, { checkout: true });
    expect(install()).toEqual(ONCE);
  });

  it('elsewhere, an installed package still has its own compiled', () => {
    prepare({ [PREBUILD]: 'broken' });
    expect(install({ RHYTHM_ADDON: packageAddon() })).toEqual(ONCE);
  });
});

it.each([
  ['none', {}],
  ['a broken prebuild', { [PREBUILD]: 'broken' }],
  ['a broken compiled one', { [COMPILED]: 'broken' }],
] as const)('an installed package without an addon that loads compiles one: %s', (_, has) => {
  prepare(has);
  expect(install()).toEqual(ONCE);
});

it.each([true, false])('what cannot be compiled is a warning, not a failure; checkout: %s', (checkout) => {
  prepare({}, { checkout });
  const { status, stderr } = install({ NO_COMPILER: '1' });
  expect(status).toBe(0);
  expect(stderr).toContain('rhythm-vec: the native addon was not built');
  expect(stderr).toContain('\n  gyp ERR! not found: make\n');
  expect(stderr).not.toContain('it worked');
  expect(stderr).toContain(`run "npm run build:addon" in ${realpathSync(root)}/.`);
});
