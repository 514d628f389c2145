/** The addon's path: RHYTHM_ADDON, else the compiled addon, else this platform's prebuild. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { loadAddon } from '../../../src/engine/backends/addon.js';
import { addonPath, packageAddon } from '../../../src/engine/backends/addon-path.js';
import { BackendError } from '../../../src/shared/errors.js';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'rhythm-'));
});
afterEach(() => {
  rmSync(root, { recursive: true });
  vi.unstubAllEnvs();
});

/** Writes a file at a path of the package. The file is not a shared object. */
function put(path: string): string {
  const file = join(root, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, 'no shared object');
  return file;
}

function refusal(call: () => unknown): BackendError {
  try {
    call();
  } catch (error) {
    if (error instanceof BackendError) return error;
    throw error;
  }
  throw new Error('Expected a BackendError, got none.');
}

const COMPILED = 'build/Release/rhythm.node';
const PREBUILD = `prebuilds/${process.platform}-${process.arch}/rhythm.node`;

it('the path is the prebuild if no addon was compiled', () => {
  const file = put(PREBUILD);
  expect(packageAddon(root)).toBe(file);
});

it('the path is not a prebuild of another platform or processor', () => {
  for (const other of [`beos-${process.arch}`, `${process.platform}-z80`])
    put(`prebuilds/${other}/rhythm.node`);
  const { code, message } = refusal(() => packageAddon(root));
  expect(code).toBe('addon_missing');
  const parts = [
    'Expected',
    'build/Release',
    `${process.platform}-${process.arch}`,
    root,
    'npm run build:addon',
  ];
  for (const part of parts) expect(message).toContain(part);
});

it('the path is the compiled addon rather than a prebuild, even if the compiled addon cannot be loaded', () => {
  put(PREBUILD);
  const file = put(COMPILED);
  expect(packageAddon(root)).toBe(file);
  const { code, message } = refusal(() => loadAddon(packageAddon(root)));
  expect(code).toBe('addon_missing');
  for (const part of ['loadable', file, 'npm run build:addon']) expect(message).toContain(part);
});

it('the path is RHYTHM_ADDON, relative to the working folder, even if there is no such file', () => {
  vi.stubEnv('RHYTHM_ADDON', 'nowhere/rhythm.node');
  expect(addonPath()).toBe(resolve('nowhere/rhythm.node'));
});

it("the path is the package's addon if RHYTHM_ADDON is empty", () => {
  vi.stubEnv('RHYTHM_ADDON', '');
  expect(addonPath()).toBe(packageAddon());
});
