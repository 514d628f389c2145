/** `--grader`: names and files, in eval and replay. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { messageOf } from '../../src/cli/command-errors.js';
import { readGrader } from '../../src/cli/files/grader-file.js';
import { createVecEnv, graderWeights, InputError, validateGrader } from '../../src/index.js';
import { fromLines, runCli, temporaryDirectory } from '../support/cli.js';

const pathOf = temporaryDirectory();
const calm = { name: 'calm', weights: { crash_free: 0.5, efficiency: 0.3, belief_accuracy: 0.2 } };
function write(name: string, content: string | Uint8Array): string {
  writeFileSync(pathOf(name), content);
  return pathOf(name);
}
const calmFile = write('calm.json', JSON.stringify(calm));

describe('readGrader', () => {
  it('accepts a built-in name or a file', async () => {
    expect(graderWeights(await readGrader('v1'))).toEqual(graderWeights('v1'));
    expect(await readGrader(calmFile)).toEqual(validateGrader(calm));
    expect(await readGrader(write('marked.json', `\uFEFF${JSON.stringify(calm)}\r\n`))).toEqual(
      validateGrader(calm),
    );
  });

  it('refuses other values', async () => {
    await expect(readGrader('v9')).rejects.toThrow(
      'one of v1, v2, v3 or a file, got "v9"; there is no such file. Check the path.',
    );
    await expect(readGrader('no-such.json')).rejects.toThrow(
      'got "no-such.json"; there is no such file. Check the path.',
    );
    mkdirSync(pathOf('folder'));
    await expect(readGrader(pathOf('folder'))).rejects.toThrow('it is a directory');
  });

  it('reads a pipe, and refuses a device that gives more than the maximum size of a grader', async () => {
    execFileSync('mkfifo', [pathOf('pipe')]);
    const reading = readGrader(pathOf('pipe'));
    await writeFile(pathOf('pipe'), JSON.stringify(calm));
    expect(await reading).toEqual(validateGrader(calm));
    await expect(readGrader('/dev/zero')).rejects.toThrow('at most 65536 bytes in /dev/zero, got more');
  });

  it.each(['\x1b[2J{"name"', '{"name":"\u202Emlac"}', '{"name":"\x00\r\b"}'])(
    'replaces control characters in the error: %j',
    async (content) => {
      const message = await readGrader(write('escape\x1b[0m.json', content)).then(String, messageOf);
      expect(message).toMatch(
        /^error: Expected [^\p{Cc}\p{Bidi_Control}]*\uFFFD[^\p{Cc}\p{Bidi_Control}]*$/u,
      );
    },
  );

  it.each([
    ['an empty file', '', 'got an empty text'],
    ['a file that is too large', ' '.repeat(65_537), 'at most 65536 bytes'],
    ['invalid UTF-8', Uint8Array.of(0x22, 0xff, 0x22), 'Expected UTF-8 in'],
    ['a file of NUL bytes', new Uint8Array(100), 'got invalid JSON'],
    [
      'a misspelt component',
      '{"name":"x","weights":{"progres":1}}',
      'got "progres". Did you mean "progress"?',
    ],
  ])('refuses %s with an error that names the file', async (_, content, message) => {
    const path = write('bad.json', content);
    await expect(readGrader(path)).rejects.toThrow(InputError);
    await expect(readGrader(path)).rejects.toThrow(message);
    await expect(readGrader(path)).rejects.toThrow(path);
  });
});

describe('eval --grader FILE', () => {
  it("prints the grader's weights, writes them to the JSON, and grades by them", async () => {
    const json = pathOf('calm-results.json');
    const { code, stdout } = await runCli([
      'eval',
      '--conditions',
      'ood',
      '--grader',
      calmFile,
      '--json',
      json,
    ]);
    expect(code).toBe(0);
    expect(stdout).toContain('grader calm;');
    expect(stdout).toContain('calm weighs crash_free 0.5, efficiency 0.3, belief_accuracy 0.2\n');
    // The published score under v2 is not shown.
    expect(stdout).not.toContain(' 0.397 ');
    const { grader, grader_weights: weights, rows } = JSON.parse(readFileSync(json, 'utf8'));
    expect([grader, weights]).toEqual(['calm', validateGrader(calm).weights]);
    using env = createVecEnv({ numEnvs: 50, grader: graderWeights(calm) });
    env.reset({ seed: 10000 });
    const scores = env.run('random').finalScores;
    expect(rows[0].final_score.mean).toBeCloseTo(scores.reduce((sum, score) => sum + score, 0) / 50, 12);
  });

  it('refuses an invalid grader as a usage error with file and field, before the first episode', async () => {
    const path = write('bad.json', '{"name":"x","weights":{"progress":null}}');
    const json = pathOf('never.json');
    const { code, stdout, stderr } = await runCli(['eval', '--grader', path, '--json', json]);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(`at weights.progress of ${path}, got null.`);
    expect(stderr).not.toMatch(/^ +at /m);
    expect(() => readFileSync(json)).toThrow('ENOENT');
  });
});

describe('replay --grader, and graders of rows', () => {
  const row = { seed: 9, actions: new Array(28).fill('deep_work') };
  const score = (grader: Parameters<typeof graderWeights>[0]) => {
    using env = createVecEnv({ numEnvs: 1 });
    env.reset({ seed: 9, graders: graderWeights(grader) });
    return env.run(new Uint8Array(28)).finalScores[0];
  };
  const graders = [undefined, 'v1', [0, 1, 0, 0, 0, 0], calm];
  const rows = write(
    'rows.jsonl',
    graders.map((grader) => `${JSON.stringify({ ...row, grader })}\n`).join(''),
  );
  const finals = (text: string) => fromLines(text).map(({ final }) => Math.fround(final.final_score));

  it('grades each row by its own grader: a name, weights, a grader, or v2 by default', async () => {
    const { code, stdout, stderr } = await runCli(['replay', '--input', rows, '--output', '-']);
    expect([code, stderr]).toEqual([0, '4 rows replayed.\n']);
    expect(finals(stdout)).toEqual(['v2', 'v1', [0, 1, 0, 0, 0, 0], calm].map((grader) => score(grader)));
  });

  it.each([
    ['v1', 'v1'],
    [calmFile, 'calm'],
  ])('--grader %s grades every row, and the grader is printed', async (option, name) => {
    const { stdout, stderr } = await runCli(['replay', '--input', rows, '--output', '-', '--grader', option]);
    expect(stderr).toBe(`4 rows replayed under grader ${name}.\n`);
    expect(new Set(finals(stdout))).toEqual(new Set([score(name === 'v1' ? 'v1' : calm)]));
  });

  it('reports a row with an invalid grader, even with --grader', async () => {
    const bad = JSON.stringify({ ...row, grader: { name: 'x', weights: { progres: 1 } } });
    const args = ['replay', '--input', '-', '--output', '-', '--grader', 'v1'];
    const { code, stderr } = await runCli(args, `${bad}\n`);
    expect(code).toBe(1);
    expect(stderr).toContain('standard input:1: Expected no weights but');
    expect(stderr).toContain('got "progres". Did you mean "progress"?');
  });

  it('refuses an invalid --grader before the output is opened', async () => {
    const args = ['replay', '--input', rows, '--output', pathOf('none.jsonl'), '--grader', 'v9'];
    const { code, stderr } = await runCli(args);
    expect(code).toBe(2);
    expect(stderr).toContain('--grader to be one of v1, v2, v3 or a file, got "v9"');
    expect(() => readFileSync(pathOf('none.jsonl'))).toThrow('ENOENT');
  });
});
