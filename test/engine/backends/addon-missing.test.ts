/** An addon that is missing, broken or of another layout (world/block.ts): its errors, and the backend that `auto` chooses. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { runChild } from '../../support/child.js';

const folder = mkdtempSync(join(tmpdir(), 'rhythm-'));
afterAll(() => rmSync(folder, { recursive: true }));

const missing = join(folder, 'none.node');
const broken = join(folder, 'broken.node');
const stale = join(folder, 'stale.cjs');
const cut = join(folder, 'cut.node');
const zeros = join(folder, 'zeros.node');
const foreign = join(folder, 'foreign.node');
writeFileSync(broken, 'no shared object');
/** Writes a shared object of `length` bytes whose table of 20 sections begins at byte 200. @param machine the processor's code. */
function writeObject(path: string, length: number, machine: number): void {
  const object = Buffer.alloc(length);
  object.write('\x7fELF\x02', 'latin1');
  object.writeUInt16LE(machine, 0x12);
  object.writeUInt8(200, 0x28);
  object.writeUInt16LE(64, 0x3a);
  object.writeUInt16LE(20, 0x3c);
  writeFileSync(path, object);
}
const MACHINE = process.arch === 'arm64' ? 183 : 62;
writeObject(cut, 200, MACHINE);
writeObject(zeros, 2000, MACHINE);
writeObject(foreign, 2000, 8);
const DIGEST = '0'.repeat(64);
writeFileSync(stale, `module.exports = { layoutDigest: '${DIGEST}', kernels: () => [], Batch: class {} };`);

const CODE = `
  import { createVecEnv } from './dist/engine/node.js';
  import { loadAddon } from './dist/engine/backends/addon.js';
  import { nativeBackend } from './dist/engine/backends/native.js';
  const attempt = (call) => { try { return call(); } catch ({ name, code, message }) { return { name, code, message }; } };
  const open = (options) => attempt(() => {
    const env = createVecEnv({ numEnvs: 2, ...options });
    env.reset({ seed: 1 });
    return { backend: env.backend, reason: env.backendReason, steps: env.run('heuristic').terminated.length };
  });
  print({
    load: attempt(() => loadAddon()),
    kernels: nativeBackend.kernels(),
    native: open({ backend: 'native' }),
    auto: open({}),
    again: open({}),
    kernel: open({ kernel: 'scalar' }),
    reference: open({ backend: 'reference' }),
  });
`;

type Report = Record<
  string,
  { name?: string; code?: string; message?: string; backend?: string; reason?: string }
>;

describe.each([
  ['missing', missing, 'addon_missing', 'found none'],
  ['broken', broken, 'addon_missing', 'loadable'],
  ['cut', cut, 'addon_missing', 'cut off'],
  ['half-written', zeros, 'addon_missing', 'cut off'],
  ['foreign', foreign, 'addon_missing', `another processor than ${process.arch}`],
  ['stale', stale, 'addon_stale', 'for layout'],
])('a %s addon', (_, path, code, reason) => {
  const environment = { RHYTHM_ADDON: path, RHYTHM_KERNEL: undefined };
  const { status, output, stderr } = runChild(CODE, environment);
  const { load, native, auto, kernel, reference, kernels } = output as Report;

  it('gives an error with the path, the variable that names it, and the command that builds the addon', () => {
    expect(status).toBe(0);
    expect(load).toMatchObject({ name: 'BackendError', code });
    for (const part of ['Expected', reason, path, 'unset it', 'RHYTHM_ADDON', 'npx rhythm-vec build'])
      expect(load.message).toContain(part);
    expect(kernels).toEqual([]);
    // The message has only the first digits of a layout's digest.
    expect(load.message).not.toContain(DIGEST.slice(0, 20));
  });

  it('is refused when requested by name, with the path', () => {
    for (const refused of [native, kernel]) {
      expect(refused).toMatchObject({ name: 'BackendError', code: 'backend_unavailable' });
      expect(refused.message).toContain(path);
      expect(refused.message).toContain('npx rhythm-vec build');
    }
  });

  it('makes `auto` choose `wasm` without a warning, and report the reason', () => {
    expect(auto.backend).toBe('wasm');
    expect(auto.reason).toContain(path);
    expect(reference).toMatchObject({ backend: 'reference', reason: 'requested by name' });
    expect(stderr).toBe('');
  });

  it('makes `auto` choose the reference without WebAssembly, and warn once, with the reasons', () => {
    const { output, stderr } = runChild(CODE, environment, ['--jitless']);
    const { auto } = output as Report;
    expect(auto.backend).toBe('reference');
    for (const part of [path, 'wasm (This runtime', 'it has no WebAssembly'])
      expect(auto.reason).toContain(part);
    const warnings = stderr.match(/\[RHYTHM_REFERENCE\] RhythmWarning: .*/g)!;
    expect(warnings).toHaveLength(1);
    for (const part of [path, 'a hundred times slower', "backend: 'reference'"])
      expect(warnings[0]).toContain(part);
  });
});
