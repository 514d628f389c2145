/** The files that may be the addon: RHYTHM_ADDON alone, else the compiled addon, then this platform's prebuild. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { openAddon } from '../../../src/engine/backends/addon.js';
import { addonsOfBundle, addonsOfPackage, findAddons } from '../../../src/engine/backends/addon-path.js';
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

it('the compiled addon comes before the prebuild', () => {
  const prebuild = writeAddonAt(PREBUILD);
  expect(addonsOfPackage(root).paths).toEqual([prebuild]);
  const compiled = writeAddonAt(COMPILED);
  expect(addonsOfPackage(root).paths).toEqual([compiled, prebuild]);
});

it('a prebuild of another platform or processor is not the addon, and the error names the searched folders', () => {
  for (const other of [`beos-${process.arch}`, `${process.platform}-z80`])
    writeAddonAt(`prebuilds/${other}/rhythm.node`);
  const { code, message } = refusalOf(() => openAddon(addonsOfPackage(root)));
  expect(code).toBe('addon_missing');
  for (const part of ['build/Release', `${process.platform}-${process.arch}`, root, 'npx rhythm-vec build'])
    expect(message).toContain(part);
  expect(message).not.toContain('musl');
});

it('on musl a prebuild is never the addon, and the error says why', () => {
  writeAddonAt(PREBUILD);
  const files = addonsOfPackage(root, true);
  expect(files.paths).toEqual([]);
  expect(refusalOf(() => openAddon(files)).message).toContain('needs glibc, but this system has musl');
  const compiled = writeAddonAt(COMPILED);
  expect(addonsOfPackage(root, true).paths).toEqual([compiled]);
  writeAddonAt(`out/${PREBUILD}`);
  expect(addonsOfBundle(join(root, 'out'), true).paths).toEqual([]);
});

it('RHYTHM_ADDON is the only file, relative to the working folder, even if there is no such file', () => {
  vi.stubEnv('RHYTHM_ADDON', 'nowhere/rhythm.node');
  expect(findAddons().paths).toEqual([resolve('nowhere/rhythm.node')]);
});

it("the files are the package's if RHYTHM_ADDON is empty", () => {
  vi.stubEnv('RHYTHM_ADDON', '');
  expect(findAddons()).toEqual(addonsOfPackage());
});

it('for a bundle the prebuild beside it comes before the addons of the installed package', () => {
  const bundled = () => addonsOfBundle(join(root, 'out')).paths.map((path) => realpathSync(path));
  const files = [`node_modules/rhythm-vec/${COMPILED}`, `node_modules/rhythm-vec/${PREBUILD}`];
  const installed = files.map(writeAddonAt).map((path) => realpathSync(path));
  writeFileSync(join(root, 'node_modules/rhythm-vec/package.json'), '{}');
  expect(bundled()).toEqual(installed);
  const copy = realpathSync(writeAddonAt(`out/${PREBUILD}`));
  expect(bundled()).toEqual([copy, ...installed]);
});

it('a bundle without an addon gets an error that names both places where it may be', () => {
  const { code, message } = refusalOf(() => openAddon(addonsOfBundle(join(root, 'out'))));
  expect(code).toBe('addon_missing');
  for (const part of [join(root, 'out'), 'prebuilds', 'a package rhythm-vec'])
    expect(message).toContain(part);
});
