/** Tests of prompts: their exact text for a golden episode, their numbers, and that they contain no hidden state. */
import { describe, expect, expectTypeOf, it } from 'vitest';
import { byName } from '../../../src/engine/graders/grader.js';
import { HISTORY_STEPS, type HistoryStep } from '../../../src/engine/observe/past-step.js';
import {
  ACTION_NAMES,
  type ChatMessage,
  COMPONENT_NAMES,
  createVecEnv,
  EVENT_NAMES,
  type GraderLike,
  METER_NAMES,
  OBSERVATION_FIELDS,
  OBSERVATION_SIZE,
  type PastStep,
  type PromptOptions,
  parseCompletion,
  prompt,
  prompts,
  RHYTHM,
} from '../../../src/index.js';
import { formatHundredths } from '../../../src/rollouts/text/format-hundredths.js';
import { episodes, type GoldenEpisode } from '../../support/golden.js';
import { forAll } from '../../support/random.js';

/** Returns the observation and history of a golden episode after `step` steps. */
function stateAfter(episode: GoldenEpisode, step: number): [observation: number[], history: PastStep[]] {
  const taken = episode.steps.slice(0, step).map(({ delta, anomaly, meters, reward, ...what }) => {
    const [action, event] = [ACTION_NAMES.indexOf(what.action), EVENT_NAMES.indexOf(what.event ?? '')];
    const seen = [...meters, event, action, reward, ...delta, ...anomaly];
    return { seen, past: { action, reward, deltas: delta, anomalies: anomaly } };
  });
  const start = [...RHYTHM.initialMeters.map(Math.fround), -1, -1, ...Array<number>(11).fill(0)];
  const observation = [step, Math.floor(step / 4), step % 4, 28 - step, ...(taken.at(-1)?.seen ?? start)];
  return [observation, taken.map(({ past }) => past)];
}

const golden = episodes[0];
const eventStep = 1 + golden.steps.findIndex(({ event }) => event !== null);
const userOf = (episode: GoldenEpisode, step: number): string =>
  prompt(...stateAfter(episode, step))[1].content;

it('stateAfter returns the golden observations', () => {
  for (const episode of episodes) {
    for (const seen of episode.observations) {
      expect(stateAfter(episode, seen.step)[0]).toEqual(Object.values(seen).flat());
    }
  }
});

describe('exact text', () => {
  it('of the system message, and of user messages at the start, early, at an event, late and at the end', async () => {
    const steps = [0, 3, eventStep, 27, 28];
    const [system] = prompt(...stateAfter(golden, 0));
    const users = steps.map((step) => `=== user, after ${step} steps\n${userOf(golden, step)}\n`);
    const text = `=== system\n${system.content}\n${users.join('')}`;
    await expect(text).toMatchFileSnapshot('../../golden/prompts.txt');
  });
});

it('messages have the roles system and user, in this order', () => {
  const [system, user] = prompt(...stateAfter(golden, 9));
  expect([system.role, user.role]).toEqual(['system', 'user']);
  expectTypeOf(user).toExtend<ChatMessage>();
});

it('prompts under one grader share a frozen system message', () => {
  const [first, second] = [3, 9].map((step) => prompt(...stateAfter(golden, step))[0]);
  expect(second).toBe(first);
  expect(Object.isFrozen(first)).toBe(true);
});

