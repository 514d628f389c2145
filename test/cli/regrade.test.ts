/** `eval --components` and `regrade`: stored components give the same scores as playing again. */
import { linkSync, readFileSync, writeFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { POLICIES } from '../../src/agents/policies/fixed-policies.js';
import { evaluationToJson } from '../../src/evaluation/evaluation-json.js';
import { COMPONENT_NAMES, evaluate, type Grader, parseGrader } from '../../src/index.js';
import { SCHEMAS } from '../../src/shared/schemas.js';
import { fromLines, runCli, temporaryDirectory } from '../support/cli.js';
import { FORMER_FILES } from '../support/former-files.js';

const pathOf = temporaryDirectory();
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
const regradeStored = (...args: string[]) => runCli(['regrade', '--components', stored, ...args]);

it('eval --components writes a header, then every episode of every policy', () => {
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
      const { code, stderr } = await regradeStored('--grader', option, '--json', pathOf('new/re.json'));
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
      const regraded = readJson('new/re.json');
      expect(regraded.rows.filter(({ tape }: { tape: string | null }) => tape === null)).toEqual(
        expectedRows,
      );
      const { grader: name, grader_weights } = expected;
      expect(regraded).toMatchObject({ schema: SCHEMAS.regrade, grader: name, grader_weights });
      expect(regraded.conditions).toHaveLength(5);
    },
  );

  it('prints the rows, the ranking and its sensitivity to the weights, in lines of at most 140 characters', async () => {
    const { code, stdout } = await regradeStored('--grader', pathOf('calm.json'));
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

  it('accepts a selection of conditions, concatenated files, unknown keys, unknown policies and blank lines', async () => {
    const { stdout: selected } = await regradeStored('--conditions', 'discrete', '--json', '-');
    const { conditions, rows } = JSON.parse(selected);
    expect(conditions.map(({ condition }: { condition: string }) => condition)).toEqual(['discrete']);
    expect(rows).toHaveLength(6);
    const more = await runCli('eval --seeds 7-9 --policies random --components - --grader v1'.split(' '));
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

  it('is refused under a grader that weighs a missing component; otherwise a note names what the file lacks', async () => {
    const { stdout } = await regrade(components);
    expect(stdout).toContain('\n-: a component that files of world 1.0.0 lack. The grader does not weigh it');
    const own = { name: 'own', weights: { crash_free: 0.5, wellbeing: 0.5 } };
    writeFileSync(pathOf('own.json'), JSON.stringify(own));
    const v3 = await regrade(components, '--grader', 'v3');
    expect([v3.code, v3.stdout]).toEqual([2, '']);
    expect(v3.stderr).toContain('got v3, which weighs wellbeing and belief_skill. Files of world 1.0.0 lack');
    expect(v3.stderr).toContain('Replay the trajectories with rhythm-vec reeval --grader');
    const mine = await regrade(components, '--grader', pathOf('own.json'));
    expect(mine.stderr).toContain('got own, which weighs wellbeing.');
  });
});

it('regrade refuses an incomplete file, and a hard link to its input as its output, and changes no file', async () => {
  const [cut, kept, link] = ['cut.jsonl', 'kept.json', 'link.jsonl'].map(pathOf);
  const before = readFileSync(stored, 'utf8');
  writeFileSync(cut, before.slice(0, 5000));
  writeFileSync(kept, 'as it was');
  const { code, stderr } = await runCli(['regrade', '--components', cut, '--json', kept]);
  expect([code, stderr]).toEqual([2, expect.stringContaining(`error: ${cut}:`)]);
  expect(readFileSync(kept, 'utf8')).toBe('as it was');
  linkSync(stored, link);
  expect((await regradeStored('--json', link)).code).toBe(2);
  expect(readFileSync(stored, 'utf8')).toBe(before);
});
