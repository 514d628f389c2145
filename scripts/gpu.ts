/**
 * `npm run gpu`: runs the tests of the project `gpu` on this machine's GPU, then `bench --webgpu`, and writes the measured
 * times to bench/results and docs/speed.md. It needs nothing from the network. On a software adapter it writes nothing, because
 * the times of such an adapter say nothing about a GPU.
 */
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readRecorded, writePages } from './speed.js';
import type { StoredRun } from './speed-page.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** Runs a program of node_modules. @throws Error if it fails. */
function run(program: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): void {
  const command = [join(ROOT, 'node_modules', program), ...args];
  const { status } = spawnSync(process.execPath, command, {
    cwd: ROOT,
    stdio: 'inherit',
    env: { ...process.env, ...env },
  });
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} failed with status ${status}.`);
}

/** Returns the file for the measured times of a GPU, or the reason why nothing is recorded. */
export function fileFor({ webgpu }: StoredRun): { file: string } | { reason: string } {
  if (!webgpu?.device) return { reason: 'There is no device.' };
  const { adapter, software } = webgpu.device;
  if (software) return { reason: `${adapter} is a software adapter: its times say nothing about a GPU.` };
  const name = adapter
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '');
  return { file: `bench/results/${name}.json` };
}

async function main(): Promise<void> {
  run('vitest/vitest.mjs', ['run', '--project', 'gpu'], { RHYTHM_REQUIRE: 'webgpu' });
  const folder = mkdtempSync(join(tmpdir(), 'rhythm-gpu-'));
  try {
    const json = join(folder, 'run.json');
    // Of this run docs/speed.md uses only the cases of --webgpu, which have their own number of rounds.
    // One round suffices for the other cases.
    run('tsx/dist/cli.mjs', ['bench/main.ts', '--rounds', '1', '--webgpu', '--json', json]);
    const result = fileFor(JSON.parse(readFileSync(json, 'utf8')));
    if ('reason' in result) return console.log(`Nothing was recorded. ${result.reason}`);
    copyFileSync(json, join(ROOT, result.file));
    await writePages(readRecorded());
    console.log(`Wrote ${result.file} and docs/speed.md.`);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