describe('the system message under a grader', () => {
  const start = stateAfter(golden, 0);
  const systemOf = (grader: GraderLike): string => prompt(...start, { grader })[0].content;
  const gradingOf = (grader: GraderLike): string[] =>
    /^The week is graded.*?(?=\n\n)/ms.exec(systemOf(grader))![0].split('\n');

  it('v3 has its exact text, which does not mention the first half', async () => {
    await expect(`${systemOf('v3')}\n`).toMatchFileSnapshot('../../golden/system-v3.txt');
    expect(systemOf('v3')).not.toContain('first half');
  });

  it('v1 and v2 have the default text', () => {
    const [system, user] = prompt(...start);
    expect(prompt(...start, { grader: 'v1' })).toEqual([system, user]);
    expect(prompt(...start, { grader: 'v2' })[0]).toBe(system);
  });

  it('has one line under v2 that v3 lacks, and the user messages are equal', () => {
    const lines = (grader: string) => new Set(systemOf(grader).split('\n'));
    const [v2, v3] = ['v2', 'v3'].map(lines);
    expect([...v2].filter((line) => !v3.has(line))).toHaveLength(1);
    const users = ['v2', 'v3'].map((grader) => prompt(...stateAfter(golden, 9), { grader })[1]);
    expect(users[0]).toEqual(users[1]);
  });

  it('depends only on the weights', () => {
    for (const name of ['v2', 'v3']) {
      const weights = RHYTHM.graders[name];
      expect(systemOf(weights)).toBe(systemOf(name));
      expect(systemOf({ name: 'mine', weights: byName(weights) })).toBe(systemOf(name));
    }
  });

  it('lists the components that custom weights reward or punish, the largest magnitude first', () => {
    expect(gradingOf([0.25, 0, -0.5, 0, 0, 0, 1.25, 0])).toEqual([
      'The week is graded at its end. What counts, the most important first:',
      '- A good week as this person feels it: meters kept high from the first slot to the last, above all those that this person values.',
      '- To avoid, because it costs: High connection at the end.',
      '- No crashes.',
    ]);
  });

  it('has a sentence for every component', () => {
    for (const k of COMPONENT_NAMES.keys()) {
      expect(gradingOf(COMPONENT_NAMES.map((_, j) => (j === k ? 1 : 0)))).toHaveLength(2);
    }
  });

  it('is one frozen object in all prompts of a call', () => {
    const observations = [...start[0], ...start[0]];
    const [[first], [second]] = prompts(observations, [[], []], { grader: [1, 0, 0, 0, 0, 0] });
    expect(second).toBe(first);
    expect(Object.isFrozen(first)).toBe(true);
  });
});

