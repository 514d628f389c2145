/** `rhythm-vec eval`: options, refused arguments, the table, and files that are written completely or not at all. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { STEPPED_NAMES } from '../../src/agents/policies/observing-policies.js';
import { renderHeader, renderTable } from '../../src/cli/eval/eval-table.js';
import { toGrader } from '../../src/engine/graders/grader.js';
import { evaluate } from '../../src/evaluation/evaluate.js';
import { PUBLISHED } from '../../src/evaluation/published-scores.js';
import { createVecEnv } from '../../src/index.js';
import { runCli, startCli, temporaryDirectory } from '../support/cli.js';
import { ENGINES } from '../support/engines.js';
import { tables } from '../support/golden.js';

const pathOf = temporaryDirectory();
const leftovers = () => readdirSync(dirname(pathOf('x'))).filter((name) => name.endsWith('.tmp'));
const results = (name: string) => JSON.parse(readFileSync(pathOf(name), 'utf8'));
/** Environment variables that hide the addon, as on a machine without a compiler. */
const WITHOUT_ADDON = { RHYTHM_ADDON: '/nowhere/rhythm.node', RHYTHM_KERNEL: '' };

describe('eval', () => {
  it('prints the table and writes the golden numbers', async () => {
    const { code, stdout, stderr } = await runCli(['eval', '--json', pathOf('all.json')]);
    expect([code, stderr]).toEqual([0, '']);
    using env = createVecEnv({ numEnvs: 1 });
    expect(stdout).toContain(`backend ${env.backend}`);
    expect(stdout).toContain(env.world.digest.slice(0, 12));
    expect(stdout).toMatch(/heuristic +0\.447 ±0\.009 +0\.449 +0\.284 ±0\.014 +0\.205/);
    expect(stdout).toMatch(/heuristic\+constant +0\.606 ±0\.009 +- /);
    expect(stdout).toContain('Yardstick under v2: in-distribution 0.771 (planner-prior)');
    const { rows, ...provenance } = results('all.json');
    expect(Object.keys(provenance).sort()).toEqual(
      [
        ...['schema', 'version', 'world_digest', 'backend', 'kernel', 'threads', 'device', 'machine'],
        ...['grader', 'grader_weights', 'seconds', 'brackets', 'yardsticks'],
      ].sort(),
    );
    // Six policies under six conditions: in-distribution, ood, the three named profiles, and these three together.
    expect(rows).toHaveLength(36);
    for (const row of rows) {
      const golden = tables[`${row.condition}/${row.policy}/${row.belief}/v2`];
      if (golden) expect(row.digest).toBe(golden.digest);
    }
  });

  it('plays --episodes episodes of each condition, or all if it has fewer', async () => {
    const { code, stdout } = await runCli(['eval', '--episodes', '20', '--policies', 'heuristic']);
    expect(code).toBe(0);
    expect(stdout).toContain('in-distribution: seeds 0-19, 20 episodes');
    expect(stdout).toContain('discrete: seeds 0-4 of each profile, 15 episodes');
  });

  it('applies options of policies, conditions, grader and backend together', async () => {
    const { code, stdout } = await runCli(
      [
        ['eval', '--policies', 'random, heuristic', '--conditions', 'ood,custom', '--seeds', '7-30'],
        ['--episodes', '12', '--profiles', 'workaholic_stoic', '--grader', 'v1'],
        ['--backend', 'reference', '--threads', '2', '--json', pathOf('flags.json')],
      ].flat(),
    );
    expect(code).toBe(0);
    expect(stdout).toContain('backend reference, 1 thread; grader v1');
    expect(stdout).toContain('custom: seeds 7-18, 12 episodes, profiles workaholic_stoic');
    expect(stdout).toContain('Yardstick under v1, v2 and v3: unknown scores of open-loop, ');
    const { rows, ...run } = results('flags.json');
    expect(run).toMatchObject({ backend: 'reference', kernel: 'reference', threads: 1, grader: 'v1' });
    expect(
      rows.map((row: Record<string, unknown>) => [row.condition, row.policy, row.seeds, row.profiles]),
    ).toEqual(
      ['ood', 'custom'].flatMap((condition) =>
        ['random', 'heuristic'].map((policy) => [
          condition,
          policy,
          condition === 'ood' ? '10000-10011' : '7-18',
          'workaholic_stoic',
        ]),
      ),
    );
  });

  it.each(ENGINES.filter(({ kernel }) => kernel))('runs on $name if requested', async ({ kernel }) => {
    const { stdout } = await runCli(['eval', '--conditions', 'ood', '--kernel', kernel!, '--threads', '2']);
    expect(stdout).toContain(`backend native, kernel ${kernel}, 2 threads`);
  });

  it('with --json - writes only JSON to the standard output', async () => {
    const { code, stdout, stderr } = await runCli(['eval', '--conditions', 'ood', '--json', '-']);
    expect(code).toBe(0);
    expect(JSON.parse(stdout).rows).toHaveLength(6);
    expect(stderr).toContain('won/lost/tied');
  });

  it('without an addon runs on the reference backend, and prints why', async () => {
    const { code, stdout } = await runCli(
      ['eval', '--conditions', 'ood', '--json', pathOf('ref.json')],
      '',
      WITHOUT_ADDON,
    );
    expect(code).toBe(0);
    expect(stdout).toContain('backend reference');
    expect(stdout).toContain('tried before it: native (Expected the native addon at /nowhere/rhythm.node');
    expect(results('ref.json').rows[1].digest).toBe(tables['ood/heuristic/none/v2'].digest);
  });

  it('exits with 1 if the requested backend is not available', async () => {
    const { code, stderr } = await runCli(['eval', '--backend', 'native'], '', WITHOUT_ADDON);
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/^error: Expected an available backend, got "native"/),
    ]);
  });

  const refused: [string, string[], string][] = [
    ['an unknown command', ['evl'], 'Did you mean eval?'],
    ['an unknown option', ['eval', '--polices', 'random'], 'Did you mean --policies?'],
    ['an unknown policy', ['eval', '--policies', 'randon'], 'Did you mean "random"?'],
    ['a model without llm:', ['eval', '--policies', 'gpt-4o-mini'], 'llm:MODEL; got "gpt-4o-mini"'],
    ['an empty policy', ['eval', '--policies', 'random,,heuristic'], '--policies <names|files>'],
    ['an unknown condition', ['eval', '--conditions', 'in-distributon'], 'Did you mean "in-distribution"?'],
    ['custom without seeds', ['eval', '--conditions', 'custom'], 'Expected seeds for the condition "custom"'],
    ['seeds that are not a range', ['eval', '--seeds', '10'], 'Expected A-B'],
    ['a descending range of seeds', ['eval', '--seeds', '10-9'], 'Expected A-B'],
    ['seeds beyond a u32', ['eval', '--seeds', '0-4294967296'], 'Expected A-B'],
    ['episodes that are not a number', ['eval', '--episodes', 'many'], "option '--episodes <n>'"],
    ['no episodes', ['eval', '--episodes', '0'], 'Expected episodes to be an integer of at least 1, got 0.'],
    ['unknown profiles', ['eval', '--profiles', 'smapled'], 'Did you mean "sampled"?'],
    [
      'profiles with the condition discrete',
      ['eval', '--conditions', 'discrete', '--profiles', 'sampled'],
      'Leave out the profiles, or the condition.',
    ],
    [
      'an unknown grader',
      ['eval', '--grader', 'v4'],
      'one of v1, v2, v3 or a file, got "v4"; there is no such',
    ],
    ['an unknown backend', ['eval', '--backend', 'refrence'], 'Did you mean "reference"?'],
    [
      'a kernel with the reference backend',
      ['eval', '--backend', 'reference', '--kernel', 'avx2'],
      'Leave out --kernel',
    ],
    ['no threads', ['eval', '--threads', '0'], 'from 1 to 256, got 0.'],
    ['a positional argument', ['eval', 'ood'], 'too many arguments'],
    ['an output inside a file', ['eval', '--json', '/dev/null/x.json'], '/dev/null is not a directory'],
    ['an output that is a directory', ['eval', '--json', dirname(pathOf('x'))], 'which is a directory'],
    ['no command', [], 'Usage: rhythm-vec'],
  ];
  it.concurrent.each(refused)('refuses %s, as a usage error', async (_, args, message) => {
    const { code, stdout, stderr } = await runCli(args);
    expect(stderr).toContain(message);
    expect(stderr).not.toMatch(/^ +at /m);
    expect([code, stdout]).toEqual([2, '']);
  });

  it.each(['SIGINT', 'SIGTERM'] as const)(
    'at %s keeps the old file and leaves nothing beside it',
    async (signal) => {
      writeFileSync(pathOf('kept.json'), 'as it was');
      const running = startCli(['eval', '--seeds', '0-4294967295', '--json', pathOf('kept.json')]);
      await running.until('stdout', 'world');
      running.child.kill(signal);
      const { code, stderr } = await running.finished;
      expect(stderr).toBe('error: Interrupted. No output file was changed.\n');
      expect(code).toBe(signal === 'SIGINT' ? 130 : 143);
      expect(readFileSync(pathOf('kept.json'), 'utf8')).toBe('as it was');
      expect(leftovers()).toEqual([]);
    },
  );

  it('replaces a file', async () => {
    writeFileSync(pathOf('old.json'), 'x'.repeat(1e6));
    await runCli(['eval', '--conditions', 'ood', '--json', pathOf('old.json')]);
    expect(results('old.json').rows).toHaveLength(6);
    expect(leftovers()).toEqual([]);
  });

  it('exits with 0 if the reader closes the pipe early', async () => {
    const running = startCli(['eval']);
    await running.until('stdout', 'rhythm-vec');
    running.child.stdout.destroy();
    expect((await running.finished).code).toBe(0);
  });
});

