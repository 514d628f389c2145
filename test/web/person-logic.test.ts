/** Tests the logic of the one-person view: it equals the reference, and hides the profile before the end. */

import { describe, expect, it } from 'vitest';
import { BUILTIN_POLICIES } from '../../src/agents/policies/stepped-policies.js';
import { yieldTurn } from '../../src/engine/engine-calls.js';
import { heuristicAction } from '../../src/engine/reference/baselines.js';
import { Episode } from '../../src/engine/reference/episode.js';
import { evaluate } from '../../src/evaluation/on-first-use.js';
import {
  BELIEF_NAMES,
  NUM_SLOTS,
  NUM_STEPS,
  OBSERVATION,
  OBSERVATION_SIZE,
  PROFILE_NAMES,
  TRAIT_NAMES,
} from '../../src/world/fields.js';
import { RHYTHM } from '../../src/world/numbers.js';
import {
  announce,
  comparison,
  isPersonal,
  lastTransitionOf,
  mostUnusual,
  profileInWords,
  profileNameOf,
  timeOf,
  transitionsOf,
} from '../../web/src/person/descriptions.js';
import type { EpisodeSetting, Move } from '../../web/src/person/episode.js';
import {
  FIRST_SEED,
  HINTS,
  movesFrom,
  movesText,
  PLAYER_NAMES,
  sliderBeliefAfter,
  statedBelief,
} from '../../web/src/person/episode.js';
import { Adviser, playRival } from '../../web/src/person/players.js';
import { Observer, replayEpisode } from '../../web/src/person/replay.js';
import {
  daysOf,
  errorOf,
  headline,
  livedScore,
  readScore,
  resultText,
} from '../../web/src/person/result-text.js';

const SETTING: EpisodeSetting = { seed: 4242, profile: 'sampled', grader: 'v2' };
/** All ten actions; a belief that is stated, changed and withdrawn. */
const MOVES: readonly Move[] = Array.from({ length: NUM_STEPS }, (_, step) => ({
  action: (step * 7) % 10,
  belief: step < 3 || step > 20 ? null : step < 9 ? [0.5, 0.25, 1] : [0.61, Math.fround(1 / 3), 0],
}));

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

function playedEpisode({ seed, profile, grader }: EpisodeSetting, moves: readonly Move[]): Episode {
  const episode = new Episode().reset(seed, { profile, grader });
  for (const { action, belief } of moves) episode.step(action, belief);
  return episode;
}

/** Returns the first observation and that after each move. */
function observationsOf(moves: readonly Move[]): Float32Array {
  const observations = new Float32Array((moves.length + 1) * OBSERVATION_SIZE);
  for (let step = 0; step <= moves.length; step++)
    playedEpisode(SETTING, moves.slice(0, step)).observe(observations, step * OBSERVATION_SIZE);
  return observations;
}

const whole = replayEpisode(SETTING, MOVES);

describe('a replayed episode', () => {
  it.each(['sampled', 'discrete', 'workaholic_stoic'])(
    'equals the reference, bit for bit (%s)',
    async (profile) => {
      const setting = { ...SETTING, profile, grader: 'v1' };
      const { observations } = replayEpisode(setting, MOVES);
      const expected = new Float32Array(OBSERVATION_SIZE);
      for (let step = 0; step <= NUM_STEPS; step++) {
        playedEpisode(setting, MOVES.slice(0, step)).observe(expected);
        expect(observations.slice(step * OBSERVATION_SIZE, (step + 1) * OBSERVATION_SIZE)).toEqual(expected);
      }
    },
  );

  it('has only observations before its end, and the profile and the grade after it', async () => {
    for (const steps of [0, 1, NUM_STEPS - 1]) {
      const replay = replayEpisode(SETTING, MOVES.slice(0, steps));
      expect(Object.keys(replay)).toEqual(['observations', 'typical', 'result']);
      expect(replay.result).toBeNull();
      expect(replay.observations).toHaveLength((steps + 1) * OBSERVATION_SIZE);
    }
    const episode = playedEpisode(SETTING, MOVES);
    const { rewards, lived, weights, ...result } = whole.result!;
    for (const [name, value] of Object.entries(result)) expect(value).toEqual(episode[name as keyof Episode]);
    expect(weights).toEqual(episode.grader);
    expect(lived).toBe(episode.well / NUM_STEPS);
    const sumOf = (steps: Float32Array) => steps.reduce((sum, reward) => Math.fround(sum + reward), 0);
    const half = NUM_STEPS / 2;
    expect([sumOf(rewards.slice(0, half)), sumOf(rewards.slice(half))]).toEqual([
      episode.early,
      episode.late,
    ]);
  });

  it('refuses a 29th step', async () => {
    expect(() => replayEpisode(SETTING, [...MOVES, MOVES[0]])).toThrow('taken all 28');
  });
});

