/** What the one-person view computes: the reference's numbers, and nothing of the person before the end. */
import { describe, expect, it } from 'vitest';
import { evaluate } from '../src/evaluate/evaluate.js';
import { Episode } from '../src/reference/episode.js';
import { othersTurn } from '../src/vec-env/turns.js';
import { NUM_STEPS, OBSERVATION, OBSERVATION_SIZE, PROFILE_NAMES, TRAIT_NAMES } from '../src/world/fields.js';
import { COMPARED, liveWeek } from '../web/src/person/live.js';
import { movesFrom, movesText } from '../web/src/person/moves-text.js';
import { PLAYER_NAMES } from '../web/src/person/names.js';
import { Adviser, PLAYERS } from '../web/src/person/players.js';
import { lastTimeOf, momentsOf, timeOf } from '../web/src/person/reading.js';
import type { Move, WeekSetting } from '../web/src/person/week.js';
import { announce, mostParticular, namedPerson, personInWords, signed } from '../web/src/person/words.js';

const SETTING: WeekSetting = { seed: 4242, profile: 'sampled', grader: 'v2' };
/** All ten actions, a belief that is found, changed and withdrawn. */
const MOVES: readonly Move[] = Array.from({ length: NUM_STEPS }, (_, step) => ({
  action: (step * 7) % 10,
  belief: step < 3 || step > 20 ? null : step < 9 ? [0.5, 0.25, 1] : [0.61, Math.fround(1 / 3), 0],
}));

function livedBy({ seed, profile, grader }: WeekSetting, moves: readonly Move[]): Episode {
  const episode = new Episode().reset(seed, { profile, grader });
  for (const { action, belief } of moves) episode.step(action, belief);
  return episode;
}

describe('a week that is lived again', () => {
  it.each(['sampled', 'discrete', 'workaholic_stoic'])('is the reference’s, bit for bit (%s)', (profile) => {
    const setting = { ...SETTING, profile, grader: 'v1' };
    const { observations } = liveWeek(setting, MOVES);
    const seen = new Float32Array(OBSERVATION_SIZE);
    for (let step = 0; step <= NUM_STEPS; step++) {
      livedBy(setting, MOVES.slice(0, step)).observe(seen);
      expect(observations.slice(step * OBSERVATION_SIZE, (step + 1) * OBSERVATION_SIZE)).toEqual(seen);
    }
  });

  it('says nothing but observations before its end', () => {
    for (const steps of [0, 1, NUM_STEPS - 1]) {
      const lived = liveWeek(SETTING, MOVES.slice(0, steps));
      expect(Object.keys(lived)).toEqual(['observations', 'ending']);
      expect(lived.ending).toBeNull();
      expect(lived.observations).toHaveLength((steps + 1) * OBSERVATION_SIZE);
    }
  });

  it('says at its end who it was and what it was worth', () => {
    const episode = livedBy(SETTING, MOVES);
    const { others, weights, ...ending } = liveWeek(SETTING, MOVES).ending!;
    for (const [name, value] of Object.entries(ending)) expect(value).toEqual(episode[name as keyof Episode]);
    expect(weights).toEqual(episode.grader);
    expect(others.map(({ name }) => name)).toEqual(COMPARED);
  });

  it('refuses a 29th step', () => {
    expect(() => liveWeek(SETTING, [...MOVES, MOVES[0]])).toThrow('taken all 28');
  });
});

describe('others in the same week', () => {
  it.each(['v1', 'v2'])('score what an evaluation says they score (%s)', async (grader) => {
    const seeds = { first: SETTING.seed, last: SETTING.seed };
    const { rows } = await evaluate({ policies: COMPARED, seeds, grader, backend: 'reference' });
    const { others } = liveWeek({ ...SETTING, grader }, MOVES).ending!;
    expect(others.map(({ finalScore }) => finalScore)).toEqual(rows.map((row) => row.finalScore.mean));
    expect(others.map(({ beliefMae }) => beliefMae)).toEqual(rows.map((row) => row.beliefMae));
  });
});

