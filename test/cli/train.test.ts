/** Trains small students with `rhythm-vec train`. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { runCli, startCli, temporaryDirectory } from '../support/cli.js';

const pathOf = temporaryDirectory();
const SMALL = '--episodes 20 --rounds 1 --round-episodes 4 --epochs 30 --seeds 100-199'.split(' ');
const train = (output: string, ...more: string[]) => ['train', ...SMALL, '--output', output, ...more];

it('resumes after kill -9 to the same bits, and the file is a policy', async () => {
  const [whole, killed] = [pathOf('whole.safetensors'), pathOf('killed.safetensors')];
  expect((await runCli(train(whole))).stderr).toContain('belief MAE');
  const { child, finished } = startCli(train(killed, '--threads', '1'));
  while (!existsSync(`${killed}.partial`) && child.exitCode === null) await setTimeout(5);
  child.kill('SIGKILL');
  await finished;
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

it('refuses the oracle as a teacher, and a file that is no student', async () => {
  const refused = await runCli(train(pathOf('never'), '--teacher', 'planner-oracle'));
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain('Expected a teacher that sees observations only, got planner-oracle');
  writeFileSync(pathOf('text.safetensors'), 'no student');
  const { code, stderr } = await runCli(['eval', '--policies', pathOf('text.safetensors')]);
  expect(code).toBe(2);
  expect(stderr).toContain("Expected a student's file, got bytes that are not safetensors");
});
