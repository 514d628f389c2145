/** Tests of prompts: their exact text for a golden episode, their numbers, no hidden state, batches, and refused arguments. */
import { describe, expect, expectTypeOf, it } from 'vitest';
import { byName } from '../../../src/engine/graders/grader.js';
import { HISTORY_STEPS, type HistoryStep } from '../../../src/engine/observe/history.js';
import {
  ACTION_NAMES,
  BELIEF_NAMES,
  COMPONENT_NAMES,
  createVecEnv,
  type ErrorCode,
  EVENT_NAMES,
  type GraderLike,
  METER_NAMES,
  OBSERVATION,
  OBSERVATION_SIZE,
  type PastStep,
  type PromptOptions,
  parseCompletion,
  prompt,
  promptBatches,
  prompts,
  RHYTHM,
} from '../../../src/index.js';
import { ROW_SIZE } from '../../../src/rollouts/text/observation-row.js';
import { formatHundredths } from '../../../src/rollouts/text/spelling.js';
import { put } from '../../support/bad-calls.js';
import { episodes, type GoldenEpisode } from '../../support/golden.js';
import { forAll } from '../../support/random.js';
import { expectRefusal } from '../../support/refusals.js';

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

it('prompts have their exact golden text, early, at an event, late and at the end', async () => {
  const [system, user] = prompt(...stateAfter(golden, 0));
  expect([system.role, user.role]).toEqual(['system', 'user']);
  const users = [0, 3, eventStep, 27, 28].map(
    (step) => `=== user, after ${step} steps\n${userOf(golden, step)}\n`,
  );
  const text = `=== system\n${system.content}\n${users.join('')}`;
  await expect(text).toMatchFileSnapshot('../../golden/prompts.txt');
});

describe('the system message under a grader', () => {
  const start = stateAfter(golden, 0);
  const systemOf = (grader: GraderLike): string => prompt(...start, { grader })[0].content;
  const gradingOf = (grader: GraderLike): string[] =>
    /^The week is graded.*?(?=\n\n)/ms.exec(systemOf(grader))![0].split('\n');

  it('v3 has its exact golden text, and v1 and v2 have the default text', async () => {
    await expect(`${systemOf('v3')}\n`).toMatchFileSnapshot('../../golden/system-v3.txt');
    expect(systemOf('v3')).not.toContain('first half');
    const [system] = prompt(...start);
    expect(prompt(...stateAfter(golden, 9), { grader: 'v1' })[0]).toBe(system);
    expect(prompt(...start, { grader: 'v2' })[0]).toBe(system);
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
    for (const k of COMPONENT_NAMES.keys())
      expect(gradingOf(COMPONENT_NAMES.map((_, j) => (j === k ? 1 : 0)))).toHaveLength(2);
  });

  it('is one frozen object in all prompts of a call', () => {
    const observations = [...start[0], ...start[0]];
    const [[first], [second]] = prompts(observations, [[], []], { grader: [1, 0, 0, 0, 0, 0, 0, 0] });
    expect(second).toBe(first);
    expect(Object.isFrozen(first)).toBe(true);
  });
});

