/** Policies as teachers: batches, progress, recorded episodes and refused policies. */
import { expect, it } from 'vitest';
import { toGrader } from '../../../src/engine/graders/grader.js';
import { parseCompletion } from '../../../src/rollouts/text/parse-completions.js';
import { systemText } from '../../../src/rollouts/text/system-message.js';
import { type TeachOptions, teach } from '../../../src/training/teaching/policy-teacher.js';

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

it('teach plays planner-wellbeing by default', async () => {
  const { value } = await teach({ ...options, policy: undefined }).next();
  expect(value![0]).toMatchObject({ teacher: 'planner-wellbeing', model: null, objective: 'wellbeing' });
});

it('teach writes the system message of its grader', async () => {
  const systemUnder = async (grader: string) => {
    const { value } = await teach({ ...options, grader: toGrader(grader) }).next();
    return value![0].system;
  };
  expect(await systemUnder('v3')).toBe(systemText('v3'));
  // v1 and v2 have the same text.
  expect(await systemUnder('v2')).toBe(systemText('v1'));
});