describe('the messages have', () => {
  const [{ content: system }] = prompt(...stateAfter(golden, 0));

  it('the names of all meters, events, slots and actions', () => {
    const names = [
      ...METER_NAMES,
      ...EVENT_NAMES,
      ...RHYTHM.slots,
      ...ACTION_NAMES.map((name) => name.toUpperCase()),
    ];
    for (const name of names) expect(system).toContain(name);
  });

  it('an example that parses as an answer', () => {
    const [, example] = /Example: (.*)/.exec(system)!;
    expect(parseCompletion(example)).toMatchObject({ given: true, actionName: ACTION_NAMES[0] });
    expect(parseCompletion(`<reasoning>${system}</reasoning>\n${example}`).given).toBe(true);
  });

  it('the form of the answer as the last line', () => {
    const [form] = /Answer with one line: .*/.exec(system)!;
    for (const step of [0, 5, 27]) expect(userOf(golden, step).split('\n').pop()).toBe(form);
  });

  it('every action, event and slot of golden episodes in the right line', () => {
    for (const episode of episodes) {
      episode.steps.forEach(({ action, event }, step) => {
        const lines = userOf(episode, step + 1).split('\n');
        const past = `day ${1 + Math.floor(step / 4)} ${RHYTHM.slots[step % 4]}: ${action.toUpperCase()} `;
        expect(lines.filter((line) => line.startsWith(past))).toHaveLength(1);
        expect(lines[2]).toMatch(new RegExp(`^Last: ${action.toUpperCase()}, .* ${event ?? 'no event'}$`));
        expect(lines.filter((line) => line.includes(' | '))).toHaveLength(
          1 + Math.min(HISTORY_STEPS, step + 1),
        );
      });
    }
  });

  it('the numbers of the state and of the last seven steps, to the hundredth', () => {
    const [observation, history] = stateAfter(golden, 20);
    const printed = userOf(golden, 20)
      .match(/(?<=[ (])-?\d*\.\d\d\b/g)!
      .map(Number);
    const meters = observation.slice(4, 9);
    const past = history
      .slice(-7)
      .flatMap(({ reward, deltas, anomalies }) => [reward, ...Array.from(deltas), ...Array.from(anomalies)]);
    const expected = [...meters, history[19].reward, ...past];
    expect(printed).toHaveLength(expected.length);
    for (const [k, value] of printed.entries()) expect(Math.abs(value - expected[k])).toBeLessThan(0.00501);
  });

  it('a limited length, and only printable ASCII characters and line ends', () => {
    for (const episode of episodes) {
      for (let step = 0; step <= 28; step++) expect(userOf(episode, step).length).toBeLessThan(1000);
    }
    expect(system.length).toBeLessThan(2100);
    expect(/[^\n -~]/.test(system + userOf(golden, eventStep))).toBe(false);
  });
});

describe('hundredths', () => {
  it('equal toFixed(2) without a zero before the point, and without a sign before .00', () => {
    forAll(2000, (random) => {
      const value = Math.fround(random.chance(0.5) ? random.real(-2, 2) : random.wild());
      const fixed = value.toFixed(2).replace(/^-0\.00$/, '0.00');
      expect(formatHundredths(value)).toBe(fixed.replace(/^(-?)0\./, '$1.'));
    });
  });

  it.each([
    [0, '.00'],
    [-0, '.00'],
    [-0.001, '.00'],
    [0.125, '.13'],
    [-0.125, '-.13'],
    [Math.fround(0.005), '.00'],
    [0.7, '.70'],
    [1, '1.00'],
    [9.999, '10.00'],
    [10.004, '10.00'],
    [-10.01, '-10.01'],
    [2 ** 64, '18446744073709551616.00'],
  ])('%d is %s', (value, text) => {
    expect(formatHundredths(value)).toBe(text);
  });
});

describe('numbers of any size', () => {
  it('are written as formatHundredths writes them', () => {
    using env = createVecEnv({ numEnvs: 1, observation: { history: true } });
    env.reset({ seed: 7 });
    const { observations } = env.run('random', { stops: new Uint8Array([3]) });
    forAll(300, (random) => {
      const row = observations.slice();
      const values = Array.from({ length: 5 }, () =>
        Math.fround(random.chance(0.5) ? random.real(-12, 12) : random.real(-1e6, 1e6)),
      );
      row.set(values, row.length - 5);
      const [, user] = prompt(row);
      const [line] = user.content
        .split('\n')
        .filter((text) => text.includes(' | '))
        .slice(-1);
      expect(line.split(' | ')[2]).toBe(values.map(formatHundredths).join(' '));
    });
  });
});

describe('hidden state', () => {
  it('is not in the types of the arguments', () => {
    expectTypeOf(prompt).parameters.toEqualTypeOf<
      [ArrayLike<number>, (readonly PastStep[])?, PromptOptions?]
    >();
    expectTypeOf<keyof PromptOptions>().toEqualTypeOf<'grader'>();
    expectTypeOf<keyof PastStep>().toEqualTypeOf<'action' | 'reward' | 'deltas' | 'anomalies'>();
    expectTypeOf<HistoryStep>().toExtend<PastStep>();
    const names = OBSERVATION_FIELDS.map(({ name }) => name.replace('last_', ''));
    for (const name of ['action', 'reward', 'deltas', 'anomalies']) expect(names).toContain(name);
  });

  it('in past steps is not read', () => {
    const [observation, history] = stateAfter(golden, 12);
    const read = new Set<string>();
    const get = (step: PastStep, key: string): unknown => {
      read.add(key);
      return Reflect.get(step, key);
    };
    const hidden = { profile: [1], seed: 7 };
    const watched = history.map((step) => new Proxy<PastStep>(Object.assign({ ...step }, hidden), { get }));
    expect(prompt(observation, watched)).toEqual(prompt(observation, history));
    expect([...read].sort()).toEqual(['action', 'anomalies', 'deltas', 'reward']);
  });

  it('that leaves the observations equal does not change the prompt', () => {
    const profile = Float32Array.from([
      ...RHYTHM.traits.map(({ neutral }) => neutral),
      0.2,
      0.2,
      0.2,
      0.2,
      0.2,
    ]);
    const other = profile.slice();
    const trait = (name: string) => RHYTHM.traits.findIndex((each) => each.name === name);
    other[trait('night_focus')] = 1.5;
    other[trait('social_vitality_multiplier')] = 3;
    other[trait('leisure_guilt')] = 0.1;
    using env = createVecEnv({ numEnvs: 2, profiles: Float32Array.of(...profile, ...other) });
    // At their times of day, these actions do not depend on the three traits that differ.
    const uninformative = [
      'learn',
      'deep_work',
      'meditate',
      'sleep',
      'admin_work',
      'exercise',
      'me_time',
      'sleep',
      'learn',
    ];
    let { observations } = env.reset({ seed: [60, 60] });
    uninformative.forEach((name) => {
      ({ observations } = env.step([0, 1].map(() => ACTION_NAMES.indexOf(name))));
    });
    const targets = env.beliefTargets();
    expect(targets.subarray(0, 3)).not.toEqual(targets.subarray(3));
    const [[, one], [, two]] = prompts(observations, [env.history(0), env.history(1)]);
    expect(two.content).toBe(one.content);
    ({ observations } = env.step([0, 1].map(() => ACTION_NAMES.indexOf('family_time'))));
    const [[, first], [, second]] = prompts(observations, [env.history(0), env.history(1)]);
    expect(second.content).not.toBe(first.content);
  });
});

describe('equal numbers give equal text', () => {
  const N = 60;
  const stopOf = (i: number): number => i % 29;

  /** Plays environment i for `stopOf(i)` steps. Returns the environments and their observations. */
  function played(history: boolean) {
    const env = createVecEnv({ numEnvs: N, observation: { history } });
    env.reset({ seed: 400 });
    const { observations } = env.run('random', { stops: Array.from({ length: N }, (_, i) => stopOf(i)) });
    return { env, observations };
  }

  it('from raw observations and histories, from rows with history, one by one and together', () => {
    const { env, observations } = played(false);
    const { observations: rows } = played(true);
    const histories = Array.from({ length: N }, (_, i) => env.history(i));
    const all = prompts(observations, histories);
    expect(prompts(rows)).toEqual(all);
    const rowAt = (i: number) => observations.subarray(i * OBSERVATION_SIZE, (i + 1) * OBSERVATION_SIZE);
    const size = rows.length / N;
    all.forEach((each, i) => {
      expect(prompt(rowAt(i), histories[i])).toEqual(each);
      expect(prompt(rowAt(i), env.history(i, 28))).toEqual(each);
      expect(prompt(rows.subarray(i * size, (i + 1) * size))).toEqual(each);
    });
    expect(new Set(all.map(([, { content }]) => content)).size).toBeGreaterThan(N - 5);
  });

  it('after JSON, and when repeated', () => {
    const { env, observations } = played(false);
    const histories = Array.from({ length: N }, (_, i) => env.history(i));
    const plain = histories.map((steps) =>
      steps.map(({ deltas, anomalies, ...rest }) => ({
        ...rest,
        deltas: [...deltas],
        anomalies: [...anomalies],
      })),
    );
    const first = prompts(observations, histories);
    const [rows, past] = JSON.parse(JSON.stringify([Array.from(observations), plain]));
    expect(prompts(rows, past)).toEqual(first);
    expect(prompts(observations, histories)).toEqual(first);
  });

  it('without changing the rows', () => {
    const { observations: rows } = played(true);
    const before = rows.slice();
    prompts(rows);
    expect(rows).toEqual(before);
  });
});

it('no rows give no prompts', () => {
  expect(prompts([])).toEqual([]);
  expect(prompts([], [])).toEqual([]);
});

it('a shorter history gives only the lines of its steps', () => {
  const [observation, history] = stateAfter(golden, 9);
  const whole = prompt(observation, history)[1].content.split('\n');
  const lines = prompt(observation, history.slice(-2))[1].content.split('\n');
  expect(lines).toEqual([...whole.slice(0, 4), ...whole.slice(9)]);
  expect(prompt(observation, [])[1].content.split('\n')).toEqual([...whole.slice(0, 3), ...whole.slice(11)]);
});