describe('the table', () => {
  it('shows v3 beside v2, and v2 beside v3, as scores of the same episodes', async () => {
    const { rows, ...run } = await evaluate({ conditions: ['ood'], policies: ['heuristic'] });
    const table = renderTable({ rows, ...run });
    expect(table).toMatch(/final score +regraded by .*\n.*policy +\(95 %\) +published +v3 \(95 %\)/);
    expect(table).toContain(
      'regraded by v3: the score under v3 of the same episodes, which were played under v2.\n',
    );
    const underV3 = renderTable(
      await evaluate({ conditions: ['ood'], policies: ['heuristic'], grader: 'v3' }),
    );
    expect(underV3).toMatch(/final score +regraded by .*\n.*policy +\(95 %\) +v2 \(95 %\)/);
    expect(underV3).toContain('of the same episodes, which were played under v3.\n');
  });

  it('calls no policy below the yardstick evidence of inference, under any grader', async () => {
    const evaluation = await evaluate({ conditions: ['in-distribution'] });
    const best = evaluation.rows.find(
      ({ policy, belief }) => policy === 'open-loop' && belief === 'constant',
    )!;
    // The score lies above that of heuristic+constant, 0.606, but open-loop+constant reaches 0.757 without looking.
    const mine = {
      ...best,
      policy: 'mine',
      sequenceGrader: null,
      belief: 'own' as const,
      finalScore: { mean: 0.69, low: 0.68, high: 0.7 },
    };
    const notesOf = (changes: Partial<typeof evaluation>) =>
      renderTable({ ...evaluation, rows: [...evaluation.rows, mine], ...changes }).replaceAll('\n', ' ');
    expect(notesOf({})).toContain(
      'Yardstick under v2: in-distribution 0.771 (planner-prior). Above it with the whole 95 % interval: no policy.',
    );
    for (const [grader, graderWeights] of [
      ['v1', toGrader('v1').weights],
      ['v3', toGrader('v3').weights],
      ['skill', { ...toGrader('v3').weights, wellbeing: 0.25, belief_skill: 0.45 }],
    ] as const) {
      const notes = notesOf({ grader, graderWeights });
      expect(notes, grader).toContain('A score that does not lie above it is no evidence of inference.');
      expect(notes, grader).not.toMatch(/does not beat|shows no inference/);
      if (grader === 'skill')
        expect(notes).toContain(
          'Yardstick under skill: in-distribution at least 0.757 (open-loop+constant). Above it with the whole 95 % interval: no policy. ' +
            'Yardstick under v3: in-distribution 0.542 (planner-prior). Above it with the whole 95 % interval: no policy. ' +
            'Yardstick under skill: unknown scores of reactive+constant and planner-prior (in-distribution).',
        );
    }
  });

  it('shows all eight components in a second table', async () => {
    const table = renderTable(await evaluate({ conditions: ['ood'], policies: ['random', 'heuristic'] }));
    const [, components] = table.split('components:');
    expect(components).toMatch(
      /^( +\S+){8}\npolicy( +\S+){8}\n\nood: .*\nrandom( +[01]\.\d{3}){8}\nheuristic /,
    );
  });

  it('has lines of at most 140 characters under every condition', async () => {
    const evaluation = await evaluate();
    const fallback = {
      ...evaluation,
      backendReason: `tried before it: native (${'no such file '.repeat(30)})`,
    };
    const lines = [renderTable(evaluation), renderHeader(evaluation), renderHeader(fallback)]
      .join('')
      .split('\n');
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(140);
  });

  // The header recognises a fallback by the words "tried before it" of the reason: results have no field that says it.
  it.fails('shows the reason of a fallback, whatever its words are', async () => {
    const evaluation = await evaluate({ conditions: ['ood'], policies: ['heuristic'] });
    const backendReason = 'the fastest available, since native is missing';
    expect(renderHeader({ ...evaluation, backendReason })).toContain(backendReason);
  });

  it('shows more digits if an interval is too narrow for three', async () => {
    const seeds = { first: 0, last: 99999 };
    const table = renderTable(await evaluate({ seeds, policies: ['heuristic'] }));
    expect(table).toMatch(/heuristic +0\.\d{5} ±0\.000\d{2} /);
  });

  it('shows every published score', async () => {
    for (const grader of ['v1', 'v2']) {
      const table = renderTable(await evaluate({ grader }));
      const figures = PUBLISHED.filter((figure) => figure.grader === grader);
      expect(figures.length).toBeGreaterThan(0);
      for (const { finalScore, approximate } of figures) {
        expect(table).toContain(approximate ? ` ~${finalScore} ` : ` ${finalScore.toFixed(3)} `);
      }
    }
  });

  it('names the grader of an action sequence, also if it is not the grader in use', async () => {
    const evaluation = await evaluate({ conditions: ['ood'], policies: ['random'] });
    const rows = evaluation.rows.map((row) => ({ ...row, policy: 'open-loop', sequenceGrader: 'v2' }));
    const note = 'open-loop: one fixed action sequence, found for grader v2';
    expect(renderTable({ ...evaluation, rows })).toContain(`${note}.\n`);
    expect(renderTable({ ...evaluation, rows, grader: 'calm' })).toContain(`${note}, not for calm.\n`);
    expect(renderTable(evaluation)).not.toContain('one fixed action sequence');
  });

  it('shows no published score for other profiles, and no interval for a single episode', async () => {
    const table = renderTable(await evaluate({ profiles: 'discrete', conditions: ['ood'], episodes: 1 }));
    expect(table).toMatch(/heuristic +0\.\d{3} {8,}0\.\d{3} /);
    expect(table).not.toContain('published');
    expect(table).toContain('1 episode, profiles discrete');
  });

  it('has notes on the policies that observe each step, and on their objectives, and marks the oracle', async () => {
    const evaluation = await evaluate({ seeds: { first: 100, last: 100 }, policies: ['random'] });
    const names = STEPPED_NAMES.map((name) => name.replace('+constant', ''));
    const rows = ['random', ...names].map((policy) => ({
      ...evaluation.rows[0],
      ...{ policy, belief: 'own' as const, oracle: policy === 'planner-oracle' },
      sequenceGrader: ['open-loop+inference', 'reactive'].includes(policy) ? 'v2' : null,
    }));
    const table = renderTable({ ...evaluation, rows });
    for (const name of names) expect(table).toMatch(new RegExp(`\n${name.replace('+', '.')}( .oracle.)?: `));
    expect(table).toMatch(/\nplanner: .*THE SCORE/);
    expect(table).toMatch(/\nplanner-wellbeing: .*instead of the score/);
    expect(table).toMatch(/\nplanner-oracle \[oracle\] +0\.\d{3}/);
    expect(Math.max(...table.split('\n').map((line) => line.length))).toBeLessThanOrEqual(140);
    expect(renderTable(evaluation)).not.toMatch(/^(planner|reactive)\S*:/m);
  });
});

it('eval leaves no temporary files after these runs', () => {
  expect(leftovers()).toEqual([]);
});
