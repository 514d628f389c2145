/** Writes the generated sources. With --check it fails if one is stale. */
import { readFileSync, writeFileSync } from 'node:fs';
import { emitLayout } from '../src/engine/backends/webgpu/buffer-layout.js';
import { emitCppHeader } from '../src/world/emit-cpp.js';
import { emitPythonWorld } from './python-world.js';
import { emitShaders } from './shaders.js';

const layout = emitLayout();
const OUTPUTS = [
  { path: 'native/generated/world.h', text: emitCppHeader(), afterwards: 'npm run build:addon' },
  { path: 'src/engine/backends/webgpu/generated/layout.wgsl', text: layout, afterwards: 'npm run build' },
  {
    path: 'src/engine/backends/webgpu/generated/shaders.ts',
    text: emitShaders(layout),
    afterwards: 'npm run build',
  },
  { path: 'python/rhythm_vec/_world.py', text: emitPythonWorld(), afterwards: 'pip install ./python' },
];

const check = process.argv.includes('--check');
for (const { path, text, afterwards } of OUTPUTS) {
  const url = new URL(`../${path}`, import.meta.url);
  if (!check) {
    writeFileSync(url, text);
  } else if (readFileSync(url, 'utf8') !== text) {
    console.error(`${path} is stale: run npm run generate, then ${afterwards}.`);
    process.exitCode = 1;
  }
}
