/** `rhythm-vec audit`: output and files. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { auditToJson } from '../../src/evaluation/result-json.js';
import { audit, type Grader, validateGrader } from '../../src/index.js';
import { runCli, temporaryDirectory } from '../support/cli.js';
import { NATIVE, reportAbsentEngines } from '../support/engines.js';
import { elementsOf, Pixels } from '../support/pictures.js';

reportAbsentEngines();

const pathOf = temporaryDirectory();
const calm: Grader = { name: 'calm', weights: { crash_free: 0.5, adaptation: 0.3, belief_accuracy: 0.2 } };
const calmFile = pathOf('calm.json');
writeFileSync(calmFile, JSON.stringify(calm));
const NUMBERS = { evaluations: 1000, episodes: 12, profiles: 2, plannerEpisodes: 2 };
const TINY = Object.entries(NUMBERS).flatMap(([name, value]) => [
  `--${name === 'plannerEpisodes' ? 'planner-episodes' : name}`,
  String(value),
]);
const PICTURES = ['action-sequences', 'components', 'gains', 'meters', 'rewards'];
const REPORT = [
  'audit.json',
  'audit.md',
  ...PICTURES.flatMap((name) => [`${name}.png`, `${name}.svg`]),
].sort();
const readJson = (path: string) => JSON.parse(readFileSync(path, 'utf8'));

describe.skipIf(NATIVE.length === 0)('audit', () => {
  it('writes a report to a new directory, and the same JSON to --json', async () => {
    const folder = pathOf('new/report');
    const args = ['audit', '--grader', calmFile, ...TINY, '--seed', '3', '--output', folder];
    const { code, stdout, stderr } = await runCli([...args, '--json', pathOf('same.json')]);
    expect([code, stderr]).toEqual([0, '']);
    expect(readdirSync(folder).sort()).toEqual(REPORT);
    const result = readJson(`${folder}/audit.json`);
    expect(readJson(pathOf('same.json'))).toEqual(result);
    const expected = await audit({ ...NUMBERS, grader: validateGrader(calm), seed: 3 });
    expect(result).toEqual({ ...auditToJson(expected), seconds: result.seconds });
    expect(stdout.replaceAll('\n', ' ')).toContain(expected.verdict);
    expect(stdout.replaceAll('\n', ' ')).toContain(expected.reason);
    for (const { policy } of expected.rows) expect(stdout).toContain(`\n${policy} `);
    const page = readFileSync(`${folder}/audit.md`, 'utf8');
    expect(page).toContain('# What grader calm pays for\n');
    expect(page).toContain(expected.verdict);
    for (const name of PICTURES) {
      expect(page).toContain(`](${name}.svg)`);
      expect(elementsOf(readFileSync(`${folder}/${name}.svg`, 'utf8'))[0].name).toBe('svg');
      const [width, height] = new Pixels(readFileSync(`${folder}/${name}.png`)).size;
      expect(Math.min(width, height)).toBeGreaterThan(100);
    }
  });

  it('with --json - writes only JSON; with --assert exits with 1 and says why, if the grader pays for more than inference', async () => {
    const { kernel } = NATIVE[0];
    const args = ['audit', '--grader', calmFile, '--kernel', kernel!, '--threads', '1', ...TINY, '--assert'];
    const { code, stdout, stderr } = await runCli([...args, '--json', '-']);
    const result = JSON.parse(stdout);
    const { pays_only_for_inference: pays, reason, checks, verdict } = result;
    expect([code, pays, result.kernel, result.threads]).toEqual([1, false, kernel, 1]);
    expect(stderr.endsWith(`\nerror: ${reason}\n`)).toBe(true);
    const [table] = stderr.split('\nerror: ');
    for (const text of [verdict, reason]) expect(table.replaceAll('\n', ' ')).toContain(text);
    expect(Math.max(...table.split('\n').map((line) => line.length))).toBeLessThanOrEqual(120);
    expect(checks.map(({ figure }: { figure: string }) => figure)).toContain('inference_over_open_loop');
  });

  it('writes nothing if one file cannot be written, and keeps existing files', async () => {
    const folder = pathOf('occupied');
    mkdirSync(`${folder}/action-sequences.svg`, { recursive: true });
    writeFileSync(`${folder}/audit.md`, 'as it was');
    const { code, stderr } = await runCli(['audit', '--grader', calmFile, ...TINY, '--output', folder]);
    expect(code).toBe(1);
    expect(stderr).toContain('error: ');
    expect(readdirSync(folder).sort()).toEqual(['action-sequences.svg', 'audit.md']);
    expect(readFileSync(`${folder}/audit.md`, 'utf8')).toBe('as it was');
  });
});
