/** `rhythm-vec audit`: output, files, refused arguments and interruptions. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { auditToJson } from '../../src/evaluation/audit/audit-json.js';
import { audit, type Grader, validateGrader } from '../../src/index.js';
import { runCli, startCli, temporaryDirectory } from '../support/cli.js';
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

  it('prints lines of at most 120 characters, and with --json - writes only JSON to the standard output', async () => {
    const args = ['audit', '--grader', 'v1', '--kernel', NATIVE[0].kernel!, '--threads', '1', ...TINY];
    const { code, stdout, stderr } = await runCli([...args, '--json', '-']);
    expect(code).toBe(0);
    const { kernel, threads, grader, world_digest: digest, machine, version, tapes } = JSON.parse(stdout);
    // Seven action sequences: open-loop, open-loop-honest, and one for each of the five weighted components of v1.
    expect([kernel, threads, grader, tapes.length]).toEqual([NATIVE[0].kernel, 1, 'v1', 7]);
    for (const text of [digest, machine.cpu, version]) expect(text).not.toBe('');
    expect(Math.max(...stderr.split('\n').map((line) => line.length))).toBeLessThanOrEqual(120);
    expect(stderr).toContain('Under grader v1, a policy that ignores the profile');
  });

  it('with --assert writes the files, then exits with 1 and says why, if the grader pays for more than inference', async () => {
    const path = pathOf('asserted.json');
    const { code, stdout, stderr } = await runCli([
      'audit',
      '--grader',
      calmFile,
      ...TINY,
      '--assert',
      '--json',
      path,
    ]);
    const { pays_only_for_inference: pays, reason, checks } = readJson(path);
    expect([code, pays]).toEqual([1, false]);
    expect(stderr).toBe(`error: ${reason}\n`);
    expect(stdout.replaceAll('\n', ' ')).toContain(reason);
    expect(reason).toMatch(/^Grader calm does not pay only for inference: [^.]*0\.\d{3}.*\.$/);
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

it.each([['SIGINT', 130] as const, ['SIGTERM', 143] as const])(
  'at %s exits with %i, keeps existing files, and creates none',
  async (signal, exitCode) => {
    // The grader is a pipe. Once a write to it returns, the command is reading it.
    const pipe = pathOf(`${signal}.json`);
    execFileSync('mkfifo', [pipe]);
    const kept = pathOf(`${signal}-kept.json`);
    writeFileSync(kept, 'as it was');
    const args = ['audit', '--grader', pipe, '--evaluations', '1000000000', '--json', kept];
    const { child, finished } = startCli([...args, '--output', pathOf(signal)]);
    await writeFile(pipe, JSON.stringify(calm));
    child.kill(signal);
    expect(await finished).toEqual({
      code: exitCode,
      stdout: '',
      stderr: 'error: Interrupted. No output file was changed.\n',
    });
    expect(readFileSync(kept, 'utf8')).toBe('as it was');
    expect(existsSync(pathOf(signal))).toBe(false);
    expect(readdirSync(pathOf('')).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  },
);

const write = (name: string, content: string): string => {
  writeFileSync(pathOf(name), content);
  return pathOf(name);
};
const linked = pathOf('linked');
symlinkSync('.', linked);
const refused: [name: string, args: string[], message: string][] = [
  ['an unknown option', ['--graders', 'v1'], 'Did you mean --grader?'],
  ['an unknown grader', ['--grader', 'v4'], 'one of v1, v2, v3 or a file, got "v4"; there is no such file'],
  ['a grader that is not JSON', ['--grader', write('no.json', 'progress')], 'no.json'],
  [
    'an unknown component',
    ['--grader', write('luck.json', '{"name":"x","weights":{"progres":1}}')],
    'got "progres". Did you mean "progress"?',
  ],
  [
    'a weight that is a string',
    ['--grader', write('text.json', '{"name":"x","weights":{"progress":"1"}}')],
    'at weights.progress of ',
  ],
  [
    'weights that sum to 2',
    ['--grader', write('two.json', '{"name":"x","weights":{"progress":2}}')],
    'Expected weights that sum to 1 at weights of ',
  ],
  [
    'the name of a built-in grader',
    ['--grader', write('v2.json', '{"name":"v2","weights":{"progress":1}}')],
    'at name of ',
  ],
  ['an output directory that is a file', ['--output', calmFile], 'to name a directory'],
  ['an output directory inside a file', ['--output', `${calmFile}/report`], `${calmFile} is not a directory`],
  ['an output directory without a name', ['--output', ''], 'got an empty name'],
  ['a JSON file that is a directory', ['--json', pathOf('')], 'which is a directory'],
  ['a JSON file inside a file', ['--json', `${calmFile}/x.json`], `${calmFile} is not a directory`],
  [
    'a JSON file of the same path as a file of the report, in a new directory',
    ['--output', pathOf('new'), '--json', pathOf('other/../new/audit.json')],
    'Expected --json to be another file than those of --output',
  ],
  [
    'a JSON file at the path of a report file, in other letter case and through a link',
    ['--output', linked, '--json', pathOf('Audit.MD')],
    'Expected --json to be another file than those of --output',
  ],
  [
    'a grader file that the report would overwrite',
    ['--grader', write('audit.md', JSON.stringify(calm)), '--output', linked],
    'Expected --output to be another file than --grader',
  ],
  [
    'a JSON file of the same path as a file of the report',
    ['--output', pathOf(''), '--json', pathOf('audit.json')],
    'Expected --json to be another file than those of --output',
  ],
  ['too few evaluations', ['--evaluations', '10'], 'Expected evaluations to be an integer from 1000'],
  [
    'no episodes for planners',
    ['--planner-episodes', '0'],
    'Expected --planner-episodes to be an integer from 2',
  ],
  ['evaluations that are not a number', ['--evaluations', 'many'], "option '--evaluations <n>'"],
  ['more profiles than episodes', ['--episodes', '5', '--profiles', '6'], 'profiles'],
  ['a seed above 2^32 - 1', ['--seed', '4294967296'], 'seed'],
  ['an unknown backend', ['--backend', 'refrence'], 'Did you mean "reference"?'],
  [
    'a kernel with the reference backend',
    ['--backend', 'reference', '--kernel', 'avx2'],
    'Leave out --kernel',
  ],
  ['a positional argument', ['v1'], 'too many arguments'],
];
it.concurrent.each(refused)(
  'refuses %s as a usage error, and creates nothing',
  async (name, args, message) => {
    const folder = pathOf(`refused ${name}`);
    // Of a repeated option, the last value counts.
    const { code, stdout, stderr } = await runCli(['audit', '--output', folder, ...args]);
    expect(stderr).toContain(message);
    expect(stderr).not.toMatch(/^ +at /m);
    expect([code, stdout]).toEqual([2, '']);
    expect(existsSync(folder)).toBe(false);
  },
);
