/** The addon's path: RHYTHM_ADDON, else the compiled addon, else this platform's prebuild. */
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { loadAddon } from '../../../src/engine/backends/addon.js';
import { addonPath, bundleAddon, packageAddon } from '../../../src/engine/backends/addon-path.js';
import { refusalOf } from '../../support/refusals.js';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'rhythm-'));
});
afterEach(() => {
  rmSync(root, { recursive: true });
  vi.unstubAllEnvs();
});

/** Writes a file at a path of the package. The file is not a shared object. */
function writeAddonAt(path: string): string {
  const file = join(root, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, 'no shared object');
  return file;
}

const COMPILED = 'build/Release/rhythm.node';
const PREBUILD = `prebuilds/${process.platform}-${process.arch}/rhythm.node`;

it('the path is the prebuild if no addon was compiled', () => {
  const file = writeAddonAt(PREBUILD);
  expect(packageAddon(root)).toBe(file);
});

it.runIf(process.platform === 'linux')(
  'the prebuild for this libc comes before the prebuild for any libc',
  () => {
    writeAddonAt(PREBUILD);
    const libc = existsSync('/etc/alpine-release') ? 'musl' : 'glibc';
    const file = writeAddonAt(PREBUILD.replace('rhythm.', `rhythm.${libc}.`));
    writeAddonAt(PREBUILD.replace('rhythm.', 'rhythm.other.'));
    expect(packageAddon(root)).toBe(file);
  },
);

it('the path is not a prebuild of another platform or processor', () => {
  for (const other of [`beos-${process.arch}`, `${process.platform}-z80`])
    writeAddonAt(`prebuilds/${other}/rhythm.node`);
  const { code, message } = refusalOf(() => packageAddon(root));
  expect(code).toBe('addon_missing');
  for (const part of ['build/Release', `${process.platform}-${process.arch}`, root, 'npm run build:addon'])
    expect(message).toContain(part);
});

it('the path is the compiled addon rather than a prebuild, even if the compiled addon cannot be loaded', () => {
  writeAddonAt(PREBUILD);
  const file = writeAddonAt(COMPILED);
  expect(packageAddon(root)).toBe(file);
  const { code, message } = refusalOf(() => loadAddon(packageAddon(root)));
  expect(code).toBe('addon_missing');
  for (const part of ['loadable', file, 'npm run build:addon']) expect(message).toContain(part);
  // The text of the cause, without the name of its class.
  expect(message).not.toContain('Error:');
});

it('the path is RHYTHM_ADDON, relative to the working folder, even if there is no such file', () => {
  vi.stubEnv('RHYTHM_ADDON', 'nowhere/rhythm.node');
  expect(addonPath()).toBe(resolve('nowhere/rhythm.node'));
});

it("the path is the package's addon if RHYTHM_ADDON is empty", () => {
  vi.stubEnv('RHYTHM_ADDON', '');
  expect(addonPath()).toBe(packageAddon());
});

it('the path for a bundle is the prebuild beside it, else the prebuild of the installed package', () => {
  const installed = writeAddonAt(`node_modules/rhythm-vec/${PREBUILD}`);
  writeFileSync(join(root, 'node_modules/rhythm-vec/package.json'), '{}');
  expect(realpathSync(bundleAddon(join(root, 'out')))).toBe(realpathSync(installed));
  const copy = writeAddonAt(`out/${PREBUILD}`);
  expect(bundleAddon(join(root, 'out'))).toBe(copy);
});

it('a bundle without an addon gets an error that names both places where it may be', () => {
  const { code, message } = refusalOf(() => bundleAddon(join(root, 'out')));
  expect(code).toBe('addon_missing');
  for (const part of [join(root, 'out', 'prebuilds'), 'a package rhythm-vec'])
    expect(message).toContain(part);
});
