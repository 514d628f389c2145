/** The students of the package score what their files and docs/students.md say. */
import { readFileSync, statSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { loadStudent, STUDENT_NAMES } from '../../../src/agents/student/shipped-students.js';
import { builtin, evaluate } from '../../../src/index.js';
import { createWorld } from '../../../src/world/world.js';

const page = readFileSync(new URL('../../../docs/students.md', import.meta.url), 'utf8');

it('all students together take less than 1 MB of the package, as files and as modules', () => {
  const at = (path: string) => new URL(`../../../${path}`, import.meta.url);
  const paths = STUDENT_NAMES.flatMap((name) => [
    at(`python/rhythm_vec/students/${name}.safetensors`),
    at(`src/agents/student/generated/${name}.ts`),
  ]);
  expect(paths.reduce((sum, path) => sum + statSync(path).size, 0)).toBeLessThan(1e6);
});

describe.each(STUDENT_NAMES)('%s', (name) => {
  it('scores what its file and docs/students.md say', async () => {
    const { manifest } = await loadStudent(name);
    expect(manifest.worldDigest).toBe(createWorld().digest);
    expect(name).toContain(`-${manifest.grader.name}`);
    const { grader, evaluation } = manifest;
    const { rows } = await evaluate({ policies: [name], grader, conditions: ['in-distribution', 'ood'] });
    const results = rows.map(({ condition, episodes, finalScore, beliefMae }) => [
      condition,
      { episodes, finalScore: finalScore.mean, beliefMae },
    ]);
    expect(Object.fromEntries(results)).toEqual(evaluation);
    const [row] = page.split('\n').filter((line) => line.startsWith(`| \`${name}\` |`));
    for (const { finalScore, beliefMae } of rows) {
      expect(row).toContain(finalScore.mean.toFixed(3));
      expect(row).toContain(beliefMae.toFixed(3));
    }
  });

  it('is the built-in policy of its name, and gives reasons', async () => {
    const policy = builtin(name);
    expect(policy).toMatchObject({ name, belief: 'own', usesHiddenState: false });
    const { grader } = (await loadStudent(name)).manifest;
    const player = await policy.open({ numEnvs: 1, grader, world: createWorld() });
    const playing = Uint8Array.of(1);
    await player.act({ observations: new Float32Array(22), steps: new Uint8Array(1), playing });
    expect(await player.reasons?.(0)).toMatch(/^A trained network estimates social \d\.\d\d ± /);
  });
});
