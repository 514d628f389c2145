/** Writes the generated sources, or with --check fails when one is not what src/world would make. */
import { readFileSync, writeFileSync } from 'node:fs';
import { emitCppHeader } from '../src/world/emit-cpp.js';

const OUTPUTS = [{ path: 'native/generated/world.h', text: emitCppHeader() }];

const check = process.argv.includes('--check');
for (const { path, text } of OUTPUTS) {
  const url = new URL(`../${path}`, import.meta.url);
  if (!check) {
    writeFileSync(url, text);
  } else if (readFileSync(url, 'utf8') !== text) {
    console.error(`${path} is stale: run npm run generate, then npm run build:addon.`);
    process.exitCode = 1;
  }
}