it('the effect of an action, the decay and the event are the whole change of the meters', () => {
  const { decay, events } = RHYTHM;
  let [numEvents, numClamped] = [0, 0];
  for (let seed = 0; seed < 40; seed++) {
    // A seed's episode has the actions of MOVES or, to reach the bounds of the meters, one action all week.
    const moves = seed % 4 === 0 ? MOVES.map((move) => ({ ...move, action: seed / 4 })) : MOVES;
    const replay = replayEpisode({ ...SETTING, seed }, moves);
    const trait = (name: string): number => replay.result!.profile[TRAIT_NAMES.indexOf(name)];
    const transitions = transitionsOf(replay);
    for (const [i, { effect, event, meters }] of transitions.slice(1).entries())
      for (const [k, meter] of meters.entries()) {
        const lost = k === 0 ? decay[k] * trait('metabolic_rate') : decay[k];
        const hit = event < 0 ? 0 : events[event].effect[k] * trait('event_impact');
        const moved = transitions[i].meters[k] + effect[k] - lost + hit;
        expect(meter).toBeCloseTo(Math.min(1, Math.max(0, moved)), 6);
        numEvents += hit === 0 ? 0 : 1;
        numClamped += moved < 0 || moved > 1 ? 1 : 0;
      }
  }
  expect(Math.min(numEvents, numClamped)).toBeGreaterThan(100);
});

describe('rivals in the same episode', () => {
  const NAMES = ['heuristic', 'open-loop', 'heuristic+inference'];

  it.each(['v1', 'v2', 'v3'])('score the same as in an evaluation (%s)', async (grader) => {
    const seeds = { first: SETTING.seed, last: SETTING.seed };
    const { rows } = await evaluate({ policies: NAMES, seeds, grader, backend: 'reference' });
    const reports: number[] = [];
    const play = (name: string) =>
      playRival(name, { ...SETTING, grader }, [], (steps) => reports.push(steps));
    const rivals = await Promise.all(NAMES.map(play));
    expect(rivals.map(({ finalScore }) => finalScore)).toEqual(rows.map((row) => row.finalScore.mean));
    expect(rivals.map(({ beliefMae }) => beliefMae)).toEqual(rows.map((row) => row.beliefMae));
    expect(rivals.map(({ given }) => given)).toEqual([false, false, true]);
    expect(reports.filter((steps) => steps === NUM_STEPS)).toHaveLength(NAMES.length);
  });
});

describe('an observer', () => {
  it.each(['v2', 'v3'])('has the beliefs of a policy that infers (%s)', async (grader) => {
    const setting = { ...SETTING, grader };
    const { beliefs } = await playRival('heuristic+inference', setting, [], () => {});
    const episode = new Episode().reset(setting.seed, { grader });
    const observations = new Float32Array(NUM_STEPS * OBSERVATION_SIZE);
    for (let step = 0; step < NUM_STEPS; step++) {
      const row = observations.subarray(step * OBSERVATION_SIZE, (step + 1) * OBSERVATION_SIZE);
      episode.observe(row);
      episode.step(heuristicAction(episode.world.params, step % NUM_SLOTS, episode.meters));
    }
    expect(new Observer().beliefs(observations, grader)).toEqual(beliefs);
  });

  it('has the same beliefs whatever it observed before', () => {
    const observer = new Observer();
    const other = replayEpisode(SETTING, [...MOVES.slice(0, 4), ...MOVES.slice(0, 3)]).observations;
    const part = (steps: number) => whole.observations.slice(0, steps * OBSERVATION_SIZE);
    for (const observations of [part(5), part(9), part(3), part(9), other, part(6)])
      for (const grader of ['v3', 'v2'])
        expect(observer.beliefs(observations, grader)).toEqual(new Observer().beliefs(observations, grader));
  });
});