describe('the messages have', () => {
  it('every action, event and slot of golden episodes in the right line', () => {
    for (const episode of episodes.filter((_, k) => k % 4 === 0)) {
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

  it('the names and numbers of the world', () => {
    const [{ content: system }] = prompt(...stateAfter(golden, 0));
    const { slots, days, maxEpisodeSteps, categories, actions } = RHYTHM;
    const lines = categories.map((category) => {
      const names = actions.filter((action) => action.category === category).map(({ name }) => name);
      return `- ${category}: ${names.join(', ').toUpperCase()}\n`;
    });
    expect(system).toContain(
      `${ACTION_NAMES.length} actions, all of them always allowed:\n${lines.join('')}\n`,
    );
    expect(system).toContain(
      `${days} days of ${slots.length} slots (${slots.join(', ')}), ${maxEpisodeSteps} in all`,
    );
    expect(system).toContain(`${METER_NAMES.length} meters from 0 to 1: ${METER_NAMES.join(', ')}.`);
    expect(system).toContain(`(${EVENT_NAMES.join(', ')})`);
    expect(
      [...system.matchAll(/^- ([A-Z]) \((\w+)\): 0/gm)].map(([, letter, name]) => [letter, name]),
    ).toEqual(BELIEF_NAMES.map((name) => [name[0].toUpperCase(), name]));
    const skillDay = 1 + RHYTHM.constants.beliefSkillFrom / slots.length;
    expect(prompt(...stateAfter(golden, 0), { grader: 'v3' })[0].content).toContain(
      `from day ${skillDay} on`,
    );
    expect(userOf(golden, 0)).toContain(`${maxEpisodeSteps} of ${maxEpisodeSteps} slots left`);
    expect(userOf(golden, 3)).toContain(`(${METER_NAMES.join(' ')})`);
  });

  it('an example that parses as an answer', () => {
    const [{ content: system }] = prompt(...stateAfter(golden, 0));
    const [, example] = /Example: (.*)/.exec(system)!;
    expect(parseCompletion(example)).toMatchObject({ given: true, actionName: ACTION_NAMES[0] });
    expect(parseCompletion(`<reasoning>${system}</reasoning>\n${example}`).given).toBe(true);
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
    [-0.001, '.00'],
    [0.125, '.13'],
    [Math.fround(0.005), '.00'],
    [9.999, '10.00'],
    [2 ** 64, '18446744073709551616.00'],
  ])('of %d are %s', (value, text) => {
    expect(formatHundredths(value)).toBe(text);
  });

  it('are what a prompt has for numbers of any size', () => {
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
    type Arguments = [ArrayLike<number>, (readonly PastStep[])?, PromptOptions?];
    expectTypeOf(prompt).parameters.toEqualTypeOf<Arguments>();
    expectTypeOf<keyof PromptOptions>().toEqualTypeOf<'grader'>();
    expectTypeOf<keyof PastStep>().toEqualTypeOf<'action' | 'reward' | 'deltas' | 'anomalies'>();
    expectTypeOf<HistoryStep>().toExtend<PastStep>();
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
});

/** Plays environment i of `n` for i % 29 steps. Returns the environments and their observations. */
function played(n: number, history: boolean) {
  const env = createVecEnv({ numEnvs: n, observation: { history } });
  env.reset({ seed: 400 });
  const { observations } = env.run('random', { stops: Array.from({ length: n }, (_, i) => i % 29) });
  return { observations, histories: Array.from({ length: n }, (_, i) => env.history(i)), env };
}

it('equal numbers give equal text: raw or with history, one by one or together, and after JSON', () => {
  const N = 60;
  const { env, observations, histories } = played(N, false);
  const { observations: rows } = played(N, true);
  const all = prompts(observations, histories);
  const before = rows.slice();
  expect(prompts(rows)).toEqual(all);
  expect(rows).toEqual(before);
  const rowAt = (i: number) => observations.subarray(i * OBSERVATION_SIZE, (i + 1) * OBSERVATION_SIZE);
  all.forEach((each, i) => {
    expect(prompt(rowAt(i), histories[i])).toEqual(each);
    expect(prompt(rowAt(i), env.history(i, 28))).toEqual(each);
    expect(prompt(rows.subarray(i * ROW_SIZE, (i + 1) * ROW_SIZE))).toEqual(each);
  });
  expect(new Set(all.map(([, { content }]) => content)).size).toBeGreaterThan(N - 5);
  const plain = histories.map((steps) =>
    steps.map(({ deltas, anomalies, ...rest }) => ({
      ...rest,
      deltas: [...deltas],
      anomalies: [...anomalies],
    })),
  );
  const [stored, past] = JSON.parse(JSON.stringify([Array.from(observations), plain]));
  expect(prompts(stored, past)).toEqual(all);
  expect([prompts([]), prompts([], []), [...promptBatches([])]]).toEqual([[], [], []]);
});

it('a shorter history gives only the lines of its steps', () => {
  const [observation, history] = stateAfter(golden, 9);
  const whole = prompt(observation, history)[1].content.split('\n');
  const lines = prompt(observation, history.slice(-2))[1].content.split('\n');
  expect(lines).toEqual([...whole.slice(0, 4), ...whole.slice(9)]);
  expect(prompt(observation, [])[1].content.split('\n')).toEqual([...whole.slice(0, 3), ...whole.slice(11)]);
});

describe('promptBatches', () => {
  const { observations: raw, histories } = played(10, false);
  const { observations: rows } = played(10, true);

  it.each([
    [1, Array(10).fill(1)],
    [4, [4, 4, 2]],
    [5, [5, 5]],
    [undefined, [10]],
  ])('makes the prompts of `prompts` in batches of %s', (size, lengths) => {
    const withHistory = [...promptBatches(rows, undefined, { size, grader: 'v3' })];
    expect(withHistory.map((batch) => batch.length)).toEqual(lengths);
    expect(withHistory.flat()).toEqual(prompts(rows, undefined, { grader: 'v3' }));
    expect([...promptBatches(raw, histories, { size, grader: 'v3' })]).toEqual(withHistory);
  });

  it('makes a batch when it is requested, and names an invalid row of it', () => {
    const changing = rows.slice();
    const batches = promptBatches(changing, undefined, { size: 3 });
    const first = batches.next().value;
    changing.copyWithin(3 * ROW_SIZE, 0, ROW_SIZE);
    changing[7 * ROW_SIZE] = 29;
    expect(batches.next().value?.[0]).toEqual(first?.[0]);
    expectRefusal(() => batches.next(), 'out_of_range', `observations[${7 * ROW_SIZE}], row 7`);
  });
});

describe('prompts refuse, with the code and the place,', () => {
  const N = 4;
  const env = createVecEnv({ numEnvs: N });
  env.reset({ seed: 300 });
  const raw = env.run('heuristic', { stops: Array(N).fill(5) }).observations.slice();
  const histories = Array.from({ length: N }, (_, i) => env.history(i));
  const withHistory = createVecEnv({ numEnvs: N, observation: { history: true } });
  withHistory.reset({ seed: 300 });
  const rows = withHistory.run('heuristic', { stops: Array(N).fill(5) }).observations.slice();
  const [first, row] = [raw.slice(0, OBSERVATION_SIZE), rows.slice(0, ROW_SIZE)];
  const any = (value: unknown) => value as never;

  it.each([
    ['step', OBSERVATION.step, 29],
    ['step', OBSERVATION.step, 2.5],
    ['day', OBSERVATION.day, -1],
    ['day', OBSERVATION.day, 3],
    ['slot', OBSERVATION.slot, 4],
    ['remaining', OBSERVATION.remaining, Number.NaN],
    ['remaining', OBSERVATION.remaining, 4],
    ['meters', OBSERVATION.meters + 4, 1.5],
    ['event', OBSERVATION.event, 5],
    ['last_action', OBSERVATION.lastAction, 0.5],
    ['reward', OBSERVATION.reward, Number.POSITIVE_INFINITY],
    ['deltas', OBSERVATION.deltas, -1.5],
    ['anomalies', OBSERVATION.anomalies + 4, Number.NaN],
  ])('the invalid number out_of_range, %s[%d] = %d', (field, at, value) => {
    const refuse = (call: () => unknown, place: string) =>
      expectRefusal(call, 'out_of_range', field, place, String(value));
    const inRaw = 2 * OBSERVATION_SIZE + at;
    refuse(() => prompts(put(raw, inRaw, value), histories), `observations[${inRaw}], row 2`);
    const whole = put(rows, 2 * ROW_SIZE + at, value);
    refuse(() => prompts(whole), `observations[${2 * ROW_SIZE + at}], row 2`);
    const one = whole.slice(2 * ROW_SIZE, 3 * ROW_SIZE);
    refuse(() => prompt(one), `observation[${at}]`);
    refuse(() => prompt(one.slice(0, OBSERVATION_SIZE), histories[2]), `observation[${at}]`);
  });

  /** Calls `prompts` with a change of a past step of row 1. */
  const past = (k: number, change: object) => () =>
    prompts(raw, put([...histories], 1, put([...histories[1]], k, { ...histories[1][k], ...change })));
  const nan = Number.NaN;
  const step = histories[0][0];
  const early = put(rows, ROW_SIZE + OBSERVATION.step, 4);
  const starts = raw.map((value, at) => (at % OBSERVATION_SIZE === OBSERVATION.step ? 4 : value));
  const zeros = new Float32Array(OBSERVATION_SIZE);

  it.each<[ErrorCode, mentions: string[], call: () => unknown]>([
    ['out_of_range', ['action', 'histories[1]', 'step 6 of the last 7'], past(3, { action: 10 })],
    ['out_of_range', ['reward', 'step 6 of the last 7'], past(3, { reward: nan })],
    ['out_of_range', ['deltas', 'step 6 of the last 7'], past(3, { deltas: [0, 0, 2, 0, 0] })],
    ['out_of_range', ['anomalies', 'step 3 of the last 7'], past(0, { anomalies: [0, 0, 0, 0, nan] })],
    ['wrong_type', ['histories[1][0].deltas[2]'], past(0, { deltas: [0, 0] })],
    ['out_of_range', ['at most 4 past steps', 'histories[0]'], () => prompts(starts, histories)],
    ['out_of_range', ['at most 4 past steps', 'row 1'], () => prompts(early)],
    // Rollouts have rows of zeros for steps not taken.
    ['out_of_range', ['remaining 28', 'row 0'], () => prompts(zeros, [[]])],
    ['wrong_type', ['observation', 'null'], () => prompt(any(null))],
    ['wrong_type', ['observations', 'an object'], () => prompts(any({ length: 0 }))],
    ['wrong_type', ['observations[7]', '"0.5"'], () => prompts(any(put(Array.from(rows), 7, '0.5')))],
    ['wrong_type', ['observations[0]', '0'], () => prompts(any(new BigInt64Array(ROW_SIZE)))],
    ['wrong_length', ['106', 'history', '22'], () => prompt(first)],
    ['wrong_length', ['22', '106'], () => prompt(row, histories[0])],
    ['wrong_length', ['106', '88'], () => prompts(raw)],
    ['wrong_length', ['3 histories', '88'], () => prompts(raw, histories.slice(1))],
    ['wrong_type', ['histories', '"past"'], () => prompts(raw, any('past'))],
    ['wrong_type', ['histories[3]', 'null'], () => prompts(raw, put([...histories], 3, null))],
    ['wrong_type', ['history[0]', 'null'], () => prompt(first, any([null]))],
    ['wrong_type', ['history[0].action', '1'], () => prompt(first, any([{ ...step, action: 1n }]))],
    ['wrong_type', ['history[0].reward', 'null'], () => prompt(first, any([{ ...step, reward: null }]))],
    ['wrong_type', ['history[0].deltas', 'null'], () => prompt(first, any([{ ...step, deltas: null }]))],
    ['wrong_type', ['history[0].anomalies'], () => prompt(first, any([{ ...step, anomalies: null }]))],
    ['wrong_type', ['anomalies[2]'], () => prompt(first, any([{ ...step, anomalies: [0, 0, '0', 0, 0] }]))],
    ['unknown_name', ['v1, v2, v3', '"v9"'], () => prompts([], [], { grader: 'v9' })],
    ['bad_grader', ['eight weights', '[1, 1]'], () => prompts([], [], { grader: [1, 1] })],
    ['unknown_option', ['grader'], () => prompts([], [], any({ graders: 'v2' }))],
    ['wrong_type', ['prompt', 'null'], () => prompt(row, undefined, any(null))],
    ['out_of_range', ['size', '0'], () => promptBatches(rows, undefined, { size: 0 })],
    ['out_of_range', ['size', '1.5'], () => promptBatches(rows, undefined, { size: 1.5 })],
    ['wrong_type', ['size'], () => promptBatches(rows, undefined, any({ size: '2' }))],
    ['unknown_option', ['size'], () => promptBatches(rows, undefined, any({ sizes: 2 }))],
    ['wrong_length', ['observations'], () => promptBatches(rows.subarray(1))],
    ['wrong_type', ['histories'], () => promptBatches(raw, any(3))],
    ['unknown_name', ['v9'], () => promptBatches(rows, undefined, { grader: 'v9' })],
  ])('%s, %s', (code, mentions, call) => {
    expectRefusal(call, code, ...mentions);
  });

  it.each([{ oneHot: true }, { scale: true }, { scale: true, history: true }])(
    'encoded rows, %j',
    (observation) => {
      using other = createVecEnv({ numEnvs: N, observation });
      const { observations } = other.reset({ seed: 1 });
      expect(() => prompts(observations, histories)).toThrow(/^Expected/);
      expect(() => prompts(observations)).toThrow(/^Expected/);
    },
  );
});
