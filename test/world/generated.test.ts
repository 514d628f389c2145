/** Generated files are current, and no other source repeats a number of the world. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { emitShaders } from '../../scripts/shaders.js';
import { loadAddon } from '../../src/engine/backends/addon.js';
import { emitLayout } from '../../src/engine/backends/webgpu/buffer-layout.js';
import { SHADER_LAYOUT } from '../../src/engine/backends/webgpu/generated/shaders.js';
import { layoutDigest } from '../../src/world/block.js';
import { emitCppHeader } from '../../src/world/emit.js';
import { RHYTHM } from '../../src/world/numbers.js';
import { NATIVE } from '../support/engines.js';
import { getAt, WORLD_NUMBERS } from '../support/worlds.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

/** Returns the source files below a folder, without comments. */
function sources(folder: string, extension: RegExp): { path: string; text: string }[] {
  return readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && extension.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => ({ path, text: uncommented(readFileSync(path, 'utf8')) }));
}

const uncommented = (text: string): string => text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/\/\/.*$/gm, '');

/** Decimal and hexadecimal float literals of C++, with their suffix. */
const CPP_FLOATS =
  /(?<![\w.])(?:\d+\.\d*|\.\d+|\d+(?=[eE][-+]?\d))(?:[eE][-+]?\d+)?[fFlL]?(?!\w)|0[xX][\da-fA-F.]+[pP][-+]?\d+[fF]?/g;
/** Values that may be written as literals. */
const ALLOWED = [0, 1, 0.5, 2];

const otherFloats = (text: string): string[] =>
  (text.match(CPP_FLOATS) ?? []).filter(
    (literal) => !ALLOWED.includes(Number(literal.replace(/[fFlL]$/, ''))),
  );

it('the generated header is current', () => {
  expect(read('native/generated/world.h')).toBe(emitCppHeader());
});

it('the generated shaders are current', () => {
  expect(read('src/engine/backends/webgpu/generated/shaders.ts')).toBe(emitShaders());
  expect(SHADER_LAYOUT).toBe(layoutDigest());
  expect(otherFloats(uncommented(emitLayout()))).toEqual([]);
});

it.runIf(NATIVE.length > 0)('the addon was built for this layout', () => {
  expect(loadAddon().layoutDigest).toBe(layoutDigest());
  expect(read('native/generated/world.h')).toContain(layoutDigest());
});

it('the generated header has no float literal', () => {
  expect(uncommented(read('native/generated/world.h')).match(CPP_FLOATS)).toBeNull();
});

it.each([
  ['native', /\.(cc|h|inl)$/],
  ['src/engine/backends/webgpu', /\.wgsl$/],
])('%s has no float literal but 0, 0.5, 1 and 2', (folder, extension) => {
  const files = sources(folder, extension);
  expect(files.length).toBeGreaterThanOrEqual(15);
  expect(otherFloats('(0.7f) + 1.0f * x1.2 - .5f + 3e-4 + 0x1p-3f; v2.3')).toEqual([
    '0.7f',
    '3e-4',
    '0x1p-3f',
  ]);
  expect(
    files.flatMap(({ path, text }) => otherFloats(text).map((literal) => `${path}: ${literal}`)),
  ).toEqual([]);
});

/** Numbers of the world that no source needs for another purpose: no powers of two, and no integers up to 1,000. */
const DISTINCTIVE = new Set(
  WORLD_NUMBERS.map((path) => Math.abs(getAt(RHYTHM, path) as number)).filter(
    (value) =>
      value !== 0.5 && !Number.isInteger(Math.log2(value)) && (!Number.isInteger(value) || value > 1000),
  ),
);
const DECIMALS = /(?<![\w.])\d+(?:_\d+)*(?:\.\d+)?(?:[eE][-+]?\d+)?(?![\w.])/g;
/** Returns the literals of a text that repeat a number of the world. */
const repeatedNumbers = (text: string): string[] =>
  (text.match(DECIMALS) ?? []).filter((literal) => DISTINCTIVE.has(Number(literal.replaceAll('_', ''))));

it('the reference and the backends repeat no number of the world', () => {
  const files = [
    ...sources('src/engine/reference', /\.ts$/),
    ...sources('src/engine/backends', /\.(ts|wgsl)$/),
  ];
  expect(files.length).toBeGreaterThan(10);
  expect(repeatedNumbers('f32(d[V] - 0.0235) + 343_597_384 * x - 0.5 + 28')).toEqual([
    '0.0235',
    '343_597_384',
  ]);
  const repeated = files.flatMap(({ path, text }) =>
    repeatedNumbers(text).map((literal) => `${path}: ${literal}`),
  );
  expect(repeated).toEqual([]);
});

it('the reference repeats no stream', () => {
  const text = sources('src/engine/reference', /\.ts$/)
    .map((file) => file.text.toLowerCase())
    .join('\n');
  for (const hex of Object.values(RHYTHM.streams)) {
    expect(text).not.toContain(hex.toLowerCase());
    expect(text).not.toContain(String(Number.parseInt(hex, 16)));
  }
});
