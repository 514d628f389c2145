/** `rhythm-vec world`: writes the numbers of the published world, and the file of a changed world. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { createWorld, layoutDigest, RHYTHM } from '../../src/index.js';
import { SCHEMAS } from '../../src/shared/schemas.js';
import { runCli } from '../support/cli.js';

const directory = mkdtempSync(join(tmpdir(), 'rhythm-world-'));
afterAll(() => rmSync(directory, { recursive: true }));

it('world writes the numbers of the published world', async () => {
  const { code, stdout } = await runCli(['world']);
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toEqual(RHYTHM);
});

it("world writes the file of a changed world, with the world's numbers as 32-bit words (block.ts), and its digest", async () => {
  const spec = structuredClone(RHYTHM);
  spec.constants.crashThreshold *= 2;
  spec.name = 'fragile';
  const [numbers, output] = [join(directory, 'numbers.json'), join(directory, 'new', 'world.json')];
  writeFileSync(numbers, JSON.stringify(spec));
  expect(await runCli(['world', '--numbers', numbers, '--output', output])).toMatchObject({ code: 0 });
  const world = createWorld(spec);
  expect(JSON.parse(readFileSync(output, 'utf8'))).toMatchObject({
    schema: SCHEMAS.world,
    name: 'fragile',
    world_digest: world.digest,
    layout_digest: layoutDigest(),
    words: [...world.words],
    magnitudes: { reward: expect.any(Number), anomalies: expect.any(Number) },
  });
  // The command refuses the file of a world as a file of numbers.
  const again = await runCli(['world', '--numbers', output]);
  expect(again).toMatchObject({ code: 2, stdout: '' });
  expect(again.stderr).toContain('the file of a world');
});

it.each([
  ['[', /Expected one JSON object/],
  ['{}', /world/],
  [JSON.stringify({ ...RHYTHM, decay: [1] }), /decay/],
])('world refuses the numbers %j', async (text, message) => {
  const numbers = join(directory, 'bad.json');
  writeFileSync(numbers, text);
  const { code, stdout, stderr } = await runCli(['world', '--numbers', numbers]);
  expect(code).toBe(2);
  expect(stdout).toBe('');
  expect(stderr).toMatch(message);
  expect(stderr).toContain('bad.json');
});