/** Returns the transitions of the hinted actions, and the belief that is inferred after them. */
function afterHints(seed: number) {
  const moves = HINTS.map(({ action }) => ({ action, belief: null }));
  const replay = replayEpisode({ ...SETTING, seed, grader: 'v3' }, moves);
  const [prior, ...beliefs] = new Observer().beliefs(replay.observations, 'v3');
  return { transitions: transitionsOf(replay), prior, belief: beliefs.at(-1)! };
}

const targetOf = (seed: number) => new Episode().reset(seed).target;

it('the hinted actions nearly halve the error of each number of the belief', () => {
  const seeds = Array.from({ length: 60 }, (_, seed) => seed);
  const weeks = seeds.map(afterHints);
  for (const k of BELIEF_NAMES.keys()) {
    const error = (beliefs: readonly (readonly number[])[]) =>
      mean(beliefs.map((belief, i) => Math.abs(belief[k] - targetOf(seeds[i])[k])));
    expect(error(weeks.map(({ belief }) => belief))).toBeLessThan(
      0.6 * error(weeks.map(({ prior }) => prior)),
    );
  }
});

it('the first person is far from the middle and has two quiet days, and the hints show it', () => {
  for (const number of targetOf(FIRST_SEED)) expect(Math.abs(number - 0.5)).toBeGreaterThan(0.35);
  const twoDays = Array.from({ length: 2 * NUM_SLOTS }, () => MOVES[0]);
  const transitions = transitionsOf(replayEpisode({ ...SETTING, seed: FIRST_SEED }, twoDays));
  expect(transitions.map(({ event }) => event)).toEqual(transitions.map(() => -1));
  const { transitions: hinted, belief } = afterHints(FIRST_SEED);
  const personal = hinted.flatMap(({ anomalies }) =>
    anomalies.filter((anomaly, k) => isPersonal(anomaly, k)),
  );
  expect(personal).toHaveLength(10);
  expect(errorOf(belief, targetOf(FIRST_SEED))).toBeLessThan(0.1);
});

describe('a result', () => {
  const result = whole.result!;

  it('has a square for the belief of each day, and one for each slot', () => {
    const days = daysOf(MOVES, result);
    expect(days.map(({ belief }) => belief)).toEqual(
      [3, 7, 11, 15, 19, 23, 27].map((step) => {
        const belief = MOVES.slice(0, step + 1).reduce<Move['belief']>(
          (last, { belief }) => belief ?? last,
          null,
        );
        if (belief === null) return 'none';
        const error = errorOf(belief, result.target);
        return error <= 0.1 ? 'good' : error <= 0.2 ? 'fair' : 'poor';
      }),
    );
    expect(days.flatMap(({ slots }) => slots)).toEqual(
      Array.from(result.rewards, (reward) => (reward >= 0.25 ? 'good' : reward >= -0.25 ? 'fair' : 'poor')),
    );
    // No belief is stated on the first day.
    expect(daysOf(MOVES.slice(0, 3).concat(MOVES.slice(0, 1), MOVES.slice(4)), result)[0].belief).toBe(
      'none',
    );
  });

  it('is a text to share', () => {
    const text = resultText({
      ...{ title: 'Can you read a stranger?', result, guess: [0.5, 0.5, 0.5] },
      ...{ days: daysOf(MOVES, result), link: 'https://example.org/#person' },
    });
    expect(text).toMatch(
      new RegExp(
        `^Can you read a stranger\\?\nI read this stranger to within ${result.beliefMae.toFixed(2)}; the planner, from the ` +
          `same week, to within 0\\.\\d\\d\\.\nLived: \\d+ of 100\\. Read: .+\\. Score ${result.finalScore.toFixed(3)}\\.\n` +
          '([🟦🟨🟧⬜] [🟦🟨🟧]{4}\n){7}https://example.org/#person$',
        'u',
      ),
    );
  });

  it('has words in place of a zero', () => {
    const components = Float32Array.of(0, 0, 0, 0, 0, 0, 0, -0.4);
    const nothing = { ...result, components, lived: 0, finalScore: 0 };
    expect(readScore(nothing)).toEqual({ share: 0, words: 'no better than the middle guess' });
    expect(readScore({ ...nothing, given: false }).words).toBe('nothing said');
    expect(livedScore(nothing).words).toBe('almost nothing');
    expect(headline({ ...nothing, beliefMae: 0.001 }, null)).toBe('I read this stranger to within 0.01.');
    expect(headline({ ...nothing, given: false }, null)).toMatch(/made no guess\.$/);
  });
});

