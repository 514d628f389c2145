/** `eval --components` and `regrade`: stored components give the same scores as playing again. */
import { existsSync, linkSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { POLICIES } from '../../src/agents/policies/fixed-policies.js';
import { evaluationToJson } from '../../src/evaluation/evaluation-json.js';
import { COMPONENT_NAMES, evaluate, type Grader, parseGrader } from '../../src/index.js';
import { SCHEMAS } from '../../src/shared/schemas.js';
import { fromLines, runCli, startCli, temporaryDirectory } from '../support/cli.js';
import { FORMER_FILES } from '../support/former-files.js';

const pathOf = temporaryDirectory();
const leftovers = () => readdirSync(dirname(pathOf('x'))).filter((name) => name.endsWith('.tmp'));
const stored = pathOf('components.jsonl');
const calm = { name: 'calm', weights: { crash_free: 0.5, efficiency: 0.3, belief_accuracy: 0.2 } };
const readJson = (name: string) => JSON.parse(readFileSync(pathOf(name), 'utf8'));

beforeAll(async () => {
  writeFileSync(pathOf('calm.json'), JSON.stringify(calm));
  const args = ['eval', '--conditions', 'ood,discrete', '--episodes', '5', '--components', stored];
  expect((await runCli(args)).code).toBe(0);
});

const regrade = (input: string, ...args: string[]) =>
  runCli(['regrade', '--components', '-', ...args], input);

describe('eval --components', () => {
  it('writes a header, then every episode of every policy', () => {
    const [header, ...rows] = fromLines(readFileSync(stored, 'utf8'));
    expect(header).toMatchObject({
      schema: SCHEMAS.components,
      grader: 'v2',
      grader_weights: { crash_free: 0.15 },
    });
    // Six policies; ood, the three named profiles apart, and the three together.
    expect(rows).toHaveLength(6 * (5 + 15 + 15));
    expect(rows.find((row) => row.belief === 'constant')).toMatchObject({
      condition: 'ood',
      profile: 'sampled',
      seed: 10000,
    });
    expect(Object.keys(rows[0]).slice(-2)).toEqual(['belief_mae', 'final_score']);
    expect(leftovers()).toEqual([]);
  });

  it('writes the table to the standard error if components go to the standard output', async () => {
    const { code, stdout, stderr } = await runCli(['eval', '--seeds', '0-2', '--components', '-']);
    expect(code).toBe(0);
    expect(fromLines(stdout)).toHaveLength(1 + 6 * 3);
    expect(stderr).toContain('won/lost/tied');
  });

  it('does not change the results in --json', async () => {
    const args = ['eval', '--conditions', 'ood,discrete', '--episodes', '5'];
    await runCli([...args, '--json', pathOf('with.json'), '--components', pathOf('other.jsonl')]);
    await runCli([...args, '--json', pathOf('without.json')]);
    expect(readJson('with.json').rows).toEqual(readJson('without.json').rows);
    expect(readFileSync(pathOf('other.jsonl'), 'utf8')).toBe(readFileSync(stored, 'utf8'));
  });

  it.each([
    ['an output inside a file', ['--components', '/dev/null/x'], '/dev/null is not a directory'],
    [
      'one file for components and results',
      ['--components', pathOf('x'), '--json', pathOf('x')],
      'another file than --json',
    ],
    ['both on the standard output', ['--components', '-', '--json', '-'], 'another file than --json'],
  ])('refuses %s', async (_, args, message) => {
    const { code, stdout, stderr } = await runCli(['eval', ...args]);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(message);
    expect(existsSync(pathOf('x'))).toBe(false);
  });

  it('keeps the old file when interrupted, and leaves nothing beside it', async () => {
    writeFileSync(pathOf('kept.jsonl'), 'as it was');
    const running = startCli(['eval', '--seeds', '0-4294967295', '--components', pathOf('kept.jsonl')]);
    await running.until('stdout', 'world');
    running.child.kill('SIGINT');
    expect((await running.finished).code).toBe(130);
    expect(readFileSync(pathOf('kept.jsonl'), 'utf8')).toBe('as it was');
    expect(leftovers()).toEqual([]);
  });
});

describe('regrade', () => {
  it.each([
    ['v1', 'v1'],
    ['v2', 'v2'],
    ['v3', 'v3'],
    [pathOf('calm.json'), parseGrader(JSON.stringify(calm))],
  ] as [string, string | Grader][])(
    'under %s gives the rows of an evaluation under that grader',
    async (option, grader) => {
      const { code, stderr } = await runCli([
        'regrade',
        '--components',
        stored,
        '--grader',
        option,
        '--json',
        pathOf('re.json'),
      ]);
      expect([code, stderr]).toEqual([0, '']);
      // Policies with an action sequence are not compared: the stored episodes keep the sequence of the grader under which
      // they were played.
      const policies = POLICIES.filter(({ sequenceGrader }) => sequenceGrader('v2') === null).map(
        ({ name }) => name,
      );
      const evaluation = await evaluate({ conditions: ['ood', 'discrete'], episodes: 5, grader, policies });
      const { rows, ...expected } = evaluationToJson(evaluation) as {
        rows: Record<string, unknown>[];
        grader: string;
        grader_weights: object;
      };
      // Files of components have no counts of unparsed answers and no usage, and regrade adds no scores under other graders.
      // In files `tape` names the grader of a policy's action sequence.
      const expectedRows = rows.map(({ unparsed: _, usage: __, regraded: ___, ...row }) => row);
      const regraded = readJson('re.json');
      expect(regraded.rows.filter(({ tape }: { tape: string | null }) => tape === null)).toEqual(
        expectedRows,
      );
      const { grader: name, grader_weights } = expected;
      expect(regraded).toMatchObject({ schema: SCHEMAS.regrade, grader: name, grader_weights });
      expect(regraded.conditions).toHaveLength(5);
    },
  );

  it('prints the rows, the ranking and its sensitivity to the weights, in lines of at most 140 characters', async () => {
    const { code, stdout } = await runCli([
      'regrade',
      '--components',
      stored,
      '--grader',
      pathOf('calm.json'),
    ]);
    expect(code).toBe(0);
    expect(stdout).toContain(
      '210 stored episodes, not played again; grader calm\ncalm weighs crash_free 0.5',
    );
    expect(stdout).toContain('ood: seeds 10000-10004, 5 episodes');
    expect(stdout).toMatch(/ood: +final score +lead over the/);
    expect(stdout).toMatch(/belief_accuracy +0\.200 +0\.\d{3} {2}heuristic passes random\+constant/);
    expect(stdout).not.toContain('-0.000');
    expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBeLessThanOrEqual(140);
  });

  it('accepts the standard input and a selection of conditions, and refuses an unknown condition', async () => {
    const { code, stdout } = await regrade(
      readFileSync(stored, 'utf8'),
      '--conditions',
      'discrete',
      '--json',
      '-',
    );
    expect(code).toBe(0);
    const { conditions, rows } = JSON.parse(stdout);
    expect(conditions.map(({ condition }: { condition: string }) => condition)).toEqual(['discrete']);
    expect(rows).toHaveLength(6);
    const unknown = await regrade(readFileSync(stored, 'utf8'), '--conditions', 'odd');
    expect(unknown.stderr).toContain('got "odd". Did you mean "ood"?');
  });

  it('accepts concatenated files, unknown keys, unknown policies and blank lines', async () => {
    const more = await runCli([
      'eval',
      '--seeds',
      '7-9',
      '--policies',
      'random',
      '--components',
      '-',
      '--grader',
      'v1',
    ]);
    const other = more.stdout.replaceAll('"policy":"random"', '"policy":"mine","note":[1]');
    const { code, stdout } = await regrade(`${readFileSync(stored, 'utf8')}\n${other}\r\n`, '--json', '-');
    expect(code).toBe(0);
    const row = JSON.parse(stdout).rows.find(({ policy }: { policy: string }) => policy === 'mine');
    expect(row).toMatchObject({ condition: 'custom', seeds: '7-9', episodes: 3, wins: null });
    expect(await regrade(other)).toMatchObject({ code: 0, stdout: expect.stringMatching(/mine .* -\n/) });
  });
});

describe('regrade of a file of world 1.0.0', () => {
  const { components } = FORMER_FILES;

  it.each(['v1', 'v2', pathOf('calm.json')])(
    'gives the results of a file of this world, except for the two missing components, under %s',
    async (grader) => {
      const played = ['--policies', 'heuristic', '--seeds', '100-103', '--components', '-'];
      const { stdout: own } = await runCli(['eval', ...played]);
      const [now, former] = await Promise.all(
        [own, components].map(async (input) =>
          JSON.parse((await regrade(input, '--grader', grader, '--json', '-')).stdout),
        ),
      );
      const row = former.rows.find(({ policy }: { policy: string }) => policy === 'heuristic');
      const { wellbeing: _, belief_skill: __, ...common } = now.rows[0].components;
      expect(row).toEqual({ ...now.rows[0], components: { ...common, wellbeing: null, belief_skill: null } });
      expect([now.former_world, former.former_world]).toEqual([null, '1.0.0']);
      const weighed = former.conditions[0].sensitivity.map(
        ({ component }: { component: string }) => component,
      );
      expect(weighed).toEqual(COMPONENT_NAMES.slice(0, 6));
    },
  );

  it('has a note on the components that the file lacks', async () => {
    const { code, stdout } = await regrade(components);
    expect(code).toBe(0);
    expect(stdout).toContain('\n-: a component that files of world 1.0.0 lack. The grader does not weigh it');
  });

  it('is refused under v3, and under a custom grader that weighs a missing component', async () => {
    const own = { name: 'own', weights: { crash_free: 0.5, wellbeing: 0.5 } };
    writeFileSync(pathOf('own.json'), JSON.stringify(own));
    const [v3, mine] = [
      await regrade(components, '--grader', 'v3'),
      await regrade(components, '--grader', pathOf('own.json')),
    ];
    expect([v3.code, v3.stdout]).toEqual([2, '']);
    expect(v3.stderr).toContain('got v3, which weighs wellbeing and belief_skill. Files of world 1.0.0 lack');
    expect(v3.stderr).toContain('Replay the trajectories with rhythm-vec reeval --grader');
    expect(mine.stderr).toContain('got own, which weighs wellbeing.');
  });
});

describe('regrade refuses', () => {
  it('an incomplete file; the error names the file, and the old output stays', async () => {
    writeFileSync(pathOf('cut.jsonl'), readFileSync(stored, 'utf8').slice(0, 5000));
    writeFileSync(pathOf('kept.json'), 'as it was');
    const { code, stderr } = await runCli([
      'regrade',
      '--components',
      pathOf('cut.jsonl'),
      '--json',
      pathOf('kept.json'),
    ]);
    expect(code).toBe(2);
    expect(stderr).toContain(`error: ${pathOf('cut.jsonl')}:`);
    expect(readFileSync(pathOf('kept.json'), 'utf8')).toBe('as it was');
    expect(leftovers()).toEqual([]);
  });

  it.each([
    ['a missing file', () => ['--components', pathOf('none')], '--components to name a file'],
    ['a directory', () => ['--components', dirname(stored)], 'it is a directory'],
    ['no components', () => [], "required option '--components <file>' not specified"],
    [
      'an output that is its input',
      () => ['--components', stored, '--json', stored],
      'another file than --components',
    ],
    ['an unknown grader', () => ['--components', stored, '--grader', 'v9'], 'or a file, got "v9"'],
  ])('%s', async (_, args, message) => {
    const { code, stderr } = await runCli(['regrade', ...args()]);
    expect(stderr).toContain(message);
    expect(code).toBe(2);
  });

  it('an output that is a hard link to its input', async () => {
    linkSync(stored, pathOf('link.jsonl'));
    const before = readFileSync(stored, 'utf8');
    const { code } = await runCli(['regrade', '--components', stored, '--json', pathOf('link.jsonl')]);
    expect([code, readFileSync(stored, 'utf8')]).toEqual([2, before]);
  });
});
