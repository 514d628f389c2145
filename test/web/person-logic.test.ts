/** Tests the logic of the one-person view: it equals the reference, and hides the profile before the end. */
import { describe, expect, it } from 'vitest';
import { yieldTurn } from '../../src/engine/engine-calls.js';
import { Episode } from '../../src/engine/reference/episode.js';
import { evaluate } from '../../src/evaluation/on-first-use.js';
import {
  NUM_STEPS,
  OBSERVATION,
  OBSERVATION_SIZE,
  PROFILE_NAMES,
  TRAIT_NAMES,
} from '../../src/world/fields.js';
import { announce, mostUnusual, profileInWords, profileNameOf } from '../../web/src/person/descriptions.js';
import type { EpisodeSetting, Move } from '../../web/src/person/episode-types.js';
import { movesFrom, movesText } from '../../web/src/person/moves-text.js';
import { PLAYER_NAMES } from '../../web/src/person/player-names.js';
import { Adviser, PLAYERS } from '../../web/src/person/players.js';
import { COMPARED, replayEpisode } from '../../web/src/person/replay.js';
import { lastTransitionOf, timeOf, transitionsOf } from '../../web/src/person/transitions.js';
import { sliderBeliefAfter, statedBelief } from '../../web/src/views/person/slider-belief.js';

const SETTING: EpisodeSetting = { seed: 4242, profile: 'sampled', grader: 'v2' };
/** All ten actions; a belief that is stated, changed and withdrawn. */
const MOVES: readonly Move[] = Array.from({ length: NUM_STEPS }, (_, step) => ({
  action: (step * 7) % 10,
  belief: step < 3 || step > 20 ? null : step < 9 ? [0.5, 0.25, 1] : [0.61, Math.fround(1 / 3), 0],
}));

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

const whole = await replayEpisode(SETTING, MOVES);

describe('a replayed episode', () => {
  it.each(['sampled', 'discrete', 'workaholic_stoic'])(
    'equals the reference, bit for bit (%s)',
    async (profile) => {
      const setting = { ...SETTING, profile, grader: 'v1' };
      const { observations } = await replayEpisode(setting, MOVES);
      const expected = new Float32Array(OBSERVATION_SIZE);
      for (let step = 0; step <= NUM_STEPS; step++) {
        playedEpisode(setting, MOVES.slice(0, step)).observe(expected);
        expect(observations.slice(step * OBSERVATION_SIZE, (step + 1) * OBSERVATION_SIZE)).toEqual(expected);
      }
    },
  );

  it('has only observations before its end, and the profile and the grade after it', async () => {
    for (const steps of [0, 1, NUM_STEPS - 1]) {
      const replay = await replayEpisode(SETTING, MOVES.slice(0, steps));
      expect(Object.keys(replay)).toEqual(['observations', 'result']);
      expect(replay.result).toBeNull();
      expect(replay.observations).toHaveLength((steps + 1) * OBSERVATION_SIZE);
    }
    const episode = playedEpisode(SETTING, MOVES);
    const { others, weights, ...result } = whole.result!;
    for (const [name, value] of Object.entries(result)) expect(value).toEqual(episode[name as keyof Episode]);
    expect(weights).toEqual(episode.grader);
    expect(others.map(({ name }) => name)).toEqual(COMPARED);
  });

  it('refuses a 29th step', async () => {
    await expect(replayEpisode(SETTING, [...MOVES, MOVES[0]])).rejects.toThrow('taken all 28');
  });
});

describe('policies in the same episode', () => {
  it.each(['v1', 'v2', 'v3'])('score the same as in an evaluation (%s)', async (grader) => {
    const seeds = { first: SETTING.seed, last: SETTING.seed };
    const { rows } = await evaluate({ policies: COMPARED, seeds, grader, backend: 'reference' });
    const { others } = (await replayEpisode({ ...SETTING, grader }, MOVES)).result!;
    expect(others.map(({ finalScore }) => finalScore)).toEqual(rows.map((row) => row.finalScore.mean));
    expect(others.map(({ beliefMae }) => beliefMae)).toEqual(rows.map((row) => row.beliefMae));
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
    expect(PLAYERS).toEqual(PLAYER_NAMES);
    expect(PLAYERS).toContain('planner');
    expect(PLAYERS.join()).not.toContain('oracle');
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
  expect(await replayEpisode(SETTING, moves)).toEqual(whole);
  expect(movesFrom(movesText([]))).toEqual([]);
  const invalid = ['12x4', '1'.repeat(29), '11-0_.5_2_.5', '11-1_.5_.5', '11-a_.5_.5_.5', '11-0_.5__.5'];
  for (const wrong of invalid) expect(movesFrom(wrong)).toBeNull();
});

describe('words', () => {
  const { observations, result } = whole;
  const transitions = transitionsOf(observations);

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
      /^Day 1 morning: deep work, reward [+−]\d\.\d\d\. .*vitality 0\.\d\d, −0/,
    );
    expect(announce(transitions[NUM_STEPS])).toMatch(/The week is over\.$/);
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
