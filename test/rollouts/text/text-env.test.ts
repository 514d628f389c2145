/** Tests of environments of texts: golden episodes, messages and rewards beside those of a vector environment, refusals. */
import { describe, expect, it } from 'vitest';
import { ACTION_NAMES, createTextEnv, createVecEnv, prompt } from '../../../src/index.js';
import { any } from '../../support/bad-calls.js';
import { textEpisodes } from '../../support/golden.js';
import { forAll } from '../../support/random.js';
import { expectRefusal } from '../../support/refusals.js';

const SLEEP = ACTION_NAMES.indexOf('sleep');

describe('golden episodes', () => {
  it.each(textEpisodes)('of $options', (golden) => {
    using env = createTextEnv(golden.options);
    expect(env.reset(golden.seed)).toEqual(golden.messages);
    const steps = golden.answers.map((answer) => {
      const { message, ...step } = env.step(answer);
      return { message: message.content, ...step };
    });
    expect(steps).toEqual(golden.steps);
    expect(env.finish()).toEqual(golden.finished);
  });
});

it('messages and rewards are those of prompt and step', () => {
  forAll(10, (random) => {
    const seed = random.integer(0, 2 ** 32 - 1);
    using text = createTextEnv({ reward: 'both', grader: 'v3' });
    const env = createVecEnv({ numEnvs: 1, grader: 'v3', observation: { history: true } });
    const messagesOf = ({ observations }: { observations: Float32Array }) =>
      prompt(observations, undefined, { grader: 'v3' });
    expect(text.reset(seed)).toEqual(messagesOf(env.reset({ seed })));
    for (let step = 1; step <= 28; step++) {
      const [action, digit] = [random.integer(0, 9), random.integer(0, 9)];
      const { message, reward, done, info } = text.step(`${digit} 4 9 ${ACTION_NAMES[action]}`);
      const outputs = env.step([action], { beliefs: [digit / 9, 4 / 9, 1] });
      const { rewards, finalScores } = outputs;
      expect(message).toEqual(messagesOf(outputs)[1]);
      expect(done).toBe(step === 28);
      expect(reward).toBe(done ? rewards[0] + finalScores[0] : rewards[0]);
      expect(info).toMatchObject({ seed, step, action: ACTION_NAMES[action], parsed: true });
    }
    env.close();
  });
});

describe('finish', () => {
  it('plays sleep until the end, once', () => {
    using text = createTextEnv();
    text.reset(5);
    const steps = [text.step('0 9 0 LEARN'), text.step('nothing')];
    const { reward, info } = text.finish();
    const env = createVecEnv({ numEnvs: 1 });
    env.reset({ seed: 5 });
    const outputs = env.step([ACTION_NAMES.indexOf('learn')], { beliefs: [0, 1, 0] });
    for (let step = 2; step <= 28; step++) env.step([SLEEP]);
    expect(reward).toBe(outputs.finalScores[0]);
    expect(info).toMatchObject({ step: 28, action: 'sleep', parsed: false, belief: null });
    expect(info.end?.beliefMae).toBe(outputs.beliefMae[0]);
    expect(steps.map((step) => step.reward)).toEqual([0, 0]);
    expect(text.finish()).toEqual({ reward: 0, info });
    env.close();
  });

  it('pays the rewards of its steps', () => {
    using text = createTextEnv({ reward: 'step', history: 'new' });
    text.reset(5);
    const first = text.step('SLEEP').reward;
    const { reward, info } = text.finish();
    expect(first + reward).toBeCloseTo(info.end!.episodeReturn, 5);
  });
});

describe('refused', () => {
  it.each([
    ['unknown_option', { rewards: 'final' }],
    ['unknown_name', { reward: 'all' }],
    ['unknown_name', { history: 'short' }],
    ['unknown_name', { thought: 'half' }],
    ['unknown_name', { grader: 'v9' }],
    ['unknown_name', { profiles: 'nobody' }],
  ] as const)('%s: %o', (code, options) => {
    expectRefusal(() => createTextEnv(any(options)), code);
  });

  it('steps before a reset, after the end and after close', () => {
    const env = createTextEnv();
    expectRefusal(() => env.step('SLEEP'), 'not_reset');
    expectRefusal(() => env.finish(), 'not_reset');
    env.reset(1);
    expectRefusal(() => env.step(any(3)), 'wrong_type');
    expectRefusal(() => env.reset(-1), 'bad_seed');
    env.finish();
    expectRefusal(() => env.step('SLEEP'), 'episode_over');
    env.reset(1);
    expect(env.step('SLEEP').info.step).toBe(1);
    env.close();
    expectRefusal(() => env.step('SLEEP'), 'closed');
  });
});