describe('an adviser', () => {
  const NAME = 'open-loop+inference';

  const adviceOf = (adviser: Adviser, moves: readonly Move[]) =>
    adviser.advise(NAME, SETTING, moves, observationsOf(moves));
  const newAdvice = (moves: readonly Move[]) => adviceOf(new Adviser(), moves);

  it('gives the same advice whatever calls came before', async () => {
    const adviser = new Adviser();
    const others = MOVES.map(({ action, belief }) => ({ action: (action + 1) % 10, belief }));
    for (const moves of [MOVES.slice(0, 2), MOVES.slice(0, 5), MOVES.slice(0, 4), others.slice(0, 6)])
      expect(await adviceOf(adviser, moves)).toEqual(await newAdvice(moves));
  });

  it('rejects an unfinished call when a new call comes, and gives the new call the advice of a new adviser', async () => {
    const adviser = new Adviser();
    const advise = (moves: readonly Move[]) => adviceOf(adviser, moves);
    const ended = expect(advise(MOVES.slice(0, 9))).rejects.toThrow('Replaced by a new call.');
    expect(await advise(MOVES.slice(0, 6))).toEqual(await newAdvice(MOVES.slice(0, 6)));
    await ended;
    const others = MOVES.map(({ action, belief }) => ({ action: (action + 1) % 10, belief }));
    void advise(MOVES).catch(() => {});
    await yieldTurn();
    expect(await advise(others.slice(0, 3))).toEqual(await newAdvice(others.slice(0, 3)));
  });

  it('works after a call with an unknown policy, and has the reasons of a policy that gives reasons', async () => {
    const adviser = new Adviser();
    const observations = observationsOf([]);
    await expect(adviser.advise('unknown', SETTING, [], observations)).rejects.toThrow(
      'Expected one of the policies',
    );
    const { reasons } = await adviser.advise(NAME, SETTING, [], observations);
    expect(reasons).toMatch(/^Nothing was seen of this person yet/);
    expect((await adviser.advise('random', SETTING, [], observations)).reasons).toBeNull();
  });

  it('keeps the advice of a week, and forgets that of earlier weeks', async () => {
    const adviser = new Adviser();
    const { observations } = whole;
    const advise = (steps: number) =>
      adviser.advise('heuristic', SETTING, MOVES.slice(0, steps), observations);
    const week = [];
    for (let steps = 0; steps < NUM_STEPS; steps++) week.push(await advise(steps));
    for (let steps = 0; steps < NUM_STEPS; steps++) expect(await advise(steps)).toBe(week[steps]);
    // The advice of further weeks, more of it than the adviser keeps.
    for (let seed = 0; seed < 200; seed++)
      await adviser.advise('heuristic', { ...SETTING, seed }, [], observations);
    const again = await advise(0);
    expect(again).not.toBe(week[0]);
    expect(again).toEqual(week[0]);
  });

  it('offers no oracle', () => {
    const players = BUILTIN_POLICIES.filter(({ usesHiddenState }) => !usesHiddenState);
    expect(PLAYER_NAMES).toEqual(players.map(({ name }) => name));
    expect(PLAYER_NAMES).toContain('planner');
    expect(PLAYER_NAMES.join()).not.toContain('oracle');
  });
});

it('the belief sliders state no belief before one is moved, and continue with the last stated belief', () => {
  expect(sliderBeliefAfter([])).toEqual({ values: [0.5, 0.5, 0.5], stated: false });
  expect(sliderBeliefAfter(MOVES.slice(0, 3))).toEqual({ values: [0.5, 0.5, 0.5], stated: false });
  expect(sliderBeliefAfter(MOVES.slice(0, 4))).toEqual({ values: [0.5, 0.25, 1], stated: true });
  expect(sliderBeliefAfter(MOVES)).toEqual({ values: MOVES[20].belief, stated: false });
  expect(statedBelief({ values: [0, 1, 0], stated: false })).toBeNull();
  expect(statedBelief({ values: [0, 1, 0], stated: true })).toEqual([0, 1, 0]);
});

