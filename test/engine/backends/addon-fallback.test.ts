/** An addon that does not load gives way to the next file. Its reason is kept, with a remedy that fits the reason. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, it } from 'vitest';
import { openAddon } from '../../../src/engine/backends/addon.js';
import { layoutDigest } from '../../../src/index.js';
import { runChild } from '../../support/child.js';
import { refusalOf } from '../../support/refusals.js';

const ROOT = resolve(fileURLToPath(new URL('../../..', import.meta.url)));
const folder = mkdtempSync(join(tmpdir(), 'rhythm-'));
afterAll(() => rmSync(folder, { recursive: true }));

let files = 0;

/** Writes a module that is loaded in place of an addon. Each has a path of its own, since a file is loaded once. */
function addon(code: string): string {
  const path = join(folder, `addon-${files++}.cjs`);
  writeFileSync(path, code);
  return path;
}

const loads = () => addon(`module.exports = { layoutDigest: '${layoutDigest()}' };`);
const stale = () => addon(`module.exports = { layoutDigest: '${'0'.repeat(64)}' };`);
const throws = (message: string, rest = '') =>
  addon(`throw Object.assign(new Error(${JSON.stringify(message)}), {${rest}});`);
const open = (...paths: string[]) => openAddon({ paths, where: 'nowhere' });
const GLIBCXX = "libstdc++.so.6: version `GLIBCXX_3.4.30' not found (required by rhythm.node)";

it('the first file that loads is the addon, and the reasons of those before it are kept', () => {
  const [broken, old, good] = [throws(`${GLIBCXX}\nand more`), stale(), loads()];
  const { path, rejected } = open(broken, old, good, throws('not tried'));
  expect(path).toBe(good);
  for (const part of [broken, `${GLIBCXX}.`, old, 'got one for 000000000000'])
    expect(rejected).toContain(part);
  expect(rejected).not.toMatch(/and more|npx/);
  expect(open(good).rejected).toBe('');
});

it('if no file loads, the error has the code of the first, the reasons of all and each remedy once', () => {
  const [old, broken, missing] = [stale(), throws(GLIBCXX), join(folder, 'none.node')];
  const { code, message } = refusalOf(() => open(old, broken, missing));
  expect(code).toBe('addon_stale');
  for (const part of [old, broken, GLIBCXX, missing, 'found none']) expect(message).toContain(part);
  expect(message.split('npx rhythm-vec build')).toHaveLength(2);
  // The texts of the causes, without the name of their class.
  expect(message).not.toContain('Error:');
});

it('a file is loaded once, also if it failed', () => {
  const path = addon(
    `globalThis.rhythmLoads = (globalThis.rhythmLoads ?? 0) + 1; throw new Error('broken');`,
  );
  for (let k = 0; k < 3; k++) refusalOf(() => open(path));
  expect((globalThis as { rhythmLoads?: number }).rhythmLoads).toBe(1);
});

it.each([
  ['Node without addons', "code: 'ERR_DLOPEN_DISABLED'", '--allow-addons, and without --no-addons'],
  ['Node that may not read', "code: 'ERR_ACCESS_DENIED'", `--allow-addons and --allow-fs-read=${folder}.`],
  ['Deno', "name: 'NotCapable'", '--allow-read and --allow-ffi'],
])('the remedy for %s is the flags to pass, not a compiler', (_, rest, flags) => {
  const { message } = refusalOf(() => open(throws('not allowed', rest)));
  expect(message).toContain('got: not allowed. Run ');
  expect(message).toContain(flags);
  expect(message).not.toMatch(/compile|Python/);
});

/** Opens an environment in a child process. */
const CHILD = `
  const { createVecEnv, listBackends } = await import('./dist/exports/env.js');
  const env = createVecEnv({ numEnvs: 1 });
  print([env.backend, listBackends()[0].reason]);
`;
const PERMISSION = process.allowedNodeEnvironmentFlags.has('--permission')
  ? '--permission'
  : '--experimental-permission';
const readable = ['dist', 'node_modules', 'package.json'].map(
  (path) => `--allow-fs-read=${join(ROOT, path)}`,
);

const CHILD_ENV = { RHYTHM_ADDON: undefined, RHYTHM_KERNEL: undefined };
const unloadable = join(folder, 'unloadable.node');
writeFileSync(unloadable, '');

it.each([
  ['--no-addons', ['--no-addons'], unloadable, '--allow-addons, and without --no-addons'],
  [
    'a package that may not be read',
    [PERMISSION, '--allow-addons', ...readable],
    undefined,
    `--allow-addons and --allow-fs-read=${ROOT}.`,
  ],
])('with %s another backend steps, and the reason names the flags', (_, flags, path, remedy) => {
  const { output, stderr } = runChild(CHILD, { ...CHILD_ENV, RHYTHM_ADDON: path }, flags);
  expect(output, stderr).not.toBeNull();
  const [backend, reason] = output as [string, string];
  expect(backend).not.toBe('native');
  expect(reason).toContain(remedy);
  expect(reason).not.toContain('Python');
});

it("with Yarn's Plug'n'Play the remedy is a command of Yarn", () => {
  const { output, stderr } = runChild(
    `Object.defineProperty(process.versions, 'pnp', { value: '3' });\n${CHILD}`,
    { ...CHILD_ENV, RHYTHM_ADDON: unloadable },
  );
  expect((output as string[])[1], stderr).toContain('"yarn rhythm-vec build"');
});

it('the remedy for a Node that is too old is a newer Node', () => {
  const code = `process.getBuiltinModule = undefined;\n${CHILD}`;
  const { output, stderr } = runChild(code, { ...CHILD_ENV, RHYTHM_ADDON: loads() });
  expect(output, stderr).not.toBeNull();
  const [backend, reason] = output as [string, string];
  expect(backend).not.toBe('native');
  expect(reason).toContain(`got ${process.version}. Use a newer Node.`);
});
