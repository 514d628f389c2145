/** The C library, which the executable of the process names. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { runsOnMusl } from '../../../src/engine/backends/addon-path.js';

const folder = mkdtempSync(join(tmpdir(), 'rhythm-'));
afterAll(() => rmSync(folder, { recursive: true }));
afterEach(() => vi.restoreAllMocks());

/** Writes an executable that names a dynamic loader after some bytes. */
function executable(loader: string): string {
  const path = join(folder, 'program');
  writeFileSync(
    path,
    Buffer.concat([Buffer.alloc(700, 0xf0), Buffer.from(`${loader}\0`), Buffer.alloc(9000)]),
  );
  return path;
}

const reporting = (header: object): void => {
  vi.spyOn(process.report, 'getReport').mockReturnValue({ header });
};

it.each([
  ['/lib/ld-musl-x86_64.so.1', true],
  ['/lib/ld-musl-aarch64.so.1', true],
  ['/lib64/ld-linux-x86-64.so.2', false],
  ['/nix/store/abc-glibc-2.40/lib/ld-linux-aarch64.so.1', false],
])('the loader %s decides, whatever the report says', (loader, expected) => {
  reporting(expected ? { glibcVersionRuntime: '2.36' } : {});
  expect(runsOnMusl(executable(loader))).toBe(expected);
});

describe.each([
  ['names no loader', () => executable('')],
  ['cannot be read', () => join(folder, 'nowhere')],
])('if the executable %s', (_, path) => {
  it('the report decides', () => {
    reporting({ glibcVersionRuntime: '2.36' });
    expect(runsOnMusl(path())).toBe(false);
    reporting({});
    expect(runsOnMusl(path())).toBe(true);
  });

  it('a process without a report counts as one on glibc', () => {
    vi.spyOn(process.report, 'getReport').mockImplementation(() => {
      throw new Error('not allowed');
    });
    expect(runsOnMusl(path())).toBe(false);
  });
});
