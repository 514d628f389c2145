/** `teach`: a planner's episodes as trajectories that replay bit for bit. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { parseCompletion } from '../../src/index.js';
import { parseEpisode } from '../../src/rollouts/trajectories/read-line.js';
import { runCli, startCli, temporaryDirectory } from '../support/cli.js';

const pathOf = temporaryDirectory();
const teach = (...args: string[]) => runCli(['teach', ...args]);
const playerIn = (line: string) => {
  const { teacher, model, objective, oracle } = parseEpisode(line.trim());
  return { teacher, model, objective, oracle };
};
const episodesIn = (path: string) => readFileSync(path, 'utf8').trimEnd().split('\n').map(parseEpisode);

describe('a file of trajectories', () => {
  it('has one episode per line, by default of planner-wellbeing, and replays bit for bit', async () => {
    const { code, stdout, stderr } = await teach('--seeds', '100-102', '--output', pathOf('t.jsonl'));
    expect([code, stdout, stderr]).toEqual([0, '', `3 episodes in ${pathOf('t.jsonl')}.\n`]);
    const episodes = episodesIn(pathOf('t.jsonl'));
    expect(episodes.map(({ seed }) => seed)).toEqual([100, 101, 102]);
    const player = { teacher: 'planner-wellbeing', model: null, objective: 'wellbeing', oracle: false };
    for (const episode of episodes) expect(episode).toMatchObject(player);
    const reevaluation = await runCli(['reeval', '--jsonl', pathOf('t.jsonl')]);
    expect(reevaluation.stdout).toMatch(/^planner-wellbeing {2}/m);
    expect(reevaluation.stdout).toContain('3 episodes replayed, all as recorded, bit for bit.');
  });

  it('has completions with reasons, which state the digits of the answer', () => {
    for (const { steps } of episodesIn(pathOf('t.jsonl'))) {
      for (const { completion, belief, action, reasoning, prompt } of steps) {
        expect(completion).toMatch(/^<reasoning>[^\n<>]{50,900}<\/reasoning>\n\d \d \d [A-Z_]+$/);
        const parsed = parseCompletion(completion!);
        expect([parsed.actionName, parsed.belief]).toEqual([action, belief]);
        expect(completion).toContain(reasoning!);
        const stated = /Belief: social (\d).*?, morning (\d).*?, work (\d)/.exec(reasoning!)!;
        expect(stated.slice(1).map(Number)).toEqual(parsed.digits);
        expect(prompt).toContain('Answer with one line: S M W ACTION_NAME');
      }
    }
  });

  it('has the same episode on one thread and without the episodes before it', async () => {
    await teach('--seeds', '102-102', '--threads', '1', '--output', pathOf('one.jsonl'));
    const [, , third] = readFileSync(pathOf('t.jsonl'), 'utf8').split('\n');
    expect(readFileSync(pathOf('one.jsonl'), 'utf8')).toBe(`${third}\n`);
  });

  it('has the same player as trajectories of eval', async () => {
    for (const policy of ['planner', 'planner-wellbeing', 'planner-oracle', 'heuristic+inference']) {
      const taught = await teach('--policy', policy, '--seeds', '5-5', '--output', '-');
      const evaluated = await runCli(['eval', '--policies', policy, '--seeds', '5-5', '--trajectories', '-']);
      expect(playerIn(taught.stdout)).toEqual(playerIn(evaluated.stdout));
    }
  });

  it('records another policy, profile and grader', async () => {
    const { stdout, stderr } = await teach(
      ...['--policy', 'planner-oracle', '--profiles', 'workaholic_stoic'],
      ...['--seeds', '5-5', '--grader', 'v1', '--output', '-'],
    );
    const { teacher, objective, oracle, profile_mode, grader } = parseEpisode(stdout.trim());
    expect([teacher, objective, oracle, profile_mode, grader.name]).toEqual([
      'planner-oracle',
      'score',
      true,
      'workaholic_stoic',
      'v1',
    ]);
    expect(stderr).toMatch(/^note: seeds 5-5 are kept for evaluation: dataset sft leaves them out/);
    const heuristicRun = await teach('--policy', 'heuristic+inference', '--seeds', '5-5', '--output', '-');
    const episode = parseEpisode(heuristicRun.stdout.trim());
    expect([episode.teacher, episode.objective]).toEqual(['heuristic+inference', null]);
    expect(episode.steps[3].reasoning).toMatch(/ [A-Z_]+ is the action of the fixed heuristic\.$/);
  });
});

describe('teach refuses', () => {
  it.each([
    [['--seeds', '5-5'], 2, /--output/],
    [['--output', 'x.jsonl'], 2, /--seeds/],
    [['--seeds', '5-5', '--output', '/dev/null/x.jsonl'], 2, /\/dev\/null is not a directory/],
    [['--seeds', '5-5', '--output', 'x.jsonl', '--policy', 'planer'], 2, /Did you mean "planner"/],
    [['--seeds', '5-5', '--output', 'x.jsonl', '--policy', 'random'], 2, /a policy that states its reasons/],
    [['--seeds', '5-5', '--output', 'x.jsonl', '--profiles', 'nobody'], 2, /nobody/],
    [
      ['--seeds', '5-5', '--output', 'x.jsonl', '--budget', '5'],
      2,
      /no --budget with --policy planner-wellbeing/,
    ],
  ])('%j', async (args, expected, message) => {
    const { code, stderr } = await teach(...args);
    expect([code, stderr]).toEqual([expected, expect.stringMatching(message)]);
  });

  const former: [string[], string][] = [
    [['--teacher', 'planner'], '--policy planner-wellbeing.'],
    [['--teacher', 'planner', '--objective', 'wellbeing'], '--policy planner-wellbeing.'],
    [['--teacher', 'planner', '--objective', 'score'], '--policy planner.'],
    [['--objective', 'score'], '--policy planner.'],
    [['--variant', 'planner-oracle', '--objective', 'score'], '--policy planner-oracle.'],
    [['--variant', 'planner-oracle'], '--policy planner-oracle, which plans for the score.'],
    [['--variant', 'planner-prior'], '--policy planner-prior, which plans for the score.'],
    [['--variant', 'heuristic+inference'], '--policy heuristic+inference.'],
    [['--variant', 'blind-tape+inference'], '--policy open-loop+inference.'],
    [['--teacher', 'llm', '--model', 'm 1'], "--policy 'llm:m 1'."],
    [['--teacher', 'llm'], '--policy llm:MODEL.'],
    [
      ['--policy', 'planner', '--objective', 'score'],
      'its objective, got --objective. Leave --objective out.',
    ],
  ];
  it.each(former)('the former options %j, and says what to do instead', async (options, spelling) => {
    const { code, stderr } = await teach('--seeds', '5-5', '--output', 'x.jsonl', ...options);
    expect([code, stderr]).toEqual([2, expect.stringContaining(`${spelling}\n`)]);
  });
});

it('teach names the file that does not fit on the disk', async () => {
  const { code, stderr } = await teach('--seeds', '100-100', '--output', '/dev/full');
  expect([code, stderr]).toEqual([
    1,
    "error: Expected the system call write to succeed, got ENOSPC: no space left on device, write '/dev/full'. Free some space, or choose another place.\n",
  ]);
});

it('the help of teach marks exactly the required options', async () => {
  const { stdout } = await runCli(['teach', '--help']);
  const required = stdout.split(/\n(?= {2}--)/).filter((option) => /\(required\)/.test(option));
  expect(required.map((option) => option.trim().split(' ')[0])).toEqual(['--seeds', '--output']);
});

it('teach leaves no incomplete file when it is interrupted', async () => {
  const before = readdirSync(dirname(pathOf('x')));
  const running = startCli(['teach', '--seeds', '0-9999', '--output', pathOf('half.jsonl')]);
  await vi.waitUntil(() => readdirSync(dirname(pathOf('x'))).length > before.length, { timeout: 60_000 });
  running.child.kill('SIGINT');
  expect((await running.finished).code).toBe(130);
  expect(readdirSync(dirname(pathOf('x')))).toEqual(before);
});
