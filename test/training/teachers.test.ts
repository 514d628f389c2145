/** Teachers: batches, progress, recorded episodes and refused policies; of a language model, the seeds that it plays. */
import { expect, it } from 'vitest';
import { toGrader } from '../../src/engine/graders/grader.js';
import { parseCompletion } from '../../src/rollouts/text/parse-completions.js';
import { systemText } from '../../src/rollouts/text/prompt-text.js';
import { episodeKey } from '../../src/rollouts/trajectories/trajectory-lines.js';
import {
  keysOf,
  type TeachOptions,
  teach,
  teachByModel,
} from '../../src/training/teaching/policy-teacher.js';
import { modelOf, startModel } from '../support/llm.js';

const options: TeachOptions = {
  policy: 'heuristic+inference',
  seeds: { first: 5, last: 5 },
  profiles: 'discrete',
  grader: toGrader('v1'),
};

it('teach plays 64 seeds per batch, and rejects with the reason of its signal', async () => {
  const controller = new AbortController();
  const reports: number[][] = [];
  const onProgress = (...report: number[]): void => {
    reports.push(report);
    controller.abort(new Error('aborted'));
  };
  const playing = teach({ ...options, seeds: { first: 5, last: 70 }, onProgress, signal: controller.signal });
  await expect(playing.next()).rejects.toThrow('aborted');
  // After the first step of the first batch, which has 64 of the 66 episodes.
  expect(reports).toEqual([[64, 66 * 28]]);
});

it('teach records completions with the beliefs that it plays, and reports every step', async () => {
  const reports: number[][] = [];
  const onProgress = (...report: number[]) => void reports.push(report);
  const playing = teach({ ...options, onProgress });
  const { value } = await playing.next();
  const [episode] = value!;
  expect([value!.length, (await playing.next()).done]).toEqual([1, true]);
  expect(reports).toEqual(Array.from({ length: 28 }, (_, k) => [k + 1, 28]));
  expect(episode).toMatchObject({
    seed: 5,
    teacher: 'heuristic+inference',
    model: null,
    objective: null,
    oracle: false,
    profile_mode: 'discrete',
    grader: { name: 'v1' },
  });
  expect(episode.steps).toHaveLength(28);
  for (const { completion, reasoning, belief, action } of episode.steps) {
    const parsed = parseCompletion(completion!);
    expect([parsed.given, parsed.belief.map(Math.fround)]).toEqual([true, belief]);
    expect([parsed.action, action]).toEqual([expect.any(Number), expect.any(String)]);
    expect(completion).toContain(`<reasoning>${reasoning}</reasoning>`);
  }
});

it.each([
  [{ policy: 'planer' }, 'unknown_name', /Did you mean "planner"/],
  [{ policy: 'random' }, 'unknown_name', /a policy that states its reasons/],
] as const)('teach refuses %j', async (other, code, message) => {
  const played = teach({ ...options, ...other }).next();
  await expect(played).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
});

it('teach writes the system message of its grader', async () => {
  for (const grader of ['v1', 'v3']) {
    const { value } = await teach({ ...options, grader: toGrader(grader) }).next();
    expect(value![0].system).toBe(systemText(grader));
  }
});

it('teachByModel plays only the seeds whose episodes are not stored yet', async () => {
  const seeds = { first: 100, last: 102 };
  const { model } = await modelOf(await startModel());
  const keys = keysOf(seeds, 'discrete', model.name);
  expect(new Set(keys).size).toBe(3);
  const options = { model, grader: toGrader('v2'), concurrency: 1, seeds, profiles: 'discrete' };
  const played = [];
  for await (const episode of teachByModel(options, (key) => key === keys[0] || key === keys[2])) {
    played.push(episode);
  }
  expect(played.map(({ seed }) => seed)).toEqual([101]);
  expect(played.map(episodeKey)).toEqual([keys[1]]);
});