describe('an adviser', () => {
  const NAME = 'blind-tape+inference';

  /** What a policy of its own would say after these moves. */
  const fresh = (moves: readonly Move[]) =>
    new Adviser().ask(NAME, SETTING, moves, liveWeek(SETTING, moves).observations);

  it('says the same whatever it was asked before', async () => {
    const adviser = new Adviser();
    const ask = (moves: readonly Move[]) =>
      adviser.ask(NAME, SETTING, moves, liveWeek(SETTING, moves).observations);
    const others = MOVES.map(({ action, belief }) => ({ action: (action + 1) % 10, belief }));
    for (const moves of [MOVES.slice(0, 2), MOVES.slice(0, 5), MOVES.slice(0, 4), others.slice(0, 6)])
      expect(await ask(moves)).toEqual(await fresh(moves));
  });

  it('gives way between the steps that it watches, and goes on from there', async () => {
    const adviser = new Adviser();
    const ask = (moves: readonly Move[]) =>
      adviser.ask(NAME, SETTING, moves, liveWeek(SETTING, moves).observations);
    const ended = expect(ask(MOVES.slice(0, 9))).rejects.toThrow('Something else was asked.');
    expect(await ask(MOVES.slice(0, 6))).toEqual(await fresh(MOVES.slice(0, 6)));
    await ended;
    const others = MOVES.map(({ action, belief }) => ({ action: (action + 1) % 10, belief }));
    void ask(MOVES).catch(() => {});
    await othersTurn();
    expect(await ask(others.slice(0, 3))).toEqual(await fresh(others.slice(0, 3)));
  });

  it('goes on after it was asked for what there is not', async () => {
    const adviser = new Adviser();
    const { observations } = liveWeek(SETTING, []);
    await expect(adviser.ask('nobody', SETTING, [], observations)).rejects.toThrow('Expected a policy of');
    expect(await adviser.ask(NAME, SETTING, [], observations)).toEqual(await fresh([]));
  });

  it('has reasons where a policy thinks, and none where it does not', async () => {
    const { observations } = liveWeek(SETTING, []);
    expect((await fresh([])).reasons).toMatch(/^Nothing was seen of this person yet/);
    expect((await new Adviser().ask('random', SETTING, [], observations)).reasons).toBeNull();
  });

  it('never asks an oracle', () => {
    expect(PLAYERS).toEqual(PLAYER_NAMES);
    expect(PLAYERS).toContain('planner');
    expect(PLAYERS).not.toContain('planner-oracle');
  });
});

describe('moves as text', () => {
  it('come back as they were, in few characters', () => {
    const text = movesText(MOVES);
    expect(text).toBe('0741852963074185296307418529-3_.5_.25_1~9_.61_.33333334_0~21');
    const moves = movesFrom(text)!;
    expect(moves.map(({ action }) => action)).toEqual(MOVES.map(({ action }) => action));
    expect(liveWeek(SETTING, moves)).toEqual(liveWeek(SETTING, MOVES));
    expect(movesFrom(movesText([]))).toEqual([]);
  });

  it('are refused where they cannot be read', () => {
    const bad = ['12x4', '1'.repeat(29), '11-0_.5_2_.5', '11-1_.5_.5', '11-a_.5_.5_.5', '11-0_.5__.5'];
    for (const text of bad) expect(movesFrom(text)).toBeNull();
  });
});

describe('words', () => {
  const { observations, ending } = liveWeek(SETTING, MOVES);
  const moments = momentsOf(observations);

  it('read observations by their names', () => {
    const step = 5;
    const at = step * OBSERVATION_SIZE;
    expect(moments[step].action).toBe(MOVES[step - 1].action);
    expect(moments[step].reward).toBe(observations[at + OBSERVATION.reward]);
    expect(moments[step].anomalies[4]).toBe(observations[at + OBSERVATION.anomalies + 4]);
    expect(timeOf(step)).toBe('day 2 afternoon');
    expect(lastTimeOf(moments, MOVES[0].action)!.step).toBe(21);
    expect(lastTimeOf(moments.slice(0, 2), MOVES[1].action)).toBeNull();
  });

  it('say what a step brought', () => {
    expect(announce(moments[0])).toMatch(/^The week begins/);
    expect(announce(moments[1])).toMatch(
      /^Day 1 morning: deep work, reward [+−]\d\.\d\d\. .*vitality 0\.\d\d, −0/,
    );
    expect(announce(moments[NUM_STEPS])).toMatch(/The week is over\.$/);
    const struck = moments.find(({ event }) => event >= 0)!;
    expect(announce(struck)).toContain('Event: ');
    expect([signed(-0.001), signed(-0.5), signed(0.25, 1)]).toEqual(['0.00', '−0.50', '+0.3']);
  });

  it('say who it was', () => {
    const traits = personInWords(ending!.profile);
    expect(traits.map(({ name }) => name).slice(0, 11)).toEqual(TRAIT_NAMES);
    expect(traits.map(({ value }) => value)).toEqual(Array.from(ending!.profile));
    for (const { share } of traits) expect(share >= 0 && share <= 1).toBe(true);
    const named = personInWords(new Episode().reset(0, { profile: 'introvert_morning' }).profile);
    expect(mostParticular(named, 3).map(({ words }) => words)).toContain('company drains them');
  });

  it('know who has a name', () => {
    const nameOf = (seed: number, profile: string) =>
      namedPerson(new Episode().reset(seed, { profile }).profile);
    expect(PROFILE_NAMES.map((name) => nameOf(0, name))).toEqual(PROFILE_NAMES);
    expect(PROFILE_NAMES).toContain(nameOf(3, 'discrete'));
    expect(nameOf(3, 'sampled')).toBeNull();
  });

  it('know how common a weight is', () => {
    const weights = Array.from({ length: 2000 }, (_, seed) => new Episode().reset(seed).weights[2]);
    const { share } = personInWords([...Array(13).fill(0), 0.2, 0, 0])[13];
    expect(share).toBeCloseTo(weights.filter((weight) => weight < 0.2).length / 2000, 1);
  });
});
