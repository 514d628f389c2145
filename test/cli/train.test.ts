/** Trains small students with `rhythm-vec train`. */
import { existsSync, readFileSync } from 'node:fs';
import { beforeAll, expect, it } from 'vitest';
import { STUDENT_NAMES } from '../../src/agents/student/packaged-students.js';
import { decodeTensors } from '../../src/agents/student/safetensors.js';
import { readStudent } from '../../src/agents/student/student.js';
import { runCli, startStopped, temporaryDirectory } from '../support/cli.js';

const pathOf = temporaryDirectory();
const SMALL =
  '--teacher open-loop+inference --episodes 20 --rounds 1 --round-episodes 4 --epochs 5 --seeds 100-199'.split(
    ' ',
  );
const train = (output: string, ...more: string[]) => ['train', ...SMALL, '--output', output, ...more];

/** A student for several tests, and the log of its training. */
const whole = pathOf('whole.safetensors');
let log: string;
beforeAll(async () => {
  const { code, stderr } = await runCli(train(whole));
  expect(code, stderr).toBe(0);
  log = stderr;
});

it('train resumes after SIGKILL to the same bits, and eval and teach accept the file as a policy', async () => {
  expect(log).toContain('belief MAE');
  const killed = pathOf('killed.safetensors');
  // The state is written 12 times: after the teacher's episodes, each of 5 epochs, the student's episodes, and each of 5 epochs.
  const stop = { signal: 'SIGKILL', path: `${killed}.partial`, count: 9 } as const;
  await startStopped(train(killed, '--threads', '1'), stop).finished;
  expect([existsSync(killed), existsSync(`${killed}.partial`)]).toEqual([false, true]);
  expect((await runCli(train(killed, '--seed', '1', '--resume'))).stderr).toMatch(
    /Expected a training with the settings .* leave out --resume/,
  );
  expect((await runCli(train(killed, '--resume'))).code).toBe(0);
  expect(readFileSync(killed).equals(readFileSync(whole))).toBe(true);
  expect(existsSync(`${killed}.partial`)).toBe(false);
  const evaluated = await runCli(['eval', '--policies', whole, '--seeds', '20000-20001']);
  expect(evaluated.stdout).toContain('whole');
  const taught = await runCli(['teach', '--policy', whole, '--seeds', '100-100', '--output', '-']);
  expect(taught.stdout).toContain('A trained network estimates social');
});

it('train refines a student, resumes the refinement after SIGKILL to the same bits, and refuses --from with --episodes', async () => {
  const [refined, killed, curves] = ['refined.safetensors', 'cut.safetensors', 'curves.svg'].map(pathOf);
  const small = '--refine-episodes 20 --refine-batch 5 --seeds 100-199'.split(' ');
  const refine = (output: string, ...more: string[]) => [
    ...['train', '--from', whole, ...small, '--output', output],
    ...more,
  ];
  expect((await runCli(refine(refined, '--curves', curves))).stderr).toContain('belief MAE');
  expect(readFileSync(curves, 'utf8')).toContain('Final score in the refinement');
  const stop = { signal: 'SIGKILL', path: `${killed}.partial`, count: 2 } as const;
  await startStopped(refine(killed, '--threads', '1'), stop).finished;
  expect([existsSync(killed), existsSync(`${killed}.partial`)]).toEqual([false, true]);
  const { metadata } = decodeTensors(new Uint8Array(readFileSync(`${killed}.partial`)));
  expect(JSON.parse(metadata.refinement).at(-1).episodes).toBe(10);
  expect((await runCli(refine(killed, '--resume'))).code).toBe(0);
  expect(readFileSync(killed).equals(readFileSync(refined))).toBe(true);
  expect(readFileSync(refined).equals(readFileSync(whole))).toBe(false);
  const both = await runCli([...refine(pathOf('never')), '--episodes', '20']);
  expect(both.stderr).toContain(
    "Expected no option 'episodes' with the option 'from', got 20. Leave out one of the two.",
  );
});

it('train trains a student on stored episodes, and refuses episodes of an oracle', async () => {
  const [stored, bad, output] = ['stored.parquet', 'oracle.jsonl', 'cloned.safetensors'].map(pathOf);
  const record = (path: string, policy: string, seeds: string) =>
    runCli(['eval', '--policies', policy, '--seeds', seeds, '--trajectories', path]);
  expect((await record(stored, 'heuristic', '100-139')).code).toBe(0);
  const trainOn = (path: string) =>
    runCli(['train', '--jsonl', path, '--rounds', '0', '--epochs', '40', '--output', output]);
  expect((await trainOn(stored)).code).toBe(0);
  const { manifest } = readStudent(new Uint8Array(readFileSync(output)));
  expect(manifest.training).toMatchObject({
    episodes: 40,
    storedSha256: expect.stringMatching(/^[0-9a-f]{64}$/),
  });
  expect(manifest.training.agreement).toBeGreaterThan(0.5);
  expect((await record(bad, 'planner-oracle', '100-100')).code).toBe(0);
  const { code, stderr } = await trainOn(bad);
  expect(code).toBe(2);
  expect(stderr).toContain('to be an episode of a policy that sees only observations, got one of an oracle.');
});

it('reeval takes the names of the shipped students as baselines', async () => {
  const stored = pathOf('few.jsonl');
  await runCli(['eval', '--policies', 'heuristic', '--seeds', '100-101', '--trajectories', stored]);
  const named = await runCli(['reeval', '--jsonl', stored, '--baselines', STUDENT_NAMES.join()]);
  for (const name of STUDENT_NAMES) expect(named.stdout).toContain(name);
});