it('moves as text are short, and are parsed back into the same moves; an invalid text gives null', async () => {
  const text = movesText(MOVES);
  expect(text).toBe('0741852963074185296307418529-3_.5_.25_1~9_.61_.33333334_0~21');
  const moves = movesFrom(text)!;
  expect(moves.map(({ action }) => action)).toEqual(MOVES.map(({ action }) => action));
  expect(replayEpisode(SETTING, moves)).toEqual(whole);
  expect(movesFrom(movesText([]))).toEqual([]);
  const invalid = ['12x4', '1'.repeat(29), '11-0_.5_2_.5', '11-1_.5_.5', '11-a_.5_.5_.5', '11-0_.5__.5'];
  for (const wrong of invalid) expect(movesFrom(wrong)).toBeNull();
});

describe('words', () => {
  const { observations, result } = whole;
  const transitions = transitionsOf(whole);

  it('describe a step by the numbers of its observation', () => {
    const step = 5;
    const at = step * OBSERVATION_SIZE;
    expect(transitions[step].action).toBe(MOVES[step - 1].action);
    expect(transitions[step].reward).toBe(observations[at + OBSERVATION.reward]);
    expect(transitions[step].anomalies[4]).toBe(observations[at + OBSERVATION.anomalies + 4]);
    expect(timeOf(step)).toBe('day 2 afternoon');
    expect(lastTransitionOf(transitions, MOVES[0].action)!.step).toBe(21);
    expect(lastTransitionOf(transitions.slice(0, 2), MOVES[1].action)).toBeNull();
    expect(announce(transitions[1])).toMatch(
      /^Day 1 morning: deep work, reward [+−]\d\.\d\d\. Deep work .*vitality 0\.\d\d, cognition 0/,
    );
    expect(announce(transitions[NUM_STEPS])).toMatch(/The week is over\.$/);
  });

  it('compare an action with what it does to most people', () => {
    const step = { ...transitions[1], action: 3, typical: [0.1, -0.02, 0, 0, 0] };
    const say = (effect: number, k: number) => {
      const anomalies = step.typical.map((typical, meter) => (meter === k ? effect - typical : 0));
      return comparison({ ...step, anomalies, effect: step.typical.map((each, m) => each + anomalies[m]) });
    };
    expect(say(0.15, 0)).toBe('Sleep gave them 0.15 vitality. Most people gain 0.10.');
    expect(say(-0.15, 1)).toBe('Sleep cost them 0.15 cognition. Most people lose 0.02.');
    expect(say(0.1, 3)).toBe('Sleep gave them 0.10 serenity. It changes nothing for most people.');
    expect(say(0, 0)).toBe('Sleep left their vitality as it was. Most people gain 0.10.');
    expect(say(0.105, 0)).toBe('Sleep did to them what it does to most people, give or take luck.');
  });

  it('describe a profile', () => {
    const traits = profileInWords(result!.profile);
    expect(traits.map(({ name }) => name).slice(0, 11)).toEqual(TRAIT_NAMES);
    expect(traits.map(({ value }) => value)).toEqual(Array.from(result!.profile));
    for (const { rank } of traits) expect(rank >= 0 && rank <= 1).toBe(true);
    const named = profileInWords(new Episode().reset(0, { profile: 'introvert_morning' }).profile);
    expect(mostUnusual(named, 3).map(({ words }) => words)).toContain('company drains them');
  });

  it('name the named profiles', () => {
    const nameOf = (seed: number, profile: string) =>
      profileNameOf(new Episode().reset(seed, { profile }).profile);
    expect(PROFILE_NAMES.map((name) => nameOf(0, name))).toEqual(PROFILE_NAMES);
    expect(PROFILE_NAMES).toContain(nameOf(3, 'discrete'));
    expect(nameOf(3, 'sampled')).toBeNull();
  });

  it('compute the percentile rank of a weight', () => {
    const weights = Array.from({ length: 2000 }, (_, seed) => new Episode().reset(seed).weights[2]);
    // Entry 13 of a profile is weight 2: the 11 traits come first.
    const { rank } = profileInWords([...Array(13).fill(0), 0.2, 0, 0])[13];
    expect(rank).toBeCloseTo(weights.filter((weight) => weight < 0.2).length / 2000, 1);
  });
});
