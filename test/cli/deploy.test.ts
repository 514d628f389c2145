/** Runs the commands of the files in deploy/, with the variables that Kubernetes and Slurm set. */
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { MAIN, runCli, temporaryDirectory } from '../support/cli.js';

const pathOf = temporaryDirectory();
const deployed = (name: string): string => fileURLToPath(new URL(`../../deploy/${name}`, import.meta.url));
const [YAML, SLURM] = ['kubernetes-indexed-job.yaml', 'slurm-array.sh'].map(deployed);
const SETTINGS = { SEEDS: '100-104', POLICY: 'reactive+constant', SHARDS: '2' };

/** A folder for PATH with the command rhythm-vec. */
const bin = pathOf('bin');
let whole: string;
beforeAll(async () => {
  mkdirSync(bin);
  writeFileSync(`${bin}/rhythm-vec`, `#!/bin/sh\nexec "${process.execPath}" "${MAIN}" --quiet "$@"\n`);
  chmodSync(`${bin}/rhythm-vec`, 0o755);
  const { SEEDS, POLICY } = SETTINGS;
  await runCli(['teach', '--policy', POLICY, '--seeds', SEEDS, '--output', pathOf('whole.jsonl')]);
  whole = readFileSync(pathOf('whole.jsonl'), 'utf8');
}, 120_000);

/** Runs both shards in a new folder, and the first again. Returns the merged file. */
async function runBoth(command: readonly string[], variable: string, folder: string): Promise<string> {
  mkdirSync(folder);
  for (const index of ['0', '1', '0']) {
    const env = { ...process.env, ...SETTINGS, FOLDER: folder, [variable]: index };
    const path = `${bin}${delimiter}${process.env.PATH}`;
    const { status, stderr } = spawnSync(command[0], command.slice(1), { env: { ...env, PATH: path } });
    expect([status, String(stderr)]).toEqual([0, expect.stringMatching(/episodes in|Nothing to do/)]);
  }
  const parts = readdirSync(folder).filter((name) => /^part-.*\.jsonl$/.test(name));
  const { stdout } = await runCli(['merge', ...parts.map((name) => `${folder}/${name}`), '--output', '-']);
  return stdout;
}

describe('the Slurm array', () => {
  it('is a valid script, whose default array has as many tasks as shards', () => {
    expect(spawnSync('bash', ['-n', SLURM]).status).toBe(0);
    const text = readFileSync(SLURM, 'utf8');
    const [, last] = /^#SBATCH --array=0-(\d+)/m.exec(text)!;
    expect(/^SHARDS=\$\{SHARDS:-(\d+)\}/m.exec(text)![1]).toBe(String(Number(last) + 1));
  });

  it('gives the bytes of a run without --shard', async () => {
    expect(await runBoth(['bash', SLURM], 'SLURM_ARRAY_TASK_ID', pathOf('slurm'))).toBe(whole);
  });
});

/** Parses the file with PyYAML. */
const PARSE = 'import json, sys, yaml; print(json.dumps(yaml.safe_load(open(sys.argv[1]))))';
const parsed = spawnSync(process.env.RHYTHM_PYTHON ?? 'python3', ['-c', PARSE, YAML], { encoding: 'utf8' });
const reason = parsed.status === 0 ? '' : ' (skipped: no Python with PyYAML)';

describe.skipIf(parsed.status !== 0)(`the Kubernetes Indexed Job${reason}`, () => {
  const job = reason === '' ? JSON.parse(parsed.stdout) : null;
  const [container] = job?.spec.template.spec.containers ?? [];

  it('has as many completions as shards, and an index for each', () => {
    const { kind, spec } = job;
    const shards = container.env.find(({ name }: { name: string }) => name === 'SHARDS').value;
    expect([kind, spec.completionMode, String(spec.completions)]).toEqual(['Job', 'Indexed', shards]);
    const names = container.env.map(({ name }: { name: string }) => name).sort();
    expect(names).toEqual([...Object.keys(SETTINGS), 'FOLDER'].sort());
  });

  it('gives the bytes of a run without --shard', async () => {
    const command = [...container.command, ...container.args];
    expect(await runBoth(command, 'JOB_COMPLETION_INDEX', pathOf('kubernetes'))).toBe(whole);
  });
});
