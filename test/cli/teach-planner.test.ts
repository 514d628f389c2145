/** `teach` as a child process: a planner's episodes as trajectories that replay bit for bit. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { parseCompletion } from '../../src/index.js';
import { parseEpisode } from '../../src/rollouts/trajectories/read-line.js';
import { runCli, startCli, temporaryDirectory } from '../support/cli.js';

const file = temporaryDirectory();
const teach = (...args: string[]) => runCli(['teach', '--teacher', 'planner', ...args]);
const episodesIn = (path: string) => readFileSync(path, 'utf8').trimEnd().split('\n').map(parseEpisode);

describe('a file of trajectories', () => {
  it('has one episode per line and the objective, and replays bit for bit', async () => {
    const { code, stdout, stderr } = await teach('--seeds', '100-102', '--output', file('t.jsonl'));
    expect([code, stdout, stderr]).toEqual([0, '', `3 episodes in ${file('t.jsonl')}.\n`]);
    const episodes = episodesIn(file('t.jsonl'));
    expect(episodes.map(({ seed, objective, oracle, model }) => [seed, objective, oracle, model])).toEqual([
      [100, 'wellbeing', false, null],
      [101, 'wellbeing', false, null],
      [102, 'wellbeing', false, null],
    ]);
    const reevaluation = await runCli(['reeval', '--jsonl', file('t.jsonl')]);
    expect(reevaluation.stdout).toContain('3 episodes replayed, all as recorded, bit for bit.');
  });

  it('has completions with reasons and an answer, whose digits are the belief', () => {
    for (const { steps } of episodesIn(file('t.jsonl'))) {
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

  it('is the same with any number of threads, and after other episodes', async () => {
    await teach('--seeds', '102-102', '--threads', '1', '--output', file('one.jsonl'));
    const [, , third] = readFileSync(file('t.jsonl'), 'utf8').split('\n');
    expect(readFileSync(file('one.jsonl'), 'utf8')).toBe(`${third}\n`);
  });

  it('records another objective, variant, profile and grader', async () => {
    const { stdout, stderr } = await teach(
      ...['--variant', 'planner-oracle', '--objective', 'score', '--profiles', 'workaholic_stoic'],
      ...['--seeds', '5-5', '--grader', 'v1', '--output', '-'],
    );
    const { model, objective, oracle, profile_mode, grader } = parseEpisode(stdout.trim());
    expect([model, objective, oracle, profile_mode, grader.name]).toEqual([
      ...['planner-oracle', 'score', true, 'workaholic_stoic', 'v1'],
    ]);
    expect(stderr).toMatch(/^note: seeds 5-5 are kept for evaluation: dataset sft refuses them/);
    const heuristicRun = await teach('--variant', 'heuristic+inference', '--seeds', '5-5', '--output', '-');
    const episode = parseEpisode(heuristicRun.stdout.trim());
    expect([episode.model, episode.objective]).toEqual(['heuristic+inference', null]);
    expect(episode.steps[3].reasoning).toMatch(/ [A-Z_]+ is the action of the fixed heuristic\.$/);
  });
});

describe('refuses', () => {
  it.each([
    [['--seeds', '5-5'], 2, /--output/],
    [['--output', 'x.jsonl'], 2, /--seeds/],
    [['--seeds', '5-5', '--output', '/nowhere/x.jsonl'], 2, /directory of --output/],
    [['--seeds', '5-5', '--output', 'x.jsonl', '--objective', 'joy'], 2, /joy/],
    [['--seeds', '5-5', '--output', 'x.jsonl', '--variant', 'planer'], 2, /Did you mean "planner"/],
    [
      ['--seeds', '5-5', '--output', 'x.jsonl', '--variant', 'planner-wellbeing'],
      2,
      /Pass planner, with --objective wellbeing/,
    ],
    [['--seeds', '5-5', '--output', 'x.jsonl', '--profiles', 'nobody'], 2, /nobody/],
    [
      ['--seeds', '5-5', '--output', 'x.jsonl', '--variant', 'heuristic+inference', '--objective', 'score'],
      2,
      /has no planner/,
    ],
  ])('%j', async (args, expected, message) => {
    const { code, stderr } = await teach(...args);
    expect([code, stderr]).toEqual([expected, expect.stringMatching(message)]);
  });
});

it('names the file that does not fit on the disk', async () => {
  const { code, stderr } = await teach('--seeds', '100-100', '--output', '/dev/full');
  expect([code, stderr]).toEqual([
    1,
    "error: Expected the system call write to succeed, got ENOSPC: no space left on device, write '/dev/full'. Free some space, or choose another place.\n",
  ]);
});

it('its help lists the required options', async () => {
  const { stdout } = await runCli(['teach', '--help']);
  const required = stdout.split(/\n(?= {2}--)/).filter((option) => /\(required\)/.test(option));
  expect(required.map((option) => option.trim().split(' ')[0])).toEqual(['--teacher', '--seeds', '--output']);
});

it('leaves no incomplete file when it is interrupted', async () => {
  const before = readdirSync(dirname(file('x')));
  const running = startCli([
    'teach',
    '--teacher',
    'planner',
    '--seeds',
    '0-9999',
    '--output',
    file('half.jsonl'),
  ]);
  await vi.waitUntil(() => readdirSync(dirname(file('x'))).length > before.length, { timeout: 60_000 });
  running.child.kill('SIGINT');
  expect((await running.finished).code).toBe(130);
  expect(readdirSync(dirname(file('x')))).toEqual(before);
});
