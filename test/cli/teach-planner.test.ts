/** `teach`: a planner's episodes as trajectories that replay bit for bit. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseCompletion } from '../../src/index.js';
import { parseEpisode } from '../../src/rollouts/trajectories/trajectory-lines.js';
import { runCli, temporaryDirectory } from '../support/cli.js';

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
    const player = ['planner-oracle', 'score', true];
    expect([teacher, objective, oracle, profile_mode, grader.name]).toEqual([
      ...player,
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

it('teach names the file that does not fit on the disk', async () => {
  const { code, stderr } = await teach('--seeds', '100-100', '--output', '/dev/full');
  expect([code, stderr]).toEqual([
    1,
    "error: Expected the system call write to succeed, got ENOSPC: no space left on device, write '/dev/full'. Free some space, or choose another place.\n",
  ]);
});
